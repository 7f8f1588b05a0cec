"""Predicts the effect of any change of a VM on its guest.

A change is a pair of VMs: a new declaration, other revisions, another instancetype. The pair of a VM and itself shows
the earlier changes that the guest lacks.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from ..api.errors import KubeVirtError, value_or_none
from ..api.manifest import Manifest
from ..api.matcher import MATCHER_FIELDS
from ..api.tree import copy
from ..kubevirt.cluster import Cluster
from ..kubevirt.instancetype import revision_names
from ..kubevirt.instancetype.find import Specs
from ..kubevirt.vm.readiness import HALTED, can_apply_live, restart_required, run_strategy
from ..kubevirt.vm.start import is_unchanged_since_start, started_vm
from ..kubevirt.vm.vmi import build, guest_figures
from .effect import NOTHING, RESTART, UNKNOWN, UNREAD_VMI, GuestEffect, MaybeVMI, changes_between, words_of

if TYPE_CHECKING:
    from ..kubevirt.admission.mutate import AdmissionResult


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
    KubeVirt keeps the revision of an earlier start of the same generation, so this guest may have another one.
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
    # Without the revision of the start, the VM alone does not tell what has changed since.
    is_known = (started is not None or vmi is UNREAD_VMI) and not compare_all
    from .comparison import Start, compare

    return compare(Start(start, specs, at_start, is_known), before, after, running, built.spec, cluster, specs_after)


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
    return vmi if vmi is not None and can_apply_live(vmi) else None


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
    from ..kubevirt.vm.vmi_defaults import set_vmi_defaults

    spec = copy(built.spec)
    with suppress(ValueError):
        # KubeVirt ignores a malformed configuration of the maximums.
        set_vmi_defaults(spec, cluster.kubevirt)
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
    changes = () if before is after else changes_between(before, after)
    return GuestEffect(NOTHING, guest_before=guest_figures(before), guest_after=guest_figures(after), changes=changes)


def _unchanged(vm: Manifest, next_start: Manifest, vmi: Manifest, if_requested: str) -> GuestEffect:
    """The effect on a guest that matches its VM. if_requested: the need of the guest if KubeVirt asks for a restart."""
    condition = restart_required(vm)
    effect = GuestEffect(NOTHING, guest_before=guest_figures(vmi["spec"]), guest_after=guest_figures(next_start))
    if condition is None:
        return effect
    return effect._replace(needs=if_requested, reason=words_of(condition), requested=True)
