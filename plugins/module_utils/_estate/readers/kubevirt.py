"""VMs of KubeVirt: manifests, and tasks of the modules kubevirt_vm and k8s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._resolver.api.errors import FieldError, KubeVirtError
from ..._resolver.api.manifest import OS_ANNOTATION, Manifest, claim_of, name_of, namespace_of, template_specs
from ..._resolver.api.matcher import MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, references
from ..._resolver.api.quantity import parse
from ..._resolver.api.tree import value_at
from ..._resolver.declare.validation import canonical_quantity
from ..._resolver.kubevirt.cluster import Cluster
from ..._resolver.kubevirt.instancetype import find
from ..._resolver.kubevirt.vm import expand
from ..._resolver.kubevirt.vm.vmi import vcpus
from ..._task_objects import PATCH, TaskObject, files_of, module_of, objects_of
from . import kubevirt_fields
from .reading import Reading

_VM: Final = "VirtualMachine"
_BLOCKS: Final = ("tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always")


def vms_in(document: Any) -> Iterator[Manifest]:
    """The VMs of a YAML document: a manifest, a list of them, a playbook, or a list of tasks."""
    for part in _parts(document):
        if part.get("kind") == _VM:
            yield dict(part)
        for key, value in part.items():
            for found in objects_of(module_of(key, value), value):
                yield from _vm_of(found)


def files_in(document: Any) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """(folder, path, the task's options) of the files from which tasks take objects, see `files_of`."""
    for part in _parts(document):
        for key, value in part.items():
            for folder, path in files_of(module_of(key, value), value):
                yield folder, path, value


def _parts(document: Any) -> Iterator[Mapping[str, Any]]:
    """The manifests, plays, blocks and tasks of a document."""
    if isinstance(document, list):
        for entry in document:
            yield from _parts(entry)
    elif isinstance(document, Mapping):
        yield document
        if str(document.get("kind") or "").endswith("List"):
            yield from _parts(document.get("items"))
        for block in _BLOCKS:
            yield from _parts(document.get(block))


def _vm_of(found: TaskObject) -> Iterator[Manifest]:
    """The VM that a task declares; nothing for other objects, and for a patch of a VM."""
    content = found.content
    if isinstance(content, str) and _VM in content:
        # The place of an unreadable VM.
        yield {"kind": _VM, "spec": content}
    elif isinstance(content, Mapping) and content.get("kind") == _VM and found.problem != PATCH:
        yield dict(content)


def add(reading: Reading, place: str, vm: Manifest, cluster: Cluster) -> None:
    """Adds a VM with the size that its instancetype or its own fields give it.

    place: the file or cluster, for remarks.
    """
    name = str(value_at(vm, ("metadata", "name")) or "")
    try:
        if "{{" in str(vm):
            raise FieldError("", "has variables of Ansible; read the cluster, or render the templates first")
        spec = _expanded(vm, cluster)
        memory = parse(str(value_at(spec, ("domain", "memory", "guest")) or "0")).value
        cpus = vcpus(spec["domain"].get("cpu"))
        if not name or not memory or not cpus:
            raise FieldError("", "has no name, no CPU or no memory")
        machine = _machine(vm, spec, cpus, memory)
    except (FieldError, KubeVirtError) as error:
        reading.refuse(place, name, str(error))
        return
    own = next((key for key in references(vm) if key.namespace), None)
    if own is None:
        machine.update({MATCHER_FIELD_OF_KIND[key.kind].name: key.name for key in references(vm)})
    else:
        problem = f"{own.kind} {own.label} is of its namespace, so the VM counts as one with a size of its own"
        reading.remarks.append(f"{place}: {machine['id']}: {problem}")
    reading.add(place, machine)


def _expanded(vm: Manifest, cluster: Cluster) -> Manifest:
    """The spec of the VMI. Raises KubeVirtError."""
    canonical = find.canonical_vm({"metadata": {}, "status": {}, **vm}, cluster.release)
    template = find.template_of(canonical)
    instancetype, preference = (
        find.effective_spec(canonical, field, cluster.objects, cluster.release) for field in MATCHER_FIELDS
    )
    expand.apply_defaults(template, instancetype, preference, cluster.kubevirt)
    spec: Manifest = template["spec"]
    return spec


def _machine(vm: Manifest, spec: Manifest, cpus: int, memory: int) -> dict[str, Any]:
    domain = spec["domain"]
    cpu, devices = domain.get("cpu") or {}, domain.get("devices") or {}
    loader = value_at(domain, ("firmware", "bootloader")) or {}
    namespace, name = namespace_of(vm) or "default", name_of(vm)
    tpm, pages = devices.get("tpm"), value_at(domain, ("memory", "hugepages", "pageSize"))
    return {
        "id": f"{namespace}/{name}",
        "name": name,
        "folder": namespace,
        "power": "off" if vm["spec"].get("runStrategy") == "Halted" or vm["spec"].get("running") is False else "on",
        "vcpus": cpus,
        "cores_per_socket": cpu.get("cores"),
        "memory": memory,
        "firmware": "efi" if "efi" in loader else "bios",
        "secure_boot": (loader["efi"] or {}).get("secureBoot") is not False if "efi" in loader else None,
        "tpm": tpm is not None and tpm.get("enabled") is not False,
        "guest": {"text": str(value_at(vm, ("spec", "template", "metadata", "annotations", OS_ANNOTATION)) or "")},
        "reserved": {"cpu": True} if cpu.get("dedicatedCpuPlacement") else {},
        "hugepages": canonical_quantity("hugepages.pageSize", pages) if pages else None,
        "passthrough": [
            device.get("deviceName") for kind in ("gpus", "hostDevices") for device in devices.get(kind) or ()
        ],
        "disks": _disks(vm, spec),
        "nics": _nics(spec, devices),
        "tags": value_at(vm, ("metadata", "labels")),
        "not_brought": kubevirt_fields.lost(vm),
    }


def _nics(spec: Manifest, devices: Manifest) -> list[dict[str, Any]]:
    """The interfaces by network; without any, KubeVirt connects a VM to the pod network if it may."""
    interfaces = {item.get("name"): item for item in devices.get("interfaces") or ()}
    if not spec.get("networks") and devices.get("autoattachPodInterface") is not False:
        return [{"network": "pod"}]
    nics = []
    for network in spec.get("networks") or ():
        own = interfaces.get(network.get("name"), {})
        nic = {"network": value_at(network, ("multus", "networkName")) or "pod"}
        state = {"connected": False} if own.get("state") in ("down", "absent") else {}
        nics.append({**nic, "mac": own.get("macAddress"), "model": own.get("model"), **state})
    return nics


def _disks(vm: Manifest, spec: Manifest) -> list[dict[str, Any]]:
    """The disks that keep data. Sizes come from the VM's own DataVolumes alone."""
    templates = template_specs(vm)
    devices = value_at(spec, ("domain", "devices", "disks")) or ()
    shared = {item.get("name") for item in devices if item.get("shareable")}
    disks = []
    for volume in filter(claim_of, spec.get("volumes") or ()):
        source = templates.get(claim_of(volume), {})
        storage = source.get("storage") or source.get("pvc") or {}
        amount = value_at(storage, ("resources", "requests", "storage"))
        size = parse(str(amount)).value if amount else None
        own = {"size": size, "storage": storage.get("storageClassName"), "shared": volume["name"] in shared or None}
        disks.append({"name": volume["name"], **own})
    return disks
