"""The VM's own fields: its template's metadata, run strategy, DataVolume templates (vms-admitter.go)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final

from ...api.errors import KubeVirtError
from ..config.cluster import KubeVirt
from ..vmi.hotplug import check_memory_hotplug
from . import cpu, since
from .rule import INVALID, NOT_SUPPORTED, REQUIRED, Cause, Spec, items

RUN_STRATEGIES: Final = ("Halted", "Manual", "Always", "RerunOnFailure", "Once")
_AS_RECEIVER: Final = "WaitAsReceiver"
EVICTION_STRATEGIES: Final = ("LiveMigrate", "LiveMigrateIfPossible", "None", "External")

_RESERVED_LABELS: Final = frozenset(
    f"kubevirt.io/{name}"
    for name in (
        "created-by",
        "migrationJobUID",
        "nodeName",
        "migrationTargetNodeName",
        "schedulable",
        "install-strategy",
    )
)
_IGNITION: Final = "kubevirt.io/ignitiondata"
_SIDECARS: Final = "hooks.kubevirt.io/hookSidecars"


def metadata(meta: dict[str, Any], path: str, kubevirt: KubeVirt, reserved_labels: bool = False) -> Iterator[Cause]:
    """ValidateVirtualMachineInstanceMetadata.

    path: the position of the metadata. reserved_labels: KubeVirt itself writes the metadata.
    """
    annotations, field = meta.get("annotations") or {}, f"{path}.annotations"
    if not reserved_labels and _RESERVED_LABELS & set(meta.get("labels") or {}):
        message = "creation of the following reserved kubevirt.io/ labels on a VMI object is prohibited"
        yield Cause(NOT_SUPPORTED, message, f"{path}.labels")
    for annotation, gate, feature in (
        (_IGNITION, "ExperimentalIgnitionSupport", "ExperimentalIgnitionSupport"),
        (_SIDECARS, "Sidecar", "sidecar"),
    ):
        if annotations.get(annotation) and not kubevirt.has_gate(gate):
            entry = f"{field}.{annotation}"
            message = f"{feature} feature gate is not enabled in kubevirt-config, invalid entry {entry}"
            yield Cause(INVALID, message, field)


def eviction_strategy(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateLiveMigration."""
    strategy = spec.get("evictionStrategy", kubevirt.eviction_strategy)
    if strategy not in EVICTION_STRATEGIES:
        field = f"{path}.evictionStrategy"
        yield Cause(INVALID, f"{field} is set with an unrecognized option: {strategy}", field)


