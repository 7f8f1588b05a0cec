"""Gives VMs other revisions and applies these to their guests."""

from __future__ import annotations

from collections.abc import Callable

from ..._resolver.kubevirt.vmi.outstanding import start_revision_name
from ..._resolver.kubevirt.vmi.readiness import has_guest, still_asked
from ..._resolver.refresh import recapture
from ..._resolver.refresh.revision_change import RevisionChange
from ..client.session import Session
from ..read.revisions import Inspected
from .changed import Changed
from .guests import Guests
from .recapture import Recapture
from .settings import Settings


def change(
    session: Session,
    seen: list[Inspected],
    decide: Callable[[Inspected], RevisionChange],
    restart: str,
    settings: Settings,
) -> list[Changed]:
    """Gives VMs the revisions that `decide` chooses.

    restart: `never`, `if_required` or `always`. Guests are restarted once all VMs have their revisions. If an earlier
    run changed a VM but was interrupted before the restart, this run restarts it.

    A VM whose change KubeVirt would reject is left unchanged and fails. One that is being deleted is left unchanged:
    KubeVirt captures nothing for it any more.
    """
    results = [_planned(one, _decided(one, decide), restart) for one in seen]
    due = [result for result in results if result.change.due and result.due]
    if settings.check_mode:
        if settings.server_dry_run:
            Recapture(session.rehearsal(), settings).rehearse(due)
        return results
    Recapture(session, settings).run(due)
    for result in results:
        result.restart = result.restart and result.failed is None
    Guests(session, settings).run([result for result in results if _has_guest_to_look_at(result)])
    return results


def _has_guest_to_look_at(result: Changed) -> bool:
    if result.failed is not None:
        return False
    return result.restart or result.raised or (result.change.due and (result.may_restart or result.may_be_live))


def _decided(seen: Inspected, decide: Callable[[Inspected], RevisionChange]) -> RevisionChange:
    return RevisionChange() if _is_ending(seen) else decide(seen)


def _is_ending(seen: Inspected) -> bool:
    return bool(seen.vm["metadata"].get("deletionTimestamp"))


def _planned(seen: Inspected, decided: RevisionChange, restart: str) -> Changed:
    result = Changed(seen, decided, vm=seen.vm, always=restart == "always")
    if decided.refusal is not None:
        result.failed = f"{decided.refusal}; nothing was changed"
    elif has_guest(seen.vm) and not _is_ending(seen):
        result.may_restart = restart != "never"
        _plan_restart(result)
    return result


def _plan_restart(result: Changed) -> None:
    seen, decided = result.before, result.change
    if decided.due:
        live = decided.effect is None or decided.effect.live
        result.restart = result.may_restart and (result.always or not live or seen.restart_required)
    elif seen.asked_to_restart and seen.guest_current:
        result.settled = True
        start = seen.revisions.by_name.get(start_revision_name(seen.vm))
        result.raised = result.may_restart and recapture.keeps_restart_required(seen.vm, start)
        if not result.raised:
            result.warnings.append(still_asked(seen.vm))
    else:
        result.restart = result.may_restart and seen.restart_required
