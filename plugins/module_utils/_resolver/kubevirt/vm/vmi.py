"""The VMI that virt-controller creates for a VM (KubeVirt ``watch/vm``), the figures of its guest,
and the properties of its spec on which its pod depends.

Limited to what instance types affect: no generation, finalizers, start revision or changed block tracking.
"""

from __future__ import annotations

import uuid
from typing import Any, Final, NamedTuple

from ...api.errors import KubeVirtError
from ...api.manifest import Manifest
from ...api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE
from ...api.quantity import parse
from ..cluster import Cluster, KubeVirt
from ..instancetype import applier, find, revision_names
from ..instancetype.conflict import ConflictError, controller_message
from ..instancetype.find import Specs, canonical_vm, template_of
from ..instancetype.preferred_devices import devices as apply_device_preferences
from . import defaults

# The required and the preferred terms of affinity.
REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_UINT32: Final = 2**32
_FIRMWARE_NAMESPACE: Final = uuid.UUID("6a1a24a1-4061-4607-8bf4-a3963d0c5895")


class BuiltVMI(NamedTuple):
    """The VMI of a VM's next start, canonical."""

    metadata: Manifest
    spec: Manifest


def firmware_uuid(name: str) -> str:
    """The firmware UUID of a VM that sets none, derived from the VM's name."""
    return str(uuid.uuid5(_FIRMWARE_NAMESPACE, name))


def build(vm: Manifest, cluster: Cluster, specs: Specs | None = None) -> BuiltVMI:
    """The VMI that virt-controller creates for a VM (plain manifest).

    specs: the canonical specs of its instancetype and preference; None: looked up by the VM's references.
    Raises KubeVirtError.
    """
    return build_in_place(canonical_vm(vm, cluster.release), cluster, specs)


def build_in_place(vm: Manifest, cluster: Cluster, specs: Specs | None = None) -> BuiltVMI:
    """Builds the VMI of a canonical VM in its place; see `build`."""
    spec = template_of(vm)["spec"]
    metadata = _metadata(vm)
    firmware = spec["domain"].setdefault("firmware", {})
    firmware["uuid"] = firmware.get("uuid") or firmware_uuid(metadata.get("name", ""))

    if _starts_paused(vm):
        spec["startStrategy"] = "Paused"

    preference = find.given_or_effective_spec(vm, PREFERENCE, specs, cluster.objects, cluster.release)
    attach_automatic_devices(spec, preference, cluster.kubevirt)

    instancetype = find.given_or_effective_spec(vm, INSTANCETYPE, specs, cluster.objects, cluster.release)
    _annotate(vm, metadata)
    try:
        applier.apply_in_place(metadata, spec, instancetype, preference, cluster.release)
    except ConflictError as error:
        raise KubeVirtError(controller_message(error.conflicts)) from error
    return BuiltVMI(metadata, spec)


def attach_automatic_devices(spec: Manifest, preference: Manifest | None, kubevirt: KubeVirt) -> None:
    """Adds the disks, the input and the interface that KubeVirt attaches automatically to a canonical VMI spec.

    preference: the canonical spec of the preference. Its devices apply twice: here, because they decide what is
    attached, and later, with the rest of the preference, to what was attached. Raises KubeVirtError.
    """
    if preference is not None:
        apply_device_preferences(preference, spec, kubevirt.release)
    defaults.add_disks_for_volumes(spec)
    devices = spec["domain"]["devices"]
    if devices.get("autoattachInputDevice") and not devices.get("inputs"):
        devices["inputs"] = [{"name": "default-0", "type": ""}]
    defaults.add_network_interface(spec, kubevirt)


def _metadata(vm: Manifest) -> Manifest:
    metadata: Manifest = vm["spec"]["template"]["metadata"]
    metadata.pop("generateName", None)
    for field in ("name", "namespace"):
        metadata.pop(field, None)
        if field in vm["metadata"]:
            metadata[field] = vm["metadata"][field]
    metadata["ownerReferences"] = [revision_names.owner_reference(vm)]
    return metadata


