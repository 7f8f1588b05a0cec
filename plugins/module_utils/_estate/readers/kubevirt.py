"""VMs of KubeVirt: manifests, and tasks of kubevirt.core's module kubevirt_vm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._resolver.api import release_schema
from ..._resolver.api.errors import FieldError, QuantityError
from ..._resolver.api.manifest import (
    OS_ANNOTATION,
    Manifest,
    annotations_of,
    claim_of,
    labels_of,
    name_of,
    namespace_of,
)
from ..._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from ..._resolver.api.quantity import parse
from ..._resolver.kubevirt.config.cluster import Cluster
from ..._resolver.kubevirt.find import find
from ..._resolver.kubevirt.vmi import expand
from ..._resolver.kubevirt.vmi.vmi import vcpus
from .reading import Reading, without_absent

_KIND: Final = "VirtualMachine"
_TASKS: Final = ("kubevirt.core.kubevirt_vm", "kubevirt_vm")
_BLOCKS: Final = ("tasks", "pre_tasks", "post_tasks", "handlers", "block", "rescue", "always")


def vms_in(document: Any) -> Iterator[Manifest]:
    """The VMs of a YAML document: a manifest, a list of them, a playbook, or a list of tasks."""
    if isinstance(document, list):
        for entry in document:
            yield from vms_in(entry)
    elif isinstance(document, Mapping):
        if document.get("kind") == _KIND:
            yield dict(document)
        elif str(document.get("kind") or "").endswith("List"):
            yield from vms_in(document.get("items"))
        for task in _TASKS:
            if isinstance(document.get(task), Mapping):
                yield _of_task(document[task])
        for block in _BLOCKS:
            yield from vms_in(document.get(block))


def _of_task(options: Mapping[str, Any]) -> Manifest:
    spec: Manifest = {key: options[key] for key in ("instancetype", "preference") if options.get(key)}
    if options.get("data_volume_templates"):
        spec["dataVolumeTemplates"] = options["data_volume_templates"]
    spec["runStrategy"] = options.get("run_strategy") or ("Halted" if options.get("running") is False else "Always")
    spec["template"] = {"spec": options.get("spec") or {}}
    metadata = {key: options[key] for key in ("name", "namespace", "labels") if options.get(key)}
    return {"apiVersion": "kubevirt.io/v1", "kind": _KIND, "metadata": metadata, "spec": spec}


def add(reading: Reading, place: str, vm: Manifest, cluster: Cluster) -> None:
    """Adds a VM with the size that its instancetype or its own fields give it. place: for remarks."""
    metadata = vm.get("metadata") if isinstance(vm.get("metadata"), Mapping) else {}
    name = str((metadata or {}).get("name") or "")
    if "{{" in str(vm):
        reading.refuse(place, name, "has variables of Ansible; read the cluster, or render the templates first")
        return
    try:
        spec = _expanded(vm, cluster)
        memory = parse(str((spec["domain"].get("memory") or {}).get("guest") or "0")).value
        cpus = vcpus(spec["domain"].get("cpu"))
        if not name or not memory or not cpus:
            raise FieldError("", "has no name, no CPU or no memory")
    except (FieldError, QuantityError) as error:
        reading.refuse(place, name, str(error))
        return
    reading.machines.append(_machine(vm, spec, cpus, memory))


def _expanded(vm: Manifest, cluster: Cluster) -> Manifest:
    """The spec of the VMI. Raises FieldError."""
    canonical = release_schema.canonical(_KIND, {"metadata": {}, "status": {}, **vm}, cluster.release)
    template = canonical["spec"]["template"]
    if template is None:
        raise FieldError("spec.template", "is missing")
    found = [find.spec(canonical, matcher, cluster.objects, cluster.release) for matcher in (INSTANCETYPE, PREFERENCE)]
    problem = found[0].error or found[1].error
    problem = problem or expand.fill(template, found[0].spec, found[1].spec, cluster.kubevirt)
    if problem is not None:
        raise FieldError("", problem.message)
    spec: Manifest = template["spec"]
    return spec


def _machine(vm: Manifest, spec: Manifest, cpus: int, memory: int) -> dict[str, Any]:
    domain = spec["domain"]
    cpu, devices = domain.get("cpu") or {}, domain.get("devices") or {}
    loader = (domain.get("firmware") or {}).get("bootloader") or {}
    namespace, name = namespace_of(vm) or "default", name_of(vm)
    matchers = {
        item.matcher: INSTANCETYPE.matcher_of(vm) if item is INSTANCETYPE else PREFERENCE.matcher_of(vm)
        for item in (INSTANCETYPE, PREFERENCE)
    }
    efi = "efi" in loader
    return without_absent(
        {
            "id": f"{namespace}/{name}",
            "name": name,
            "folder": namespace,
            "power": "off" if vm["spec"].get("runStrategy") == "Halted" or vm["spec"].get("running") is False else "on",
            "vcpus": cpus,
            "cores_per_socket": cpu.get("cores"),
            "memory": memory,
            "firmware": "efi" if efi else "bios",
            "secure_boot": (loader["efi"] or {}).get("secureBoot") is not False if efi else None,
            "tpm": devices.get("tpm") is not None,
            "guest": without_absent({"text": str(annotations_of(vm["spec"]["template"]).get(OS_ANNOTATION) or "")}),
            "reserved": {"cpu": True} if cpu.get("dedicatedCpuPlacement") else {},
            "hugepages": ((domain.get("memory") or {}).get("hugepages") or {}).get("pageSize"),
            "passthrough": [
                device["deviceName"] for kind in ("gpus", "hostDevices") for device in devices.get(kind) or ()
            ],
            "disks": _disks(vm, spec),
            "nics": [
                without_absent({"network": (item.get("multus") or {}).get("networkName") or "pod"})
                for item in spec.get("networks") or ()
            ],
            "tags": dict(labels_of(vm)),
            **{key: str((matcher or {}).get("name") or "") for key, matcher in matchers.items()},
        }
    )


def _disks(vm: Manifest, spec: Manifest) -> list[dict[str, Any]]:
    """The disks that keep data; sizes are those of the VM's own DataVolumes."""
    templates = {name_of(item): item.get("spec") or {} for item in vm["spec"].get("dataVolumeTemplates") or ()}
    disks = []
    for volume in spec.get("volumes") or ():
        claim = claim_of(volume)
        if not claim:
            continue
        source = templates.get(claim, {})
        storage = source.get("storage") or source.get("pvc") or {}
        amount = ((storage.get("resources") or {}).get("requests") or {}).get("storage")
        disks.append(
            without_absent(
                {
                    "name": volume["name"],
                    "size": parse(str(amount)).value if amount else None,
                    "storage": storage.get("storageClassName") or "",
                }
            )
        )
    return disks
