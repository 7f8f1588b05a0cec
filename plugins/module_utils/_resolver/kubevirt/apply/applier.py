"""Applies an instancetype and a preference to a VM's template, as KubeVirt's ``ApplyToVMI`` does."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from ...api import release_schema
from ...api.errors import Panic
from ...api.release import NEWEST, Release
from ..preference import clock, features, firmware, machine, metadata
from ..preference import cpu as pref_cpu
from ..preference import devices as pref_devices
from ..preference import launch_security as pref_launch_security
from . import annotations as it_annotations
from . import cpu, devices, iothreads, memory, scheduling
from . import launch_security as it_launch_security

Spec = Optional[dict[str, Any]]


class Applied(NamedTuple):
    """A VM template with its instancetype and preference applied.

    template: {metadata, spec} in canonical form; None with conflicts or a panic.
    conflicts: the VM's fields that the instancetype does not permit. panic: why KubeVirt would panic on this input.
    """

    template: dict[str, Any] | None
    conflicts: tuple[str, ...] = ()
    panic: str | None = None


def apply(template: dict[str, Any], instancetype: Spec, preference: Spec, release: Release = NEWEST) -> Applied:
    """The template as the VMI would have it. The inputs are parts of plain manifests and stay unchanged.

    template: a VM's spec.template. instancetype, preference: the `spec` of one, or None.
    Raises FieldError for input that does not match the schema.
    """
    result = release_schema.canonical("VirtualMachineInstanceTemplateSpec", template, release)
    if instancetype is not None:
        instancetype = release_schema.canonical("VirtualMachineInstancetypeSpec", instancetype, release)
    if preference is not None:
        preference = release_schema.canonical("VirtualMachinePreferenceSpec", preference, release)
    try:
        conflicts = apply_in_place(result["metadata"], result["spec"], instancetype, preference, release)
    except Panic as panic:
        return Applied(None, panic=str(panic))
    if conflicts:
        return Applied(None, conflicts=tuple(conflicts))
    return Applied(result)


def apply_in_place(
    meta: dict[str, Any], spec: dict[str, Any], instancetype: Spec, preference: Spec, release: Release = NEWEST
) -> list[str]:
    """Changes canonical metadata and VMI spec. The other arguments are canonical too and stay unchanged.

    With conflicts, meta and spec are incomplete. Raises Panic where KubeVirt panics.
    """
    conflicts = _instancetype(meta, spec, instancetype, preference, release) if instancetype is not None else []
    if not conflicts and preference is not None:
        _preference(meta, spec, preference, release)
    if not spec.get("nodeSelector", True):
        # schema.canonical keeps it for conflicts; Go does not write it.
        del spec["nodeSelector"]
    return conflicts


def _instancetype(
    meta: dict[str, Any], spec: dict[str, Any], instancetype: dict[str, Any], preference: Spec, release: Release
) -> list[str]:
    return [
        *scheduling.node_selector(instancetype, spec),
        *scheduling.scheduler_name(instancetype, spec),
        *cpu.cpu(instancetype, preference, spec),
        *memory.memory(instancetype, spec, release),
        *iothreads.io_threads(instancetype, spec),
        *iothreads.io_threads_policy(instancetype, spec),
        *it_launch_security.launch_security(instancetype, spec),
        *devices.gpus(instancetype, spec),
        *devices.host_devices(instancetype, spec),
        *it_annotations.merge_annotations(instancetype, meta),
    ]


def _preference(meta: dict[str, Any], spec: dict[str, Any], preference: dict[str, Any], release: Release) -> None:
    pref_cpu.cpu_features(preference, spec)
    pref_devices.devices(preference, spec, release)
    features.features(preference, spec)
    firmware.firmware(preference, spec)
    machine.machine(preference, spec, release)
    clock.clock(preference, spec)
    metadata.subdomain(preference, spec)
    metadata.termination_grace_period(preference, spec)
    metadata.architecture(preference, spec)
    metadata.merge_annotations(preference, meta)
    pref_launch_security.launch_security(preference, spec)
