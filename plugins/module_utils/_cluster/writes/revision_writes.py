"""Makes virt-controller capture other revisions of VMs, and applies these to their guests."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from ..._resolver.api.keys import FIELD_MANAGER
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.managed_fields import leaf_fields
from ..._resolver.api.manifest import Manifest, Progress
from ..._resolver.api.matcher import MatcherField
from ..._resolver.api.tree import value_at
from ..._resolver.api.write import merge_patch
from ..._resolver.api.writers import REVERTED, writer_claim
from ..._resolver.refresh import recapture
from ..._resolver.refresh.controller_revisions import is_captured
from ..._resolver.refresh.drift import Drift
from ..._resolver.refresh.revision_change import RevisionChange
from ..client.concurrency import seconds_left
from ..client.errors import ApiError, ConnectionFailed, RequestFailed
from ..client.session import Session
from ..reads.admission import Mutators
from ..reads.watch import state_until, wait_in_namespaces
from ..task import Task
from .engine import run_dry, run_writes, send
from .restarts import bump_generation
from .revision_outcome import RevisionOutcome, is_terminating
from .revision_restarts import update_guests

_VM = KINDS["VirtualMachine"]
_STATUS: Final = "status"
_KIND: Final = "kind"
# virt-controller's cache of instancetypes is less than a second behind.
_TRIES: Final = 4
_LAG: Final = 1.0
_CAPTURE: Final = "KubeVirt to capture the revision"


def change(
    session: Session,
    inspected: list[Drift],
    decide: Callable[[Drift], RevisionChange],
    restart: str,
    task: Task,
) -> list[RevisionOutcome]:
    """Gives VMs the revisions that `decide` chooses.

    restart: `never`, `if_required` or `always`. Guests are restarted once all VMs have their revisions. If an earlier
    run changed a VM but was interrupted before the restart, this run restarts it.

    A VM whose change KubeVirt would reject is left unchanged and fails. One that is being deleted is left unchanged:
    KubeVirt captures nothing for it any more.
    """
    outcomes = [_planned(vm, RevisionChange() if is_terminating(vm) else decide(vm), restart) for vm in inspected]
    due = [outcome for outcome in outcomes if outcome.change.due and outcome.due]
    if task.check_mode:
        if task.server_dry_run:
            _dry_run(session, due, task)
        return outcomes
    _give_revisions(session, due, task)
    for outcome in outcomes:
        outcome.restart = outcome.restart and outcome.failed is None
    update_guests(session, outcomes, task)
    return outcomes


def _planned(before: Drift, decided: RevisionChange, restart: str) -> RevisionOutcome:
    outcome = RevisionOutcome(before, decided)
    if decided.refusal is not None:
        outcome.failed = f"{decided.refusal}; nothing was changed"
        return outcome
    outcome.plan_restart(restart)
    fields = leaf_fields({"spec": decided.spec}) if decided.spec else {}
    if found := writer_claim(before.vm, fields, FIELD_MANAGER):
        outcome.warn(found.text(REVERTED))
    return outcome


def _patch(session: Session, before: Drift, body: Manifest, part: str | None = None) -> Manifest | None:
    """Sends a merge patch. The fields that it sets do not conflict with a play that declares the VM."""
    path = _VM.path(before.namespace, before.name, part)
    return send(session, merge_patch(path, body, fieldManager=session.field_manager))


def _give_revisions(session: Session, outcomes: list[RevisionOutcome], task: Task) -> None:
    """Gives the VMs the decided revisions. Failures go into the outcomes.

    If KubeVirt could not start a VM with them, the VM gets its previous revisions back and fails.
    """
    deadline = time.monotonic() + task.wait_timeout
    methods = _methods(session, outcomes)
    run_writes(outcomes, lambda outcome: _write(session, outcome, methods), task)
    _await_captures(session, _not_failed(outcomes), task, deadline)
    _repeat_stale(session, _not_failed(outcomes), task, deadline)
    run_writes(
        [outcome for outcome in _not_failed(outcomes) if outcome.change.afterwards],
        lambda outcome: _patch(session, outcome.before, outcome.change.afterwards or {}),
        task,
    )
    unchecked = [outcome for outcome in _not_failed(outcomes) if not outcome.change.expected]
    run_writes(unchecked, lambda outcome: _check_start(session, outcome), task)
    _await(session, [outcome for outcome in outcomes if outcome.rolled_back], _is_rolled_back, deadline)
    run_writes(
        [outcome for outcome in outcomes if outcome.rolled_back and outcome.pins_to_remove],
        lambda outcome: _patch(session, outcome.before, recapture.unpin_patch(outcome.pins_to_remove)),
        task,
    )
    for outcome in outcomes:
        if (vm := outcome.vm) is not None and not outcome.rolled_back:
            outcome.revisions = {
                matcher_field.matcher: recapture.captured_name(vm, matcher_field)
                for matcher_field in outcome.change.matcher_fields
                if matcher_field.matcher_of(vm)
            }


def _dry_run(session: Session, outcomes: list[RevisionOutcome], task: Task) -> None:
    """Sends the first writes as dry runs. A refusal is a failure; an unknown outcome is a warning."""
    client, methods = session.dry_run_session(), _methods(session, outcomes)

    def dry_run(outcome: RevisionOutcome) -> None:
        run_dry(outcome, lambda _outcome: _write(client, outcome, methods))
        outcome.written = False

    run_writes(outcomes, dry_run, task)


def _methods(session: Session, outcomes: list[RevisionOutcome]) -> dict[str, str]:
    """The method to capture again, by namespace: one request for each."""
    methods: dict[str, str] = {}
    for outcome in outcomes:
        if outcome.change.recapture and outcome.namespace not in methods:
            methods[outcome.namespace] = _method(session, outcome)
    return methods


def _method(session: Session, outcome: RevisionOutcome) -> str:
    """`status` if the task may patch the status: that leaves the spec unchanged and needs only one capture."""
    try:
        patch = recapture.recapture_patch(_fields_to_recapture(outcome))
        _patch(session.dry_run_session(), outcome.before, patch, _STATUS)
    except ApiError as error:
        if error.code == 403:
            outcome.status_denied = error.message
            return _KIND
    except ConnectionFailed:
        # The write reports the error.
        pass
    return _STATUS


def _write(session: Session, outcome: RevisionOutcome, methods: Mapping[str, str]) -> None:
    before, decided = outcome.before, outcome.change
    if decided.spec is not None:
        answer = _patch(session, before, {"spec": decided.spec}) or {}
        if undone := _undone(answer, decided.spec):
            outcome.failed = Mutators(session).undone(f"spec.{undone}.name", _VM, before.namespace)
            return
        outcome.written = True
    if not decided.recapture:
        return
    outcome.method = methods[before.namespace]
    if outcome.method == _STATUS and recapture.must_bump_generation(before):
        _bump(session, outcome)
    _recapture(session, outcome, before.vm)


def _undone(answer: Manifest, spec: Manifest) -> str:
    """The matcher whose name the answer to a patch does not have; "" for none."""
    for matcher, part in spec.items():
        name = part.get("name") if isinstance(part, dict) else None
        if name and value_at(answer, ("spec", matcher, "name")) not in (None, name):
            return matcher
    return ""


def _bump(session: Session, outcome: RevisionOutcome) -> None:
    try:
        outcome.bumps_generation = bump_generation(session, outcome.before.vm, outcome) and outcome.bumps_generation
    except ApiError as error:
        # KubeVirt rejects a VM without its revision until it has captured one. The task checks again before a restart.
        if error.code != 422:
            raise


def _recapture(session: Session, outcome: RevisionOutcome, vm: Manifest) -> None:
    """Makes virt-controller capture the revisions again."""
    if outcome.method == _STATUS:
        try:
            _patch(session, outcome.before, recapture.recapture_patch(_fields_to_recapture(outcome)), _STATUS)
            outcome.written = True
            return
        except ApiError as error:
            if error.code != 403:
                raise
            outcome.method, outcome.status_denied = _KIND, error.message
    alias, outcome.restore_kinds = recapture.kind_alias_patches(vm, _fields_to_recapture(outcome))
    try:
        _patch(session, outcome.before, alias)
    except ApiError as error:
        if error.code == 403 and outcome.status_denied:
            # Either permission suffices; the error names only the last one, so add the other.
            error.message += f". Permission to patch virtualmachines/status would suffice too ({outcome.status_denied})"
        raise
    outcome.written = True


def _await_captures(session: Session, outcomes: list[RevisionOutcome], task: Task, deadline: float) -> None:
    """Waits for the captures, and gives matchers of another kind their previous one, captured in time or not."""
    _await(session, [outcome for outcome in outcomes if outcome.method != _KIND], _has_captured, deadline)
    respelt = [outcome for outcome in outcomes if outcome.method == _KIND and outcome.failed is None]
    _await(session, respelt, _has_captured, deadline)

    def restore(outcome: RevisionOutcome) -> None:
        vm, matcher_fields = outcome.vm, _fields_to_recapture(outcome)
        is_expanded = vm is not None and not all(matcher_field.matcher_of(vm) for matcher_field in matcher_fields)
        if outcome.restore_kinds is None or is_expanded:
            return
        try:
            _patch(session, outcome.before, outcome.restore_kinds)
        except ApiError as error:
            if error.code != 422:
                raise
            _roll_back(session, outcome, error)

    run_writes(respelt, restore, task)
    _await(session, _not_failed(respelt), _has_captured, deadline)


def _repeat_stale(session: Session, outcomes: list[RevisionOutcome], task: Task, deadline: float) -> None:
    """Captures again if virt-controller captured an older generation than the current one."""
    for attempt in range(_TRIES):
        stale = [outcome for outcome in _not_failed(outcomes) if outcome.change.recapture and _is_stale(outcome)]
        if not stale:
            return
        if attempt == _TRIES - 1:
            break
        time.sleep(_LAG)
        run_writes(stale, lambda outcome: _recapture(session, outcome, outcome.vm or outcome.before.vm), task)
        _await_captures(session, _not_failed(stale), task, deadline)
    for outcome in stale:
        outcome.failed = "KubeVirt keeps capturing an older generation than the current one; run the task again later"


def _check_start(session: Session, outcome: RevisionOutcome) -> None:
    """Checks by a dry run that KubeVirt still accepts the VM; if not, its next start would fail."""
    try:
        _patch(session.dry_run_session(), outcome.before, recapture.DRY_RUN_PATCH)
    except ApiError as error:
        if error.code == 422:
            _roll_back(session, outcome, error)
        elif error.code != 403:
            raise


def _roll_back(session: Session, outcome: RevisionOutcome, refusal: ApiError) -> None:
    outcome.failed = f"KubeVirt could not start the VM after the change: {refusal}"
    previous = recapture.state_before(outcome.before, outcome.change.matcher_fields, outcome.change.spec)
    if previous is None:
        outcome.failed += "; the VM has lost its previous revisions, so the task could not restore them"
        return
    try:
        _patch(session, outcome.before, recapture.rollback_patch(previous))
    except RequestFailed as error:
        outcome.failed += f"; restoring the previous revisions failed: {error}"
        return
    outcome.rolled_back = True
    outcome.pins_to_remove = recapture.pins_to_remove(outcome.before.vm, previous)
    outcome.failed += "; the task restored the previous revisions"


def _await(
    session: Session,
    outcomes: list[RevisionOutcome],
    done: Callable[[Manifest, RevisionOutcome], bool],
    deadline: float,
) -> None:
    """Waits with one watch for each namespace."""

    def probe(outcome: RevisionOutcome, live: Manifest | None) -> Progress:
        return state_until(lambda vm: done(vm, outcome), live, _CAPTURE)

    members = {(outcome.namespace, outcome.name): outcome for outcome in outcomes}
    probes = {key: partial(probe, outcome) for key, outcome in members.items()}
    for key, (live, failure) in wait_in_namespaces(session, _VM, probes, seconds_left(deadline)).items():
        outcome = members[key]
        outcome.vm = live or outcome.vm
        if failure is not None or live is None:
            outcome.failed = outcome.failed or failure or "the VM no longer exists"


def _not_failed(outcomes: list[RevisionOutcome]) -> list[RevisionOutcome]:
    return [outcome for outcome in outcomes if outcome.failed is None]


def _fields_to_recapture(outcome: RevisionOutcome) -> list[MatcherField]:
    """The matcher fields whose references the task clears. Up to KubeVirt 1.4, a patch of the spec clears the rest."""
    return [
        matcher_field
        for matcher_field in outcome.change.matcher_fields
        if matcher_field.matcher not in (outcome.change.spec or {})
    ]


def _is_stale(outcome: RevisionOutcome) -> bool:
    return bool(recapture.stale_fields(outcome.vm or {}, outcome.before, _fields_to_recapture(outcome)))


def _has_captured(live: Manifest, outcome: RevisionOutcome) -> bool:
    expected = outcome.change.expected or {}
    for matcher_field in outcome.change.matcher_fields:
        name = recapture.captured_name(live, matcher_field)
        if not matcher_field.matcher_of(live):
            continue  # the cluster's reference policy has expanded the VM
        if (
            name != expected[matcher_field.matcher]
            if matcher_field.matcher in expected
            else not is_captured(live, matcher_field)
        ):
            return False
    return True


def _is_rolled_back(live: Manifest, outcome: RevisionOutcome) -> bool:
    return all(
        matcher_field not in outcome.change.matcher_fields
        or recapture.captured_name(live, matcher_field) == part.revision
        for matcher_field, part in outcome.before.parts.items()
    )
