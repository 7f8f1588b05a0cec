"""All rules of the admitters in KubeVirt's order, which is also the order of a refusal's causes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..config.cluster import KubeVirt
from . import (
    cpu,
    devices,
    disks,
    firmware,
    guest,
    interfaces,
    networks,
    scheduling,
    since,
    virtual_machine,
    vmi_only,
    volumes,
)
from .rule import NOT_SUPPORTED, Cause, Rule, Spec

_NETWORK_RULES: Final[tuple[Rule, ...]] = (
    networks.single_pod_network,
    networks.single_source,
    networks.multus_name,
    interfaces.states,
    interfaces.bindings,
    networks.unique_names,
    networks.claimed,
    networks.assigned_to_interfaces,
    interfaces.unique_names,
    networks.interfaces_assigned,
    interfaces.fields,
)
"""Validator.Validate of pkg/network/admitter."""

SPEC_RULES: Final[tuple[Rule, ...]] = (
    guest.names,
    cpu.memory_amounts,
    cpu.memory_in_huge_pages,
    cpu.memory_within_limit,
    firmware.machine_type,
    firmware.acpi_tables,
    cpu.amounts,
    cpu.dedicated,
    cpu.numa,
    cpu.isolated_emulator_thread,
    cpu.features,
    cpu.sockets,
    virtual_machine.start_strategy,
    cpu.realtime,
    scheduling.affinity,
    scheduling.topology_spread,
    firmware.architecture,
    *_NETWORK_RULES,
    devices.resource_claims,
    disks.boot_order,
    devices.inputs,
    devices.io_threads,
    guest.probes,
    disks.check,
    firmware.boot,
    volumes.check,
    volumes.container_disk_paths,
    volumes.no_utility_volumes,
    guest.access_credentials,
    guest.dns,
    virtual_machine.eviction_strategy,
    devices.virtual_gpu_displays,
    devices.host_devices,
    devices.nvidia_grace,
    devices.sound,
    firmware.launch_security,
    devices.vsock,
    disks.persistent_reservation,
    devices.downward_metrics,
    devices.filesystems,
    devices.video,
    devices.panic_devices,
    devices.reboot_policy,
    cpu.reserved_memory_overhead,
    guest.service_account,
    firmware.persistent_state,
)
"""ValidateVirtualMachineInstanceSpec: of VMs and VMIs."""

_VMI_RULES: Final[tuple[Rule, ...]] = (
    # KubeVirt applies the network rules twice to a VMI, so their causes appear twice.
    interfaces.discontinued,
    *_NETWORK_RULES,
    *SPEC_RULES,
    vmi_only.container_paths,
    vmi_only.memory,
)


def virtual_machine_causes(
    applied: Spec, stored: Spec, before: Spec | None, namespace: str, kubevirt: KubeVirt
) -> list[Cause]:
    """VMsAdmitter.Admit of a VM whose instancetype and preference are accepted; the first step with causes is the last.

    applied, stored: the VM's canonical spec with instancetype, preference and defaults in its template, and without.
    before: the stored VM's spec; None for a new VM.
    """
    causes = list(virtual_machine.data_source_groups(stored))
    if before is None and not causes:
        if kubevirt.release.has(since.OLD_GATES_REFUSED):
            causes = list(_discontinued(stored["template"]["spec"], kubevirt))
        causes = causes or list(interfaces.discontinued(applied["template"]["spec"], "spec", kubevirt))
    causes = causes or list(_vm(applied, kubevirt))
    return causes or list(virtual_machine.data_volume_namespaces(stored, before, namespace))


def _discontinued(spec: Spec, kubevirt: KubeVirt) -> Iterator[Cause]:
    """Causes if a new VM uses a discontinued feature and its gate is set (featuregate.ValidateFeatureGates)."""
    listed = spec["domain"]["devices"].get("interfaces", ())
    for gate in kubevirt.developer_configuration.get("featureGates") or []:
        binding = interfaces.BINDING_GATES.get(gate)
        if binding is not None and any(binding in interface for interface in listed):
            remedy = "Please refer to Kubevirt user guide for alternatives."
            yield Cause(NOT_SUPPORTED, f"{gate} network binding is discontinued since v1.3. {remedy}", "")


def _vm(spec: Spec, kubevirt: KubeVirt) -> Iterator[Cause]:
    """ValidateVirtualMachineSpec."""
    template, path = spec["template"], "spec.template"
    yield from virtual_machine.metadata(template["metadata"], f"{path}.metadata", kubevirt)
    annotations = template["metadata"].get("annotations") or {}
    yield from devices.grace_annotations(template["spec"], annotations, f"{path}.metadata", kubevirt)
    yield from _apply(SPEC_RULES, template["spec"], f"{path}.spec", kubevirt)
    yield from virtual_machine.data_volume_templates(spec, kubevirt)
    yield from virtual_machine.run_strategy(spec, kubevirt)
    yield from virtual_machine.live_updates(template["spec"], f"{path}.spec", kubevirt)


def vmi(metadata: Spec, spec: Spec, kubevirt: KubeVirt) -> Iterator[Cause]:
    """VMICreateAdmitter.Admit of a new VMI with a canonical spec, which KubeVirt creates for a VM. The causes name the
    fields of the VM.
    """
    path, metadata_path = "spec.template.spec", "spec.template.metadata"
    yield from _discontinued(spec, kubevirt)
    yield from _apply(_VMI_RULES, spec, path, kubevirt)
    yield from virtual_machine.metadata(metadata, metadata_path, kubevirt, reserved_labels=True)
    yield from devices.grace_annotations(spec, metadata.get("annotations") or {}, metadata_path, kubevirt)
    yield from vmi_only.hyperv(spec, path, kubevirt)
    yield from vmi_only.architecture(spec, path, kubevirt)


def _apply(rules: tuple[Rule, ...], spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    for rule in rules:
        yield from rule(spec, path, kubevirt)
