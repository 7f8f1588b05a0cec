"""All rules of the admitters in KubeVirt's order, which is also the order of a refusal's causes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...api import behaviour
from ..cluster import KubeVirt
from . import (
    claims,
    cpu,
    devices,
    disks,
    firmware,
    guest,
    interfaces,
    networks,
    scheduling,
    virtual_machine,
    vmi_only,
    volumes,
)
from .rows import Group, Place, Row, excludes, gate, one_of
from .rule import INVALID, Cause, Spec


def _eviction(strategy: str | None, place: Place) -> str:
    return _is_eviction(place.kubevirt.eviction_strategy if strategy is None else strategy, place)


_is_eviction: Final = one_of(*virtual_machine.EVICTION_STRATEGIES)

SPEC: Final = Group(
    "",
    guest.NAMES,
    cpu.MEMORY,
    firmware.MACHINE,
    cpu.CPU,
    Row("startStrategy", one_of("Paused")),
    Row("startStrategy", excludes("livenessProbe")),
    cpu.REALTIME,
    scheduling.RULES,
    firmware.ARCHITECTURE,
    networks.RULES,
    claims.resource_claims,
    disks.BOOT_ORDER,
    devices.INPUTS,
    devices.IO_THREADS,
    guest.PROBES,
    disks.RULES,
    firmware.BOOT,
    volumes.RULES,
    guest.ACCESS_CREDENTIALS,
    guest.DNS,
    Row("evictionStrategy", _eviction, absent=True),
    devices.DISPLAYS,
    devices.HOST_DEVICES,
    devices.nvidia_grace,
    devices.SOUND,
    firmware.launch_security,
    devices.VSOCK,
    disks.RESERVATION,
    devices.OTHERS,
    Row("domain.memory.reservedOverhead", gate("ReservedOverheadMemlock")),
    guest.SERVICE_ACCOUNT,
    firmware.PERSISTENT,
)
"""ValidateVirtualMachineInstanceSpec: of VMs and VMIs."""

# KubeVirt applies the network rules twice to a VMI, so their causes appear twice.
_VMI: Final = Group("", interfaces.DISCONTINUED, networks.RULES, SPEC, vmi_only.RULES)


def virtual_machine_causes(
    applied: Spec, stored: Spec, before: Spec | None, namespace: str, kubevirt: KubeVirt
) -> list[Cause]:
    """VMsAdmitter.Admit of a VM whose instancetype and preference are accepted; the first step with causes is the last.

    applied, stored: the VM's canonical spec with instancetype, preference and defaults in its template, and without.
    before: the stored VM's spec; None for a new VM.
    """
    causes = list(virtual_machine.data_source_groups(stored))
    if before is None and not causes:
        if kubevirt.release.has(behaviour.OLD_GATES_REFUSED):
            causes = list(_discontinued(stored["template"]["spec"], kubevirt))
        causes = causes or list(interfaces.DISCONTINUED(applied["template"]["spec"], "spec", kubevirt))
    causes = causes or list(_vm(applied, kubevirt))
    return causes or list(virtual_machine.data_volume_namespaces(stored, before, namespace))


def _discontinued(spec: Spec, kubevirt: KubeVirt) -> Iterator[Cause]:
    """Causes if a new VM uses a discontinued feature and its gate is set (featuregate.ValidateFeatureGates)."""
    listed = spec["domain"]["devices"].get("interfaces", ())
    for name in kubevirt.developer_configuration.get("featureGates") or []:
        binding = interfaces.BINDING_GATES.get(name)
        if binding is not None and any(binding in interface for interface in listed):
            message = f"the binding {binding} is discontinued since KubeVirt 1.3; use another binding"
            yield Cause(INVALID, message, "")


def _vm(spec: Spec, kubevirt: KubeVirt) -> Iterator[Cause]:
    """ValidateVirtualMachineSpec."""
    template, path = spec["template"], "spec.template"
    yield from virtual_machine.metadata(template["metadata"], f"{path}.metadata", kubevirt)
    annotations = template["metadata"].get("annotations") or {}
    yield from devices.grace_annotations(template["spec"], annotations, f"{path}.metadata", kubevirt)
    yield from SPEC(template["spec"], f"{path}.spec", kubevirt)
    yield from virtual_machine.data_volume_templates(spec, kubevirt)
    yield from virtual_machine.run_strategy(spec, kubevirt)
    yield from virtual_machine.live_updates(template["spec"], f"{path}.spec", kubevirt)


def vmi(metadata: Spec, spec: Spec, kubevirt: KubeVirt) -> Iterator[Cause]:
    """VMICreateAdmitter.Admit of a new VMI with a canonical spec, which KubeVirt creates for a VM. The causes name the
    fields of the VM.
    """
    path, metadata_path = "spec.template.spec", "spec.template.metadata"
    yield from _discontinued(spec, kubevirt)
    yield from _VMI(spec, path, kubevirt)
    yield from virtual_machine.metadata(metadata, metadata_path, kubevirt, reserved_labels=True)
    yield from devices.grace_annotations(spec, metadata.get("annotations") or {}, metadata_path, kubevirt)
    yield from vmi_only.HYPERV(spec, path, kubevirt)
    yield from vmi_only.architecture(spec, path, kubevirt)
