"""The VM's own fields: its template's metadata, run strategy, DataVolume templates (vms-admitter.go)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, Final

from ...api import behaviour
from ...api.errors import KubeVirtError
from ...api.name_rules import join_or, quoted
from ..cluster import KubeVirt
from ..vm.hotplug import check_memory_hotplug
from . import cpu
from .rows import closed
from .rule import INVALID, Cause, Spec, items

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
_ANNOTATION_GATES: Final = {
    "kubevirt.io/ignitiondata": "ExperimentalIgnitionSupport",
    "hooks.kubevirt.io/hookSidecars": "Sidecar",
}


def metadata(meta: dict[str, Any], path: str, kubevirt: KubeVirt, reserved_labels: bool = False) -> Iterator[Cause]:
    """ValidateVirtualMachineInstanceMetadata.

    path: the position of the metadata. reserved_labels: KubeVirt itself writes the metadata.
    """
    annotations, field = meta.get("annotations") or {}, f"{path}.annotations"
    reserved = sorted(_RESERVED_LABELS & set(meta.get("labels") or {}))
    if reserved and not reserved_labels:
        yield Cause(INVALID, f"labels has {reserved[0]}, which only KubeVirt sets; remove it", f"{path}.labels")
    for annotation, name in _ANNOTATION_GATES.items():
        if annotations.get(annotation) and not kubevirt.has_gate(name):
            yield Cause(INVALID, f"{annotation} {closed(name)}", field)


def run_strategy(vm: Spec, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateRunStrategy. vm: the VM's spec."""
    strategy = vm.get("runStrategy")
    if "running" in vm and strategy is not None:
        yield Cause(INVALID, "running excludes runStrategy; remove running, which is deprecated", "spec.running")
    elif "running" not in vm and strategy is None:
        yield Cause(INVALID, "runStrategy is missing; set it", "spec.running")
    if strategy == _AS_RECEIVER and kubevirt.release.has(behaviour.WAIT_AS_RECEIVER):
        if not kubevirt.has_gate("DecentralizedLiveMigration"):
            message = f"{_AS_RECEIVER} {closed('DecentralizedLiveMigration')}"
            yield Cause(INVALID, f"runStrategy {message}", "spec.runStrategy")
    elif strategy is not None and strategy not in RUN_STRATEGIES:
        message = f"runStrategy must be {join_or(RUN_STRATEGIES)}, not {quoted(strategy)}"
        yield Cause(INVALID, message, "spec.runStrategy")


def data_source_groups(vm: Spec) -> Iterator[Cause]:
    """KubeVirt's defaults write `apiGroup: null` where it is missing, which the CRD refuses. vm: the VM's spec."""
    for template, place in items(vm, "spec", "dataVolumeTemplates"):
        spec = template.get("spec") or {}
        for target, source in itertools.product(("pvc", "storage"), ("dataSource", "dataSourceRef")):
            reference = (spec.get(target) or {}).get(source)
            if reference is not None and reference.get("apiGroup") is None:
                field = f"{place}.spec.{target}.{source}.apiGroup"
                yield Cause(INVALID, "apiGroup is missing; set it", field)


def data_volume_templates(vm: Spec, kubevirt: KubeVirt) -> Iterator[Cause]:
    """ValidateDataVolumeTemplate. vm: the VM's spec."""
    sources = (("persistentVolumeClaim", "claimName"), ("dataVolume", "name"))
    volumes = vm["template"]["spec"].get("volumes", ())
    used = {volume[source].get(key) for volume in volumes for source, key in sources if volume.get(source)}
    for index, template in enumerate(vm.get("dataVolumeTemplates", ())):
        field = f"spec.dataVolumeTemplate[{index}]"
        cause = _data_volume(template, field, kubevirt.release.has(behaviour.EXTERNAL_POPULATION))
        if cause is not None:
            yield cause
        elif template["metadata"].get("name", "") not in used:
            yield Cause(INVALID, "the template is not among the volumes of the VM; add it there", field)


def _data_volume(template: Spec, field: str, populates_externally: bool) -> Cause | None:
    """validateDataVolume, which stops at the first error."""
    spec = template.get("spec") or {}
    if not template["metadata"].get("name"):
        return Cause(INVALID, "metadata.name is missing; set it", f"{field}.name")
    targets = [spec[target] for target in ("pvc", "storage") if target in spec]
    if len(targets) != 1:
        return Cause(INVALID, "the template needs exactly one of storage and pvc", f"{field}.PVC.Storage")
    external = "dataSource" in targets[0] or "dataSourceRef" in targets[0]
    own = "source" in spec or "sourceRef" in spec
    if external and own:
        return Cause(INVALID, "source excludes dataSource; remove one of them", f"{field}.source")
    if not own and not (external and populates_externally):
        return Cause(INVALID, "the template has no source; set source or sourceRef", f"{field}.source.sourceRef")
    if len(spec.get("source", " ")) != 1:
        return Cause(INVALID, "source needs exactly one source, such as blank or http", f"{field}.source")
    return None


def data_volume_namespaces(vm: Spec, before: Spec | None, namespace: str) -> Iterator[Cause]:
    """validateVirtualMachineDataVolumeTemplateNamespace, if the templates change. before: the stored VM's spec."""
    if before is not None and before.get("dataVolumeTemplates") == vm.get("dataVolumeTemplates"):
        return
    for template, field in items(vm, "spec", "dataVolumeTemplates"):
        other = template["metadata"].get("namespace")
        if other and other != namespace:
            yield Cause(INVALID, f"namespace must be {namespace}, that of the VM, not {other}; remove it", field)


def live_updates(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateLiveUpdateFeatures."""
    if not kubevirt.live_updates:
        return
    yield from cpu.SOCKETS(spec, path, kubevirt)
    maximum = (spec["domain"].get("memory") or {}).get("maxGuest")
    if maximum is not None:
        try:
            check_memory_hotplug(spec, maximum)
        except KubeVirtError as error:
            yield Cause(INVALID, error.message, f"{path}.domain.memory.guest")