def start_strategy(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateStartStrategy."""
    strategy, field = spec.get("startStrategy"), f"{path}.startStrategy"
    if strategy is None:
        return
    if strategy != "Paused":
        yield Cause(INVALID, f"{field} is set with an unrecognized option: {strategy}", field)
    elif "livenessProbe" in spec:
        either = f"either {field} or {path}.livenessProbe should be provided"
        yield Cause(INVALID, f"{either}.Pausing VMI with LivenessProbe is not supported", field)


def run_strategy(vm: Spec, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateRunStrategy. vm: the VM's spec."""
    strategy = vm.get("runStrategy")
    if "running" in vm and strategy is not None:
        message = "Running and RunStrategy are mutually exclusive."
        hint = "Note that Running is deprecated, please use RunStrategy instead"
        yield Cause(INVALID, f"{message} {hint}", "spec.running")
    elif "running" not in vm and strategy is None:
        yield Cause(INVALID, "RunStrategy must be specified", "spec.running")
    if strategy == _AS_RECEIVER and kubevirt.release.has(since.WAIT_AS_RECEIVER):
        if not kubevirt.has_gate("DecentralizedLiveMigration"):
            reason = "DecentralizedLiveMigration feature gate is not enabled in kubevirt resource"
            yield Cause(INVALID, f"Invalid RunStrategy ({strategy}), {reason}", "spec.runStrategy")
    elif strategy is not None and strategy not in RUN_STRATEGIES:
        yield Cause(INVALID, f"Invalid RunStrategy ({strategy})", "spec.runStrategy")


def data_source_groups(vm: Spec) -> Iterator[Cause]:
    """KubeVirt's defaults write `apiGroup: null` where it is missing, which the CRD refuses. vm: the VM's spec."""
    for template, place in items(vm, "spec", "dataVolumeTemplates"):
        spec = template.get("spec") or {}
        for target, source in itertools.product(("pvc", "storage"), ("dataSource", "dataSourceRef")):
            reference = (spec.get(target) or {}).get(source)
            if reference is not None and reference.get("apiGroup") is None:
                field = f"{place}.spec.{target}.{source}.apiGroup"
                yield Cause(INVALID, f'Invalid value: "null": {field} in body must be of type string: "null"', field)


def data_volume_templates(vm: Spec, kubevirt: KubeVirt) -> Iterator[Cause]:
    """ValidateDataVolumeTemplate. vm: the VM's spec."""
    sources = (("persistentVolumeClaim", "claimName"), ("dataVolume", "name"))
    volumes = vm["template"]["spec"].get("volumes", ())
    used = {volume[source].get(key) for volume in volumes for source, key in sources if volume.get(source)}
    for index, template in enumerate(vm.get("dataVolumeTemplates", ())):
        field = f"spec.dataVolumeTemplate[{index}]"
        cause = _data_volume(template, field, kubevirt.release.has(since.EXTERNAL_POPULATION))
        if cause is not None:
            yield cause
        elif template["metadata"].get("name", "") not in used:
            message = f"DataVolumeTemplate entry {field} must be referenced in the VMI template's 'volumes' list"
            yield Cause(REQUIRED, message, field)


def _data_volume(template: Spec, field: str, populates_externally: bool) -> Cause | None:
    """validateDataVolume."""
    spec = template.get("spec") or {}
    if not template["metadata"].get("name"):
        message = f"'name' field must not be empty for DataVolumeTemplate entry {field}.name."
        return Cause(REQUIRED, message, f"{field}.name")
    targets = [spec[target] for target in ("pvc", "storage") if target in spec]
    if len(targets) != 1:
        message = "Duplicate storage definition, both target storage and target pvc defined"
        return Cause(INVALID, message if targets else "Missing Data volume PVC or Storage", f"{field}.PVC.Storage")
    external = "dataSource" in targets[0] or "dataSourceRef" in targets[0]
    if external and ("source" in spec or "sourceRef" in spec):
        message = "External population is incompatible with Source and SourceRef"
        return Cause(INVALID, message, f"{field}.source")
    if not (external and populates_externally) and "source" not in spec and "sourceRef" not in spec:
        message = "Data volume should have either Source, SourceRef, or be externally populated"
        return Cause(INVALID, message, f"{field}.source.sourceRef")
    if "source" in spec and len(spec["source"]) != 1:
        message = "Multiple dataVolume sources" if spec["source"] else "Missing dataVolume valid source"
        return Cause(INVALID, message, f"{field}.source")
    return None


def data_volume_namespaces(vm: Spec, before: Spec | None, namespace: str) -> Iterator[Cause]:
    """validateVirtualMachineDataVolumeTemplateNamespace, if the templates change. before: the stored VM's spec."""
    if before is not None and before.get("dataVolumeTemplates") == vm.get("dataVolumeTemplates"):
        return
    for template, field in items(vm, "spec", "dataVolumeTemplates"):
        other = template["metadata"].get("namespace")
        if other and other != namespace:
            message = f"Embedded DataVolume namespace {other} differs from VM namespace {namespace}"
            yield Cause(INVALID, message, field)


def live_updates(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateLiveUpdateFeatures."""
    if not kubevirt.live_updates:
        return
    yield from cpu.sockets(spec, path, kubevirt)
    maximum = (spec["domain"].get("memory") or {}).get("maxGuest")
    if maximum is not None:
        try:
            check_memory_hotplug(spec, maximum)
        except KubeVirtError as error:
            yield Cause(INVALID, error.message, f"{path}.domain.memory.guest")
