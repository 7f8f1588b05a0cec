"""Applies an instancetype and a preference to a VM's template, as KubeVirt's ``ApplyToVMI`` does."""

from __future__ import annotations

from typing import Any, Optional

from ...api import release_schema
from ...api.release import NEWEST, Release
from . import cpu, fields, memory, preferred_devices, preferred_domain, preferred_metadata
from .conflict import ConflictError

Spec = Optional[dict[str, Any]]


def apply(template: dict[str, Any], instancetype: Spec, preference: Spec, release: Release = NEWEST) -> dict[str, Any]:
    """The template as the VMI would have it, {metadata, spec} in canonical form.

    template: a VM's spec.template. instancetype, preference: the `spec` of one, or None. All are parts of plain
    manifests and stay unchanged. Raises ConflictError, Panic, and FieldError for input that does not match the schema.
    """
    result = release_schema.canonical("VirtualMachineInstanceTemplateSpec", template, release)
    if instancetype is not None:
        instancetype = release_schema.canonical("VirtualMachineInstancetypeSpec", instancetype, release)
    if preference is not None:
        preference = release_schema.canonical("VirtualMachinePreferenceSpec", preference, release)
    apply_in_place(result["metadata"], result["spec"], instancetype, preference, release)
    return result


def apply_in_place(
    meta: dict[str, Any], spec: dict[str, Any], instancetype: Spec, preference: Spec, release: Release
) -> None:
    """Changes canonical metadata and VMI spec. The other arguments are canonical too and stay unchanged.

    Raises ConflictError, after which meta and spec are incomplete, and Panic where KubeVirt panics.
    """
    apply_instancetype(meta, spec, instancetype, preference, release)
    if preference is not None:
        _preference(meta, spec, preference, release)
    if not spec.get("nodeSelector", True):
        # schema.canonical keeps it for conflicts; Go does not write it.
        del spec["nodeSelector"]


def apply_instancetype(
    meta: dict[str, Any], spec: dict[str, Any], instancetype: Spec, preference: Spec, release: Release
) -> None:
    """The first half of `apply_in_place`: of the preference only the topology counts. Raises ConflictError."""
    conflicts = _instancetype(meta, spec, instancetype, preference, release) if instancetype is not None else []
    if conflicts:
        raise ConflictError(conflicts, release)


def _instancetype(
    meta: dict[str, Any], spec: dict[str, Any], instancetype: dict[str, Any], preference: Spec, release: Release
) -> list[str]:
    guest = spec["domain"]
    return [
        *fields.copied(instancetype, spec, "nodeSelector"),
        *fields.copied(instancetype, spec, "schedulerName"),
        *cpu.cpu(instancetype, preference, spec),
        *memory.memory(instancetype, spec, release),
        *fields.io_threads(instancetype, spec),
        *fields.copied(instancetype, guest, "ioThreadsPolicy", "domain."),
        *fields.copied(instancetype, guest, "launchSecurity", "domain."),
        *fields.copied(instancetype, guest["devices"], "gpus", "domain.devices."),
        *fields.copied(instancetype, guest["devices"], "hostDevices", "domain.devices."),
        *fields.merge_annotations(instancetype, meta),
    ]


def _preference(meta: dict[str, Any], spec: dict[str, Any], preference: dict[str, Any], release: Release) -> None:
    preferred_domain.cpu_features(preference, spec)
    preferred_devices.devices(preference, spec, release)
    preferred_domain.features(preference, spec)
    preferred_domain.firmware(preference, spec)
    preferred_domain.machine(preference, spec, release)
    preferred_domain.clock(preference, spec)
    preferred_metadata.vmi_fields(preference, spec)
    preferred_metadata.merge_annotations(preference, meta)
    preferred_domain.launch_security(preference, spec)
