"""Reads the VMs of a cluster as hosts for Ansible's inventory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..module_utils._cluster.client.session import Session
from ..module_utils._cluster.read.info import tell
from ..module_utils._cluster.read.kubevirt import kubevirt
from ..module_utils._cluster.read.lookup import WideLookup
from ..module_utils._cluster.read.revisions import inspected
from ..module_utils._resolver.api.kinds import BY_NAME
from ..module_utils._resolver.api.redaction import LAST_APPLIED
from ..module_utils._resolver.kubevirt.vmi.cluster import KubeVirt
from ..module_utils._resolver.kubevirt.vmi.readiness import RUNNING
from ..module_utils._resolver.refresh import drift
from ..module_utils._resolver.refresh.controller_revisions import RevisionIndex
from ._address import Endpoint, interface_address, leading, service_endpoint
from ._host import check_options, host_names, host_variables

Manifest = dict[str, Any]

_VM = BY_NAME["VirtualMachine"]
_VMI = BY_NAME["VirtualMachineInstance"]
# What hosts lack if the user may not list a kind.
_LOST = {
    "VirtualMachineInstance": "hosts have no address and no instance",
    "Service": "hosts have no address",
    "Node": "hosts have the names of nodes as addresses",
    "ControllerRevision": "the captured revisions of hosts are unknown",
}


@dataclass(frozen=True)
class Wanted:
    """The options of the inventory plugin that decide what is read; see its documentation. namespaces: None for all."""

    namespaces: list[str] | None = None
    selector: str | None = None
    only_running: bool = False
    address: str = "interface"
    interface: str | None = None
    ip_family: str = "prefer_ipv4"
    service_port: int = 22
    host_format: str = "{name}.{namespace}"
    hostvars_prefix: str = "vm_"

    def __post_init__(self) -> None:
        """Raises HostError for invalid options before the cluster is read."""
        check_options(self.host_format, self.hostvars_prefix)


@dataclass
class Hosts:
    """hosts: host name → variables, ordered by namespace and name of the VMs.

    warnings: what could not be read, one line each.
    """

    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def hosts(session: Session, wanted: Wanted) -> Hosts:
    """The hosts. One LIST of each kind for all namespaces if permitted, else one for each namespace.

    Raises HostError if two VMs would be the same host, ApiError or ConnectionFailed if VMs cannot be listed.
    """
    vms = _virtual_machines(session, wanted)
    if not vms:
        return Hosts()
    lookup = WideLookup(session, everywhere=wanted.namespaces is None)
    cluster = kubevirt(session)
    namespaces = dict.fromkeys(vm["metadata"]["namespace"] for vm in vms)
    kept = {place: RevisionIndex(lookup.list("ControllerRevision", place)) for place in namespaces}
    told = [_tell(vm, lookup, cluster, kept[vm["metadata"]["namespace"]]) for vm in vms]
    names = host_names(told, wanted.host_format)
    result = Hosts()
    services: dict[str, dict[str, list[Manifest]]] = {}
    for name, vm, facts in zip(names, vms, told):
        endpoint = _endpoint(vm, lookup, wanted, services)
        found = {"ansible_host": endpoint.host, "ansible_port": endpoint.port} if endpoint is not None else {}
        result.hosts[name] = {
            **host_variables(facts, wanted.hostvars_prefix),
            **{variable: value for variable, value in found.items() if value is not None},
        }
    result.warnings = [
        f"{_LOST.get(kind, f'the state of a {kind} is unknown')}: {problem.message}"
        for kind, problem in lookup.problems.items()
    ] + ([cluster.doubt] if cluster.doubt else [])
    return result


def _virtual_machines(session: Session, wanted: Wanted) -> list[Manifest]:
    query = {"labelSelector": wanted.selector} if wanted.selector else {}
    found: list[Manifest] = []
    for namespace in [None] if wanted.namespaces is None else dict.fromkeys(wanted.namespaces):
        found += session.list(_VM, namespace, **query)[0]
    if wanted.only_running:
        found = [vm for vm in found if (vm.get("status") or {}).get("printableStatus") in RUNNING]
    return sorted(found, key=lambda vm: (vm["metadata"]["namespace"], vm["metadata"]["name"]))


def _tell(vm: Manifest, lookup: WideLookup, cluster: KubeVirt, revisions: RevisionIndex) -> dict[str, Any]:
    """The result of virtual_machine_info for a VM, with extra fields for grouping hosts."""
    metadata = vm["metadata"]
    instance = _instance(vm, lookup)
    seen = inspected(vm, lookup, cluster, instance, revisions)
    annotations = metadata.get("annotations") or {}
    told = {
        **tell(seen),
        "annotations": {key: value for key, value in annotations.items() if key != LAST_APPLIED},
    }
    parts = (seen.drift.instancetype, seen.drift.preference)
    if not seen.drift.drifted and any(part is not None and part.state == drift.UNKNOWN for part in parts):
        told["drifted"] = None
    if instance is not None:
        state = instance.get("status") or {}
        told["instance"].update(
            guest_os=state.get("guestOSInfo") or {},
            interfaces=[_interface(one) for one in state.get("interfaces") or []],
        )
    return told


def _interface(reported: Manifest) -> dict[str, Any]:
    single = reported.get("ipAddress")
    return {
        "name": reported.get("name", ""),
        "guest_name": reported.get("interfaceName", ""),
        "mac": reported.get("mac", ""),
        "addresses": reported.get("ipAddresses") or ([single] if single else []),
    }


def _instance(vm: Manifest, lookup: WideLookup) -> Manifest | None:
    found = lookup.get(_VMI.kind, vm["metadata"]["namespace"], vm["metadata"]["name"])
    return found if isinstance(found, dict) else None


def _endpoint(
    vm: Manifest, lookup: WideLookup, wanted: Wanted, services: dict[str, dict[str, list[Manifest]]]
) -> Endpoint | None:
    """services: those that lead to VMIs, by namespace and name of the VMI; filled on demand."""
    instance = _instance(vm, lookup)
    if instance is None or wanted.address == "none":
        return None
    if wanted.address == "interface":
        address = interface_address(instance, wanted.interface, wanted.ip_family)
        return Endpoint(address) if address is not None else None
    namespace, name = vm["metadata"]["namespace"], vm["metadata"]["name"]
    if namespace not in services:
        services[namespace] = leading(lookup.list("Service", namespace), lookup.list(_VMI.kind, namespace))
    return service_endpoint(
        instance,
        services[namespace].get(name, ()),
        lambda name: lookup.get("Node", "", name),
        wanted.service_port,
        wanted.ip_family,
    )
