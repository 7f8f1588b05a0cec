"""Predicts the effect of any change of a VM on its guest.

A change is a pair of VMs: a new declaration, other revisions, another instancetype. The pair of a VM and itself shows
the earlier changes that the guest lacks.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from ..api.errors import KubeVirtError, value_or_none
from ..api.manifest import Manifest
from ..api.matcher import MATCHER_FIELDS
from ..api.tree import copy, shown_differences
from ..kubevirt.admission.mutate import AdmissionResult
from ..kubevirt.cluster import Cluster
from ..kubevirt.instancetype import revision_names
from ..kubevirt.instancetype.find import Specs
from ..kubevirt.vm import defaults, live_update
from ..kubevirt.vm.device_hotplug import migrates
from ..kubevirt.vm.hotplug import LiveUpdate
from ..kubevirt.vm.readiness import HALTED, restart_required, run_strategy
from ..kubevirt.vm.start import is_unchanged_since_start, started_vm
from ..kubevirt.vm.vmi import build, guest_figures
from .effect import LIVE, NOTHING, RESTART, UNKNOWN, UNREAD_VMI, GuestEffect, MaybeVMI
from .outstanding import outstanding

_UNREQUESTED: Final = "KubeVirt does not ask for a restart, but the guest gets {fields} only at its next start"
_NO_REASON: Final = "no reason is given"


def guest_effect(
    before: Manifest,
    after: Manifest,
    vmi: MaybeVMI,
    cluster: Cluster,
    specs_before: Specs | None = None,
    specs_after: Specs | None = None,
    *,
    compare_all: bool = False,
) -> GuestEffect:
    """The effect of a change on the guest of a VM.

    before, after: the VM before and after the change, plain manifests; one object for what the guest lacks already.
    vmi: its VMI; one that does not run yet counts, too: KubeVirt compares the VM with it, and makes no other.
    specs_before, specs_after: see `vmi.build`.
    compare_all: compare everything that the VM declares with the guest, not only what has changed since its start:
    KubeVirt keeps the revision of an earlier start of the same generation, so it may not be that of this guest.
    """
    running = _running(before, after, vmi, cluster, specs_before)
    try:
        built = build(after, cluster, specs_after)
    except KubeVirtError as error:
        return _unknown(before, running, error.message)
    if running is None:
        earlier = built.spec if before is after else _start_spec(before, cluster, specs_before)
        return _without_guest(earlier, built.spec)
    started = started_vm(before, running, cluster.objects)
    if before is after and not compare_all:
        if vmi is UNREAD_VMI:
            return _unchanged(after, built.spec, running, RESTART)
        if is_unchanged_since_start(after, running, started):
            return _unchanged(after, built.spec, running, NOTHING)
    start, specs = (before, specs_before) if started is None else (started, None)
    at_start = _start_spec(start, cluster, specs)
    reconciled = live_update.reconcile(start, after, running, cluster, specs, specs_after)
    # Without the revision of the start, the VM alone does not tell what has changed since.
    known = at_start if (started is not None or vmi is UNREAD_VMI) and not compare_all else None
    lacks, remaining = (
        outstanding(built.spec, known, spec, cluster.kubevirt) for spec in (running["spec"], reconciled.spec)
    )
    if migrates(after):
        # A guest that is to migrate to other volumes is not to lose its data by a restart.
        remaining = tuple(field for field in remaining if not field.startswith("volumes."))
    current = _as_running(at_start or built.spec, running["spec"], built.spec)
    effect = GuestEffect(
        NOTHING,
        guest_before=guest_figures(running["spec"]),
        guest_after=guest_figures(built.spec),
        changes=_changes(current, built.spec),
        outstanding=lacks,
    )
    condition = restart_required(before)
    if before is not after:
        condition = live_update.remaining_condition(before, cluster.release)
    return _judged(effect, reconciled.update, remaining, condition, running["status"].get("phase") == "Running")


def admitted_effect(vm: Manifest, future: AdmissionResult, vmi: MaybeVMI, cluster: Cluster) -> GuestEffect:
    """The effect of a planned change. vm: the live VM. future: the VM after the change, as admission leaves it."""
    if future.admitted is None:
        return GuestEffect(UNKNOWN, refusal=future.refusal.message if future.refusal is not None else None)
    return guest_effect(vm, _captured(future.admitted), vmi, cluster)


def _captured(vm: Manifest) -> Manifest:
    """The VM without references to revisions that virt-controller captures again."""
    vm = copy(vm)
    for matcher_field in MATCHER_FIELDS:
        matcher, reference = matcher_field.matcher_of(vm), matcher_field.reference_of(vm)
        if matcher and reference and revision_names.recapture_fields(matcher, reference):
            del vm["status"][matcher_field.reference]
    return vm


def _running(
    before: Manifest, after: Manifest, vmi: MaybeVMI, cluster: Cluster, specs: Specs | None
) -> Manifest | None:
    """The VMI that takes up changes of the VM, or None."""
    if run_strategy(after) == HALTED:
        return None
    if vmi is UNREAD_VMI:
        return assumed_vmi(before, cluster, specs)
    return vmi if vmi is not None and live_update.can_apply_live(vmi) else None


def _start_spec(vm: Manifest, cluster: Cluster, specs: Specs | None) -> Manifest | None:
    """The spec of the VMI that a VM starts with; None if KubeVirt cannot start it."""
    built = value_or_none(build, vm, cluster, specs)
    return None if built is None else built.spec


def assumed_vmi(vm: Manifest, cluster: Cluster, specs: Specs | None = None) -> Manifest | None:
    """The VMI of a VM that runs as it declares, with a guest that can migrate unless the VM's status says otherwise.

    None for a VM that does not run by its run strategy or its status, or that KubeVirt cannot start.
    """
    status = vm.get("status") or {}
    built = value_or_none(build, vm, cluster, specs)
    if run_strategy(vm) == HALTED or (status and not status.get("created")) or built is None:
        return None
    spec = copy(built.spec)
    with suppress(ValueError):
        # KubeVirt ignores a malformed configuration of the maximums.
        defaults.set_vmi_defaults(spec, cluster.kubevirt)
    memory = spec["domain"]["memory"].get("guest")
    return {
        "metadata": built.metadata,
        "spec": spec,
        "status": {
            "phase": "Running",
            "memory": {"guestAtBoot": memory, "guestCurrent": memory},
            "conditions": status.get("conditions") or [] if status else [{"type": "LiveMigratable", "status": "True"}],
        },
    }


def _unknown(vm: Manifest, vmi: Manifest | None, refusal: str) -> GuestEffect:
    """The effect of a change after which KubeVirt cannot start the VM."""
    if vmi is None:
        return GuestEffect(UNKNOWN, refusal=refusal)
    effect = _unchanged(vm, {"domain": {}}, vmi, UNKNOWN)
    return effect._replace(needs=UNKNOWN, refusal=refusal, guest_after={})


def _without_guest(before: Manifest | None, after: Manifest) -> GuestEffect:
    """The effect on the next start. before, after: VMI specs; `before` is None for a VM that could not start."""
    if before is None:
        return GuestEffect(NOTHING, guest_after=guest_figures(after))
    changes = () if before is after else _changes(before, after)
    return GuestEffect(NOTHING, guest_before=guest_figures(before), guest_after=guest_figures(after), changes=changes)


def _changes(before: Manifest, after: Manifest) -> tuple[Manifest, ...]:
    """The differences of VMI specs, without secrets."""
    # virt-api adds the disk type to the VMI, a preference with devices adds it to the VM; the guest is the same.
    for disk in (disk for spec in (before, after) for disk in spec["domain"]["devices"].get("disks") or ()):
        if not disk.keys() & {"disk", "lun", "cdrom"}:
            disk["disk"] = {}
    return tuple(shown_differences(before, after))


def _unchanged(vm: Manifest, next_start: Manifest, vmi: Manifest, if_requested: str) -> GuestEffect:
    """The effect on a guest that matches its VM. if_requested: the need of the guest if KubeVirt asks for a restart."""
    condition = restart_required(vm)
    effect = GuestEffect(NOTHING, guest_before=guest_figures(vmi["spec"]), guest_after=guest_figures(next_start))
    if condition is None:
        return effect
    return effect._replace(needs=if_requested, reason=_words_of(condition), requested=True)


def _judged(
    effect: GuestEffect, update: LiveUpdate, remaining: tuple[str, ...], condition: Manifest | None, started: bool
) -> GuestEffect:
    """The effect with what it needs, and why.

    update: the reaction of virt-controller. remaining: the fields that the guest lacks once it has done so. condition:
    the condition RestartRequired that the VM has, and keeps. started: the guest runs; one that does not run yet may
    still get fields for which KubeVirt does not ask for a restart.
    """
    asks = update.restart_required is not None
    requested = condition is not None or (asks and not update.without_condition)
    reason = update.restart_required or ""
    if condition is not None:
        reason = _words_of(condition)
    elif remaining and not asks:
        reason = _UNREQUESTED.format(fields=", ".join(remaining)) if started else ""
    if remaining and (started or asks):
        return effect._replace(needs=RESTART, reason=reason, requested=requested, by_restart=remaining)
    return effect._replace(needs=LIVE if update.changes else NOTHING, reason=reason, requested=requested)


def _words_of(condition: Manifest) -> str:
    return str(condition.get("message") or _NO_REASON)


def _as_running(at_start: Manifest, running: Manifest, next_start: Manifest) -> Manifest:
    """The spec of the guest's start, with what KubeVirt has changed in the running guest since.

    running: the spec of the VMI, with defaults. next_start: the spec of the next start, without defaults as `at_start`.
    """
    spec = copy(at_start)
    for part, field in (("cpu", "sockets"), ("memory", "guest")):
        value = (running["domain"].get(part) or {}).get(field)
        if value is not None and spec["domain"].get(part):
            spec["domain"][part][field] = value
    _align_lists(spec, running, next_start, ("networks", "volumes"))
    own, live, later = (tree["domain"].get("devices") or {} for tree in (spec, running, next_start))
    _align_lists(own, live, later, ("interfaces", "disks"))
    return spec


def _align_lists(spec: Manifest, running: Manifest, next_start: Manifest, fields: tuple[str, ...]) -> None:
    """Gives lists of a spec the items that the guest has: unplugged ones are gone, plugged ones are there.

    Volumes that the VM does not have, and disks, are somebody else's.
    """
    for field in fields:
        has = {entry["name"]: entry for entry in running.get(field) or ()}
        wanted = {entry["name"] for entry in next_start.get(field) or ()}
        present = [entry for entry in spec.get(field) or () if entry["name"] in has or "cdrom" in entry]
        names = {entry["name"] for entry in present}
        plugged = [
            entry
            for name, entry in has.items()
            if name not in names and (name in wanted or field in ("interfaces", "networks"))
        ]
        if present or plugged or field in spec:
            spec[field] = [*present, *plugged]
