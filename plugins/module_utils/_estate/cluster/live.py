"""Reads machines from a vCenter, an OpenStack cloud, a Proxmox cluster and a cluster with KubeVirt."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit

from ..._cluster.client.errors import ApiError, TaskFailed
from ..._cluster.client.session import Session
from ..._cluster.reads.kubevirt import kubevirt as kubevirt_of
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.task import Task
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import name_of
from ..._resolver.api.name_rules import one_line, quoted
from ..._resolver.kubevirt.cluster import Cluster
from ..._resolver.preflight.object_keys import keys_for_expansion
from ..memory import existing_of
from ..readers import kubevirt, openstack, proxmox, vsphere
from ..readers.reading import Reading

Params = Mapping[str, Any]

_CLOUD: Final = "cloud:"
_CLUSTER: Final = "cluster"
_PORTS: Final = {8006: "proxmox"}


def kind_of(source: str) -> str:
    """The platform behind an address; "" for what is none."""
    if source == _CLUSTER:
        return "kubevirt"
    if source.startswith(_CLOUD):
        return "openstack"
    if source.startswith(("https://", "http://")):
        return _PORTS.get(urlsplit(source).port or 0, "vsphere")
    return ""


def read(kind: str, params: Params) -> Reading:
    """The machines behind an address. Raises TaskFailed and RequestFailed."""
    readers = {"kubevirt": _cluster, "openstack": _openstack, "proxmox": _proxmox, "vsphere": _vsphere}
    if kind not in readers:
        raise TaskFailed(f"kind: {kind} is read from files, and source is an address")
    return readers[kind](params)


def existing(session: Session, task: Task) -> list[dict[str, Any]] | None:
    """The VMs of the cluster, see `existing_of`; None with a warning if the user may not list them."""
    try:
        return [existing_of(vm) for vm in session.list(KINDS["VirtualMachine"])]
    except ApiError as error:
        if error.code != 403:
            raise
        task.warnings.append(f"the VMs of the cluster do not count, so that their names may be given again: {error}")
        return None


def names_on_cluster(session: Session, task: Task) -> dict[str, list[str] | None]:
    """The names of namespaces and storage classes; None and a warning for a kind that the user may not list."""
    found: dict[str, list[str] | None] = {}
    for option, kind in (("namespaces", "Namespace"), ("storage_classes", "StorageClass")):
        try:
            found[option] = [name_of(item) for item in session.list(KINDS[kind])]
        except ApiError as error:
            if error.code != 403:
                raise
            found[option] = None
            task.warnings.append(f"rules that name {option.replace('_', ' ')} are unchecked: {error}")
    return found


def _library(name: str, package: str, platform: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise TaskFailed(f"source: pip install {package}, which reads {platform}") from None


def _failed(source: str, error: Exception) -> TaskFailed:
    text = one_line(getattr(error, "msg", None) or error) or type(error).__name__
    return TaskFailed(f"source: {quoted(source)}: {text}")


def _cluster(params: Params) -> Reading:
    session = Session(dict(params))
    lookup, kv, reading = ClusterLookup(session), kubevirt_of(session), Reading()
    vms = session.list(KINDS["VirtualMachine"], params["namespace"])
    lookup.gather(key for vm in vms for key in keys_for_expansion(vm, kv.release))
    for vm in vms:
        place = f"{vm['metadata']['namespace']}/{vm['metadata']['name']}"
        kubevirt.add(reading, place, {**vm, "kind": "VirtualMachine"}, Cluster(lookup, kv))
    return reading


def _vsphere(params: Params) -> Reading:
    connect = _library("pyVim.connect", "pyvmomi", "vSphere")
    vmodl = import_module("pyVmomi").vmodl
    vim = import_module("pyVmomi").vim
    address = urlsplit(params["source"])
    context = ssl.create_default_context(cafile=params["source_ca_cert"])
    if not params["source_validate_certs"]:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    options = {"sslContext": context} if address.scheme == "https" else {"protocol": "http"}
    try:
        service = connect.SmartConnect(
            host=address.hostname,
            port=address.port or 443,
            user=params["source_username"] or "",
            pwd=params["source_password"] or "",
            **options,
        )
    except (OSError, vmodl.MethodFault) as error:
        raise _failed(params["source"], error) from None
    try:
        return _of_vcenter(service.RetrieveContent(), vim, vmodl.query.PropertyCollector)
    except vmodl.MethodFault as error:
        raise _failed(params["source"], error) from None
    finally:
        connect.Disconnect(service)


def _of_vcenter(content: Any, vim: Any, query: Any) -> Reading:
    """One collector for machines, folders and port groups, in pages."""
    wanted = {
        vim.VirtualMachine: list(vsphere.PROPERTIES),
        vim.Folder: ["name", "parent"],
        vim.dvs.DistributedVirtualPortgroup: ["name", "key"],
    }
    view = content.viewManager.CreateContainerView(content.rootFolder, list(wanted), True)
    through = query.TraversalSpec(name="view", path="view", skip=False, type=vim.view.ContainerView)
    objects = [query.ObjectSpec(obj=view, skip=True, selectSet=[through])]
    properties = [query.PropertySpec(type=kind, pathSet=paths) for kind, paths in wanted.items()]
    specification = query.FilterSpec(objectSet=objects, propSet=properties)
    collector = content.propertyCollector
    page = collector.RetrievePropertiesEx([specification], query.RetrieveOptions(maxObjects=500))
    found: list[tuple[Any, dict[str, Any]]] = []
    while page:
        found += [(item.obj, {value.name: value.val for value in item.propSet}) for item in page.objects]
        page = collector.ContinueRetrievePropertiesEx(page.token) if page.token else None
    view.Destroy()
    folders = {item._moId: values for item, values in found if isinstance(item, vim.Folder)}
    networks = {str(values["key"]): values["name"] for _item, values in found if "key" in values}
    source, reading = str(content.about.instanceUuid or ""), Reading()
    for item, values in sorted(found, key=lambda entry: str(entry[0]._moId)):
        if isinstance(item, vim.VirtualMachine):
            vsphere.add(reading, item._moId, values, _folder(values.get("parent"), folders), networks)
    reading.machines = [{**machine, "source": source} if source else machine for machine in reading.machines]
    return reading


def _folder(parent: Any, folders: Mapping[str, Mapping[str, Any]]) -> str:
    """The path of a folder below the root of its datacenter."""
    if parent is None or parent._moId not in folders:
        return ""
    values = folders[parent._moId]
    return "/".join(filter(None, [_folder(values.get("parent"), folders), str(values["name"])]))


def _openstack(params: Params) -> Reading:
    library = _library("openstack", "openstacksdk", "OpenStack")
    errors = import_module("openstack.exceptions")
    keystone = import_module("keystoneauth1.exceptions")
    try:
        cloud = library.connect(cloud=params["source"].removeprefix(_CLOUD) or os.environ.get("OS_CLOUD"))
        listed = [cloud.compute.servers(), cloud.compute.flavors(get_extra_specs=True), cloud.image.images()]
        if cloud.has_service("block-storage"):
            listed.append(cloud.block_storage.volumes())
        # The library has names of its own for some properties of images.
        lists = [[item.to_dict(original_names=True) for item in items] for items in listed]
    except (errors.SDKException, keystone.ClientException) as error:
        raise _failed(params["source"], error) from None
    return openstack.read(*lists)


def _proxmox(params: Params) -> Reading:
    library = _library("proxmoxer", "proxmoxer requests", "Proxmox")
    requests = import_module("requests")
    address = urlsplit(params["source"])
    user, mark, token = (params["source_username"] or "").partition("!")
    secret = {"token_name": token, "token_value": params["source_password"] or ""}
    login = secret if mark else {"password": params["source_password"] or ""}
    verify = params["source_ca_cert"] or params["source_validate_certs"]
    reading = Reading()
    try:
        api = library.ProxmoxAPI(address.hostname, port=address.port, user=user, verify_ssl=verify, **login)
        for entry in sorted(api.cluster.resources.get(type="vm"), key=lambda entry: int(entry["vmid"])):
            if entry.get("type") == "lxc":
                proxmox.leave_out_container(reading, str(entry.get("name") or entry["vmid"]))
            if entry.get("type") == "qemu":
                config = api.nodes(entry["node"]).qemu(entry["vmid"]).config.get()
                told = {key: entry[key] for key in ("pool", "template") if entry.get(key)}
                place, power = f"VM {entry['vmid']}", proxmox.power_of(entry)
                proxmox.add(reading, place, str(entry["vmid"]), {**told, **config}, power)
    except (library.ResourceException, library.AuthenticationError, requests.RequestException) as error:
        raise _failed(params["source"], error) from None
    proxmox.tell_containers(reading)
    return reading