def _starts_paused(vm: Manifest) -> bool:
    """Whether the VM is to start paused (`virtctl start --paused`)."""
    for request in vm["status"].get("stateChangeRequests", ())[:1]:
        return bool(request["action"] == "Start" and request.get("data", {}).get("paused") == "true")
    return False


def _annotate(vm: Manifest, metadata: Manifest) -> None:
    """Sets the names of instancetype and preference, before their own annotations, which may conflict with these."""
    for matcher_field in MATCHER_FIELDS:
        matcher = matcher_field.matcher_of(vm)
        kind = matcher_field.kind_of(matcher) if matcher is not None else None
        if matcher is None or kind is None:
            continue
        key = matcher_field.annotation if kind == matcher_field.kind else matcher_field.cluster_annotation
        metadata.setdefault("annotations", {})[key] = matcher.get("name", "")


def guest_figures(spec: dict[str, Any]) -> dict[str, Any]:
    """{vcpus, sockets, cores, threads, memory, gpus, host_devices} of an applied VMI spec, without absent ones.

    vcpus: the product of the three numbers; a missing one counts as 1. memory: a quantity.
    """
    domain = spec.get("domain", {})
    cpu = domain.get("cpu", {})
    counts = {name: cpu.get(name, 1) for name in ("sockets", "cores", "threads")}
    devices = domain.get("devices", {})
    figures = {
        "vcpus": counts["sockets"] * counts["cores"] * counts["threads"],
        **counts,
        "memory": domain.get("memory", {}).get("guest"),
        "gpus": [gpu.get("deviceName") or gpu["name"] for gpu in devices.get("gpus", [])],
        "host_devices": [device.get("deviceName") or device["name"] for device in devices.get("hostDevices", [])],
    }
    return {name: value for name, value in figures.items() if value}


Spec = dict[str, Any]


def vcpus(cpu: Spec | None) -> int:
    """The vCPUs: the product of the set ones of cores, sockets and threads (hwutil.GetNumberOfVCPUs); 0 if none is set,
    1 without `cpu`.
    """
    if cpu is None:
        return 1
    product = 0
    for count in (cpu.get("cores"), cpu.get("sockets"), cpu.get("threads")):
        if count:
            product = (product or 1) * count % _UINT32
    return product


def pool_threads(spec: Spec) -> int:
    """The threads of the supplemental IO thread pool."""
    return int((spec["domain"].get("ioThreads") or {}).get("supplementalPoolThreadCount") or 0)


def is_dedicated(spec: Spec) -> bool:
    """Whether the guest has dedicated CPUs."""
    return bool((spec["domain"].get("cpu") or {}).get("dedicatedCpuPlacement"))


def wants_guaranteed(spec: Spec) -> bool:
    """Whether the VM's requests of CPU and memory equal its limits (``WantsToHaveQOSGuaranteed``)."""
    cpu_request, cpu_limit = _request_and_limit(spec, "cpu")
    request, limit = _request_and_limit(spec, "memory")
    memory = bool(limit) if not request else request == limit
    return memory and bool(cpu_request) and cpu_request == cpu_limit


def _request_and_limit(spec: Spec, name: str) -> tuple[int, int]:
    resources = spec["domain"]["resources"]
    requested, limited = ((resources.get(kind) or {}).get(name, "0") for kind in ("requests", "limits"))
    return parse(requested).nanos, parse(limited).nanos


def is_guaranteed(spec: Spec) -> bool:
    """Whether the requests of the pod's containers equal their limits."""
    return is_dedicated(spec) or wants_guaranteed(spec)


def kernel_boot(spec: Spec) -> Spec | None:
    """The container with the guest's kernel."""
    container: Spec | None = ((spec["domain"].get("firmware") or {}).get("kernelBoot") or {}).get("container")
    return container


def _security(spec: Spec) -> Spec:
    return spec["domain"].get("launchSecurity") or {}


def has_sev(spec: Spec) -> bool:
    return "sev" in _security(spec)


def has_sev_es(spec: Spec) -> bool:
    policy = (_security(spec).get("sev") or {}).get("policy") or {}
    return bool(policy.get("encryptedState"))


def has_snp(spec: Spec) -> bool:
    return "snp" in _security(spec)


def has_tdx(spec: Spec) -> bool:
    return "tdx" in _security(spec)
