"""Compares a running guest with its VM after a change. Only a guest that may lack something is compared."""

from __future__ import annotations

from typing import Final, NamedTuple

from ..api.manifest import Manifest
from ..api.tree import copy
from ..kubevirt.cluster import Cluster
from ..kubevirt.instancetype.find import Specs
from ..kubevirt.vm import live_update
from ..kubevirt.vm.device_hotplug import migrates
from ..kubevirt.vm.hotplug import LiveUpdate
from ..kubevirt.vm.readiness import restart_required
from ..kubevirt.vm.vmi import guest_figures
from .effect import LIVE, NOTHING, RESTART, GuestEffect, changes_between, words_of
from .outstanding import outstanding

_UNREQUESTED: Final = "KubeVirt does not ask for a restart, but the guest gets {fields} only at its next start"


class Start(NamedTuple):
    """The VM with which a guest started, the specs of its revisions, and the spec of the guest's VMI.

    spec: None if KubeVirt could not start the VM. is_known: the VM tells what has changed since.
    """

    vm: Manifest
    specs: Specs | None
    spec: Manifest | None
    is_known: bool


def compare(
    start: Start,
    before: Manifest,
    after: Manifest,
    running: Manifest,
    next_start: Manifest,
    cluster: Cluster,
    specs_after: Specs | None,
) -> GuestEffect:
    """The effect of a change on a running guest; see `predict.guest_effect`.

    running: its VMI. next_start: the spec of the VMI that the VM would start with after the change.
    """
    reconciled = live_update.reconcile(start.vm, after, running, cluster, start.specs, specs_after)
    known = start.spec if start.is_known else None
    lacks, remaining = (
        outstanding(next_start, known, spec, cluster.kubevirt) for spec in (running["spec"], reconciled.spec)
    )
    if migrates(after):
        # A guest that is to migrate to other volumes is not to lose its data by a restart.
        remaining = tuple(field for field in remaining if not field.startswith("volumes."))
    current = _as_running(start.spec or next_start, running["spec"], next_start)
    effect = GuestEffect(
        NOTHING,
        guest_before=guest_figures(running["spec"]),
        guest_after=guest_figures(next_start),
        changes=changes_between(current, next_start),
        outstanding=lacks,
    )
    condition = restart_required(before)
    if before is not after:
        condition = live_update.remaining_condition(before, cluster.release)
    return _judged(effect, reconciled.update, remaining, condition, running["status"].get("phase") == "Running")


def _judged(
    effect: GuestEffect, update: LiveUpdate, remaining: tuple[str, ...], condition: Manifest | None, started: bool
) -> GuestEffect:
    """The effect, completed by `needs` and its reason.

    update: the reaction of virt-controller. remaining: the fields that the guest lacks once it has done so. condition:
    the condition RestartRequired that the VM has, and keeps. started: the guest runs; one that does not run yet may
    still get fields for which KubeVirt does not ask for a restart.
    """
    asks = update.restart_required is not None
    requested = condition is not None or (asks and not update.without_condition)
    reason = update.restart_required or ""
    if condition is not None:
        reason = words_of(condition)
    elif remaining and not asks:
        reason = _UNREQUESTED.format(fields=", ".join(remaining)) if started else ""
    if remaining and (started or asks):
        return effect._replace(needs=RESTART, reason=reason, requested=requested, by_restart=remaining)
    return effect._replace(needs=LIVE if update.changes else NOTHING, reason=reason, requested=requested)


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
