"""The path of every module that writes: declared objects → live snapshot → plan → preflight → writes → wait → outcomes.

Check mode sends the writes as dry runs and stops there.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from ..._resolver.api.errors import FieldError
from ..._resolver.api.finding import ERROR, WARNING, Finding
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.managed_fields import FieldPath
from ..._resolver.api.manifest import Manifest, Progress
from ..._resolver.api.writers import CREATED, REVERTED, WriterClaim, remedies, writer_claim, writer_of
from ..._resolver.declare import plan
from ..._resolver.declare.plan import Plan
from ..client.concurrency import map_concurrently, seconds_left
from ..client.errors import RequestFailed
from ..client.session import Session
from ..reads.snapshot import ReadObjects, namespace_problem, read_objects
from ..task import UNKNOWN_IN_CHECK_MODE, Task
from .kind_handler import NOT_PLANNED, DeclaredObject, DeclareOutcome, KindHandler
from .send import NOT_SENT, run_dry, run_writes


def declare(
    session: Session,
    handler: KindHandler,
    declared_objects: list[DeclaredObject],
    task: Task,
    read: ReadObjects = read_objects,
) -> list[DeclareOutcome]:
    """Declares objects. Returns their outcomes in the same order. read: reads the live objects.

    An invalid object stops the task before anything is sent, like an invalid option. An error of the cluster, such as a
    conflict or a missing permission, fails only its object, unless fail_fast is set.
    """
    outcomes = [DeclareOutcome(declared) for declared in declared_objects]
    if not _any_invalid(outcomes):
        _read(session, handler, outcomes, task, read)
    if _any_invalid(outcomes):
        for outcome in outcomes:
            # Nothing was compared with what is there.
            outcome.live = None
            outcome.skip_reason = None if outcome.failed else "not sent because other entries are invalid"
        return outcomes
    planned = [outcome for outcome in outcomes if _is_readable(outcome) and _plan_object(handler, outcome, task)]
    _preflight(handler, planned, task)
    _check_namespaces(session, outcomes, task)
    handler.predict_effects([outcome for outcome in planned if not outcome.failed], task.check_mode)
    if task.check_mode:
        if task.server_dry_run:
            # A dry run would change what is being deleted, instead of creating anything.
            due = [outcome for outcome in outcomes if _is_due(outcome) and outcome.terminating is None]
            _dry_run(session, handler, due, task)
            _revise(session, handler, due, task)
        for outcome in outcomes:
            outcome.restart = outcome.restart and outcome.failed is None
        return outcomes
    created = [outcome for outcome in outcomes if outcome.action == plan.CREATE and _is_due(outcome)]
    _wait(session, handler, created, task, time.monotonic() + task.wait_timeout, created=True)
    if task.fail_fast and _any_failed(outcomes):
        for outcome in outcomes:
            outcome.failed = NOT_SENT.format("object") if outcome.changed else outcome.failed
        return outcomes
    due = [outcome for outcome in outcomes if _is_due(outcome)]
    _write(session, handler, due, task)
    _revise(session, handler, due, task)
    deadline = time.monotonic() + task.wait_timeout
    for outcome in outcomes:
        # Until here `restart` was a forecast; from here on it records what was done.
        outcome.restart = False
    if task.fail_fast and _any_failed(outcomes):
        return outcomes
    handler.restart([outcome for outcome in planned if not outcome.failed], deadline)
    if task.wait:
        _wait(session, handler, filter(_is_readable, outcomes), task, deadline)
    return outcomes


def _is_due(outcome: DeclareOutcome) -> bool:
    return outcome.failed is None and (outcome.action in plan.WRITES or bool(outcome.related_changes))


def _any_invalid(outcomes: Iterable[DeclareOutcome]) -> bool:
    return any(outcome.declared.problem for outcome in outcomes)


def _any_failed(outcomes: Iterable[DeclareOutcome]) -> bool:
    return any(outcome.failed for outcome in outcomes)


def _grouped(outcomes: Iterable[DeclareOutcome]) -> dict[tuple[str, str | None], dict[str, DeclareOutcome]]:
    """Outcomes by kind and namespace, and there by name."""
    groups: dict[tuple[str, str | None], dict[str, DeclareOutcome]] = {}
    for outcome in outcomes:
        key = outcome.declared.key
        groups.setdefault((key.kind, key.namespace), {})[key.name] = outcome
    return groups


def _is_readable(outcome: DeclareOutcome) -> bool:
    return not (outcome.failed or outcome.skip_reason)


def _read(
    session: Session, handler: KindHandler, outcomes: list[DeclareOutcome], task: Task, read: ReadObjects
) -> None:
    """Reads the live objects, and completes what is declared. If a namespace cannot be read, only its objects fail."""
    groups = [list(group.values()) for group in _grouped(outcomes).values()]
    map_concurrently(lambda group: _read_group(session, handler, read, group), groups, task.concurrency)
    present = [outcome for outcome in outcomes if _is_readable(outcome) and outcome.declared.state != "absent"]
    handler.complete(present, task.check_mode)


def _read_group(session: Session, handler: KindHandler, read: ReadObjects, group: list[DeclareOutcome]) -> None:
    """Sets the live objects of a kind and namespace, and shows the handler the others."""
    try:
        objects = read(session, [outcome.declared.key for outcome in group])
    except RequestFailed as error:
        for outcome in group:
            outcome.failed = str(error)
        return
    own = {outcome.declared.key for outcome in group}
    handler.see_others([item for key, item in objects.items() if key not in own])
    for outcome in group:
        live = objects.get(outcome.declared.key)
        if live is not None and live["metadata"].get("deletionTimestamp"):
            # A write does not keep the object from disappearing.
            outcome.terminating, live = live, None
        outcome.live = outcome.live_before = live


def _plan_object(handler: KindHandler, outcome: DeclareOutcome, task: Task) -> bool:
    """Plans an object, and says whether it has a plan. If the live object cannot be parsed, it has none."""
    live = outcome.live
    try:
        step = handler.plan(outcome, task)
    except FieldError as error:
        outcome.failed = (
            f"cannot read the object in the cluster: {error}; if the cluster's KubeVirt is"
            " newer than this collection, upgrade the collection"
        )
        return False
    if outcome.skip_reason:
        outcome.planned = NOT_PLANNED._replace(action=plan.KEEP)
        return False
    outcome.planned = step
    outcome.failed = step.refusal
    outcome.warnings += [_retained_warning(field, managers, live) for field, managers in step.retained]
    if live is not None and (warning := _writer_warning(live, step, handler.manager, task)):
        outcome.warn(warning)
        outcome.of_change.append(warning)
    return True


def _writer_warning(live: Manifest, step: Plan, own: str, task: Task) -> str:
    """The warning of another writer that declares the object, and will revert the change or create the object again; ""
    without such a writer.
    """
    if step.action == plan.DELETE:
        writer = writer_of(live)
        return WriterClaim(writer).text(CREATED) if writer is not None else ""
    if step.refusal or (step.conflict and not task.force_conflicts):
        # The error says the same.
        return ""
    found = writer_claim(live, plan.changed_fields(step), own)
    return found.text(REVERTED) if found is not None else ""


def _retained_warning(field: FieldPath, managers: tuple[str, ...], live: Manifest | None) -> str:
    names = " and ".join(f'"{name}"' for name in managers)
    verb = "own" if len(managers) > 1 else "owns"
    return (
        f"{'.'.join(field)} is no longer declared but stays, because {names} {verb} the field too; to remove it, set"
        f" {remedies(managers, live)}"
    )


def _preflight(handler: KindHandler, planned: list[DeclareOutcome], task: Task) -> None:
    if task.preflight == "off":
        return
    checked = [outcome for outcome in planned if outcome.action in plan.WRITES]
    findings = handler.check(checked) if checked else {}
    for outcome in checked:
        conflict = [] if outcome.planned.conflict is None else [Finding(outcome.planned.conflict)]
        apply_findings(outcome, [*conflict, *findings.get(outcome, [])], task)


def _check_namespaces(session: Session, outcomes: list[DeclareOutcome], task: Task) -> None:
    """Judges deletions from namespaces that do not exist: a misspelt namespace must not pass for an empty one."""
    if task.preflight == "off":
        return
    namespaces = {outcome.declared.key.namespace for outcome in outcomes}
    # This asks only where nothing was found, and costs no request where there is something to delete.
    there = [outcome for outcome in outcomes if outcome.live_before is not None or outcome.terminating is not None]
    for namespace in namespaces - {""} - {outcome.declared.key.namespace for outcome in there}:
        due = [
            outcome
            for outcome in outcomes
            if outcome.declared.key.namespace == namespace and outcome.declared.state == "absent" and not outcome.failed
        ]
        if due and (problem := namespace_problem(session, str(namespace))):
            for outcome in due:
                apply_findings(outcome, [Finding(problem, missing=True)], task)


def apply_findings(outcome: DeclareOutcome, findings: list[Finding], task: Task) -> None:
    """Fails an outcome because of its findings, or turns them into warnings, as the option `preflight` says."""
    if task.check_mode:
        # An earlier task of the play might create a missing object.
        outcome.incomplete = outcome.incomplete or any(finding.missing for finding in findings)
        findings = [
            Finding(f"{finding.line}; {UNKNOWN_IN_CHECK_MODE}", WARNING) if finding.missing else finding
            for finding in findings
        ]
    refused = [found.line for found in findings if found.severity == ERROR and task.preflight == "strict"]
    if refused:
        outcome.failed = "; ".join(refused)
    else:
        for finding in findings:
            outcome.warn(finding.line)
        outcome.of_change += [finding.line for finding in findings]


def _write(session: Session, handler: KindHandler, outcomes: list[DeclareOutcome], task: Task) -> None:
    def write(outcome: DeclareOutcome) -> None:
        handler.write(session, outcome, task)
        # Only the write needs these: half of the memory of each of thousands of objects.
        outcome.planned = outcome.planned._replace(manifest={}, merge_patch={}, fields={})
        for manifest in (outcome.live_before or {}, outcome.live or {}):
            manifest.get("metadata", {}).pop("managedFields", None)

    run_writes(outcomes, write, task)


def _dry_run(session: Session, handler: KindHandler, outcomes: list[DeclareOutcome], task: Task) -> None:
    """Sends the planned writes as dry runs and records what the API server rejects."""
    dry_run_only = session.dry_run_session()

    def dry_run(outcome: DeclareOutcome) -> None:
        run_dry(outcome, lambda _outcome: handler.write(dry_run_only, outcome, task))

    map_concurrently(dry_run, outcomes, task.concurrency)


def _revise(session: Session, handler: KindHandler, outcomes: list[DeclareOutcome], task: Task) -> None:
    """Brings effects and warnings in line with what the API server has answered."""
    revised = [outcome for outcome in outcomes if outcome.answer is not None and not outcome.failed]
    if not revised:
        return
    from ..reads.admission import Mutators

    mutators = Mutators(session)
    for outcome in revised:
        if outcome.action == plan.NONE:
            outcome.warnings = [text for text in outcome.warnings if text not in outcome.of_change]
        for deviation in outcome.deviations:
            key = outcome.declared.key
            outcome.warn(deviation.told("" if deviation.manager else mutators.of(KINDS[key.kind], key.namespace)))
    handler.revise(revised, task.check_mode)
    for outcome in revised:
        outcome.answer = None


def _wait(
    session: Session,
    handler: KindHandler,
    outcomes: Iterable[DeclareOutcome],
    task: Task,
    deadline: float,
    *,
    created: bool = False,
) -> None:
    """Waits for objects, one watch for each kind and namespace, then for the dependents of deleted objects.

    created: the objects are to be created. Then the wait is for objects of their names that are being deleted: a VM
    stays until its guest has shut down.
    """
    groups = _grouped(outcomes)
    if not groups:
        return
    from ..reads.watch import WATCHES, wait_for

    seconds = seconds_left(deadline)

    def wait(group: tuple[str, str | None]) -> None:
        members = groups[group]

        def probe(name: str, live: Manifest | None) -> Progress:
            outcome = members[name]
            if created or outcome.declared.state == "absent":
                pending = "the deletion of the existing object" if created else "the object to disappear"
                return Progress(done=_is_gone(outcome, live), pending=pending)
            return handler.probe(live, outcome.live_before if outcome.written or outcome.retried else None)

        kind, namespace = KINDS[group[0]], group[1]
        watched = [name for name, outcome in members.items() if outcome.terminating is not None or not created]
        waited = (
            wait_for(session, kind, namespace, watched, probe, seconds, deadline, metadata_only=created)
            if watched
            else {}
        )
        for name, (live, failure) in waited.items():
            outcome = members[name]
            outcome.failed = failure
            if not created:
                outcome.live = live
                if live and not failure and (warning := handler.probe(live, None).warning):
                    outcome.warn(warning)
        ended = [
            outcome.declared.manifest if created else outcome.live_before or {}
            for outcome in members.values()
            if not outcome.failed and (created or outcome.action == plan.DELETE)
        ]
        if ended:
            left = seconds_left(deadline)
            for name, failure in handler.await_dependents(namespace, ended, left, created=created).items():
                members[name].failed = failure

    map_concurrently(wait, groups, task.concurrency if created else WATCHES)


def _is_gone(outcome: DeclareOutcome, live: Manifest | None) -> bool:
    """Whether the deleted object no longer exists. Another object may have its name."""
    before = outcome.live_before or outcome.terminating
    return live is None or before is None or live["metadata"].get("uid") != before["metadata"].get("uid")
