"""The path of every module that writes: entries → live snapshot → plan → preflight → writes → wait → results.

Check mode sends the writes as dry runs and stops there.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from typing import Any

from ..._resolver.api import managed_fields as ownership
from ..._resolver.api.errors import FieldError
from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.managed_fields import Field
from ..._resolver.api.manifest import Progress
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.redaction import redact
from ..._resolver.api.write import apply, delete, json_patch, merge_patch
from ..._resolver.api.writers import CREATED, REVERTED, Beside, beside, remedies, writer_of
from ..._resolver.declare import plan, rewrites
from ..._resolver.declare.plan import Plan
from ..._resolver.declare.take_over import patch as taking_over
from ..client.errors import ApiError, Cause, RequestFailed
from ..client.pool import map_concurrently
from ..client.session import Session
from ..reads.snapshot import missing_namespace
from ..reads.watch import WATCHES, wait_for, with_grace
from .engine import NOT_SENT, UNKNOWN_IN_CHECK_MODE, WriteSettings, run_dry, run_writes, send
from .kind_handler import NOT_PLANNED, DeclareOutcome, Entry, Finding, KindHandler

Manifest = dict[str, Any]

# A controller may write the object at the same time.
_ATTEMPTS = 5


def declare(
    session: Session, handler: KindHandler, entries: list[Entry], settings: WriteSettings
) -> list[DeclareOutcome]:
    """Declares the entries; results in the same order.

    An invalid entry stops the task before anything is sent, like an invalid option. An error of the cluster, such as a
    conflict or a missing permission, fails only its entry, unless fail_fast is set.
    """
    results = [DeclareOutcome(entry) for entry in entries]
    if not _any_invalid(results):
        _read(session, handler, results, settings)
    if _any_invalid(results):
        for result in results:
            # Nothing was compared with what is there.
            result.live = None
            result.skip_reason = None if result.failed else "not sent because other entries are invalid"
        return results
    planned = [result for result in results if _is_readable(result) and _plan_entry(handler, result, settings)]
    _preflight(handler, planned, settings)
    _check_namespaces(session, results, settings)
    handler.predict_effects([result for result in planned if not result.failed], settings.check_mode)
    if settings.check_mode:
        if settings.server_dry_run:
            handler.write_related([result for result in planned if not result.failed], session.dry_run_session())
            # A dry run would change what is being deleted, instead of creating anything.
            due = [result for result in results if _is_due(result) and result.terminating is None]
            _dry_run(session, handler, due, settings)
        for result in results:
            result.restart = result.restart and result.failed is None
        return results
    _await_names(session, handler, results, settings)
    if settings.fail_fast and _any_failed(results):
        for result in results:
            result.failed = NOT_SENT.format("object") if result.changed else result.failed
        return results
    _write(session, handler, [result for result in results if _is_due(result)], settings)
    handler.write_related([result for result in planned if not result.failed], session)
    deadline = time.monotonic() + settings.wait_timeout
    for result in results:
        # Until here `restart` was a forecast; from here on it records what was done.
        result.restart = False
    if settings.fail_fast and _any_failed(results):
        return results
    handler.restart([result for result in planned if not result.failed], deadline)
    if settings.wait:
        _retry(session, handler, [result for result in planned if not (result.failed or result.written)], settings)
        _wait(session, handler, [result for result in results if not (result.failed or result.skip_reason)], deadline)
    return results


def _is_due(result: DeclareOutcome) -> bool:
    return result.failed is None and result.action in plan.WRITES


def _any_invalid(results: Iterable[DeclareOutcome]) -> bool:
    return any(result.entry.problem for result in results)


def _any_failed(results: Iterable[DeclareOutcome]) -> bool:
    return any(result.failed for result in results)


def _grouped(results: Iterable[DeclareOutcome]) -> dict[tuple[str, str | None], dict[str, DeclareOutcome]]:
    """Results by kind and namespace, and there by name."""
    groups: dict[tuple[str, str | None], dict[str, DeclareOutcome]] = {}
    for result in results:
        key = result.entry.key
        groups.setdefault((key.kind, key.namespace), {})[key.name] = result
    return groups


def _is_readable(result: DeclareOutcome) -> bool:
    return not (result.failed or result.skip_reason)


def _read(session: Session, handler: KindHandler, results: list[DeclareOutcome], settings: WriteSettings) -> None:
    """Reads the live objects, and completes the entries. If a namespace cannot be read, only its entries fail."""
    groups = [list(group.values()) for group in _grouped(results).values()]
    map_concurrently(lambda group: _read_group(session, handler, group), groups, settings.concurrency)
    present = [result for result in results if _is_readable(result) and result.entry.state != "absent"]
    handler.complete(present, settings.check_mode)


def _read_group(session: Session, handler: KindHandler, group: list[DeclareOutcome]) -> None:
    """Sets the live objects of entries of a kind and namespace."""
    try:
        objects = handler.read(session, [result.entry.key for result in group])
    except RequestFailed as error:
        for result in group:
            result.failed = str(error)
        return
    for result in group:
        live = objects.get(result.entry.key)
        if live is not None and live["metadata"].get("deletionTimestamp"):
            # It goes, whatever is written to it.
            result.terminating, live = live, None
        result.live = result.live_before = live
        result.skip_reason = handler.skip_reason(live) if live is not None else None
        result.action = plan.KEEP if result.skip_reason else result.action


def _plan_entry(handler: KindHandler, result: DeclareOutcome, settings: WriteSettings) -> bool:
    """Plans an entry. If the live object cannot be parsed, the entry fails."""
    entry, live = result.entry, result.live
    try:
        if entry.state == "absent":
            step = plan.absent(entry.manifest, live)
        else:
            desired, owner, notes = handler.reconcile(entry.manifest, live)
            result.warnings += notes
            step = plan.present(desired, live, owner, handler.manager, settings.force_conflicts, settings.take_over)
            step = handler.adjust(step, live)
    except FieldError as error:
        result.failed = (
            f"cannot read the object in the cluster: {error}; if the cluster's KubeVirt is"
            " newer than this collection, upgrade the collection"
        )
        return False
    # The result hides sensitive values; the plan keeps them.
    result.planned, result.action, result.taken_from = step, step.action, step.taken_from
    result.before, result.after = redact(step.before, step.after)
    result.failed = step.refusal
    result.warnings += [_retained_warning(field, managers) for field, managers in step.retained]
    if live is not None and (warning := _beside(live, step, handler.manager, settings)):
        result.warn(warning)
    return True


def _beside(live: Manifest, step: Plan, own: str, settings: WriteSettings) -> str:
    """What another writer that declares the object does next to a change, or to the deletion; "" for nothing."""
    if step.action == plan.DELETE:
        writer = writer_of(live)
        return Beside(writer).text(CREATED) if writer is not None else ""
    if step.refusal or (step.conflict and not settings.force_conflicts):
        # The error says the same.
        return ""
    found = beside(live, plan.changed_fields(step), own)
    return found.text(REVERTED) if found is not None else ""


def _retained_warning(field: Field, managers: tuple[str, ...]) -> str:
    names = " and ".join(f'"{name}"' for name in managers)
    verb = "own" if len(managers) > 1 else "owns"
    return (
        f"{'.'.join(field)} is no longer declared but stays, because {names} {verb} the field too; to remove it, set"
        f" {remedies(managers)}"
    )


def _preflight(handler: KindHandler, planned: list[DeclareOutcome], settings: WriteSettings) -> None:
    if settings.preflight == "off":
        return
    for check, actions in ((handler.preflight, (plan.CREATE, plan.APPLY)), (handler.deletion, (plan.DELETE,))):
        checked = [result for result in planned if result.planned.action in actions]
        for result, findings in zip(checked, check(checked) if checked else []):
            conflict = [] if result.planned.conflict is None else [Finding(result.planned.conflict)]
            apply_findings(result, [*conflict, *findings], settings)


def _check_namespaces(session: Session, results: list[DeclareOutcome], settings: WriteSettings) -> None:
    """Judges deletions from namespaces that do not exist: a misspelt namespace must not pass for an empty one."""
    if settings.preflight == "off":
        return
    namespaces = {result.entry.key.namespace for result in results}
    # Only where nothing was found, which costs no request where there is something to delete.
    there = [result for result in results if result.live_before is not None or result.terminating is not None]
    for namespace in namespaces - {""} - {result.entry.key.namespace for result in there}:
        due = [
            result
            for result in results
            if result.entry.key.namespace == namespace and result.entry.state == "absent" and not result.failed
        ]
        if due and (problem := missing_namespace(session, str(namespace))):
            for result in due:
                apply_findings(result, [Finding(problem, missing=True)], settings)


def apply_findings(result: DeclareOutcome, findings: list[Finding], settings: WriteSettings) -> None:
    """Fails a result because of its findings or turns them into warnings, depending on the option `preflight`."""
    if settings.check_mode:
        # An earlier task of the play might create a missing object.
        result.incomplete = result.incomplete or any(finding.missing for finding in findings)
        findings = [
            Finding(f"{finding.text}; {UNKNOWN_IN_CHECK_MODE}", note=True) if finding.missing else finding
            for finding in findings
        ]
    refused = [finding.text for finding in findings if not finding.note and settings.preflight == "strict"]
    if refused:
        result.failed = "; ".join(refused)
    else:
        result.warnings += [finding.text for finding in findings]


def _await_names(
    session: Session, handler: KindHandler, results: list[DeclareOutcome], settings: WriteSettings
) -> None:
    """Waits for the objects whose names the objects to create have, and for the dependents of such objects."""
    created = _grouped(result for result in results if result.action == plan.CREATE and _is_due(result))
    deadline = time.monotonic() + settings.wait_timeout

    def wait(group: tuple[str, str | None]) -> None:
        kind, namespace = group
        members = created[group]
        _wait_for_ends(session, KINDS[kind], namespace, members, deadline)
        manifests = [result.entry.manifest for result in members.values() if not result.failed]
        seconds = max(0.0, deadline - time.monotonic())
        for name, failure in handler.await_old_dependents(namespace, manifests, seconds).items():
            members[name].failed = failure

    map_concurrently(wait, created, settings.concurrency)


def _wait_for_ends(
    session: Session, kind: Kind, namespace: str | None, members: dict[str, DeclareOutcome], deadline: float
) -> None:
    """Waits until the objects that are being deleted are gone: a VM stays until its guest has shut down."""
    ending = {name: result for name, result in members.items() if result.terminating is not None}

    def probe(name: str, live: Manifest | None) -> Progress:
        return Progress(done=_is_gone(ending[name], live), pending="the deletion of the existing object")

    if ending:
        seconds = max(0.0, deadline - time.monotonic())
        for name, ended in wait_for(session, kind, namespace, ending, probe, seconds, metadata_only=True).items():
            members[name].failed = ended.failure


def _write(session: Session, handler: KindHandler, results: list[DeclareOutcome], settings: WriteSettings) -> None:
    def write(result: DeclareOutcome) -> None:
        handler.request(session, result, settings.wait_timeout)
        if result.failed:
            return
        for live in _send_plan(session, result, settings.force_conflicts):
            result.live, result.written = live, True
        if result.taken_from and result.live is not None:
            result.owners = _owners(result.live, session.field_manager)
        # Only the plan needs these: half of the memory of each of thousands of objects.
        result.planned = NOT_PLANNED
        for manifest in (result.live_before or {}, result.live or {}):
            manifest.get("metadata", {}).pop("managedFields", None)

    run_writes(results, write, settings)


def _owners(live: Manifest, own: str) -> dict[str, list[str]]:
    """The fields of an object that other managers own, by manager."""
    owners: dict[str, list[str]] = {}
    for manager, fields in ownership.others(live, own):
        owners.setdefault(manager, []).extend(sorted(".".join(path) for path in fields))
    return owners


def _dry_run(session: Session, handler: KindHandler, results: list[DeclareOutcome], settings: WriteSettings) -> None:
    """Sends the planned writes as dry runs and records what the API server rejects."""
    dry_run_only = session.dry_run_session()

    def dry_run(result: DeclareOutcome) -> None:
        handler.request(dry_run_only, result, settings.wait_timeout)
        for _live in _send_plan(dry_run_only, result, settings.force_conflicts):
            pass

    map_concurrently(lambda result: run_dry(result, dry_run), results, settings.concurrency)


def _send_plan(session: Session, result: DeclareOutcome, force: bool) -> Iterator[Manifest | None]:
    """Sends the writes of a plan; after each one, the object as far as the task knows it, None if it is deleted.

    Raises RequestFailed.
    """
    key, step, live = result.entry.key, result.planned, result.live_before
    uid = live["metadata"].get("uid") if live is not None else None
    if step.action == plan.DELETE:
        send(session, delete(key.path, uid))
        yield None
        return
    if step.taken_from and live is not None:
        _take_over(session, key, step, live)
        yield live
    if step.merge_patch:
        patch: Manifest = {}
        for path, value in step.merge_patch.items():
            node = patch
            for part in path[:-1]:
                node = node.setdefault(part, {})
            node[path[-1]] = value
        send(session, merge_patch(key.path, patch, fieldManager=session.field_manager))
        yield live
    if session.is_dry_run and (step.taken_from or step.merge_patch):
        # The apply depends on these patches, which a dry run does not store.
        return
    # For the live object and for no other: an apply would create anew what has been deleted meanwhile, while its
    # revisions still wait for the garbage collector.
    own = {"metadata": {**step.manifest["metadata"], "uid": uid}} if uid else {}
    metadata = _apply(session, key, {**step.manifest, **own}, force, live or {})["metadata"]
    yield {**plan.merged(step, live), "metadata": metadata}


def _take_over(session: Session, key: ObjectKey, step: Plan, live: Manifest) -> None:
    """Transfers the fields of other managers to this field manager. A conflict is retried with the current object."""
    for retries in reversed(range(_ATTEMPTS)):
        typed = {**live, "apiVersion": KINDS[key.kind].api_version}
        steps = taking_over(typed, step.fields, session.field_manager, step.taken_from)
        try:
            send(session, json_patch(key.path, steps, fieldManager=session.field_manager))
            return
        except ApiError as error:
            if error.code != 409 or not retries:
                raise
        current = session.get(KINDS[key.kind], key.namespace, key.name)
        if current is None:
            return
        live = current


def _apply(session: Session, key: ObjectKey, manifest: Manifest, force: bool, live: Manifest) -> Manifest:
    try:
        return send(session, apply(key.path, manifest, session.field_manager, force)) or {}
    except ApiError as error:
        conflict = error.code == 409 and bool(error.causes)
        if conflict and all(_is_taken(cause, session.field_manager, live) for cause in error.causes):
            return send(session, apply(key.path, manifest, session.field_manager, force=True)) or {}
        raise


def _is_taken(cause: Cause, own: str, live: Manifest) -> bool:
    """Whether the task takes a field without force_conflicts.

    That is the case if this manager set it by another request than an apply, or if KubeVirt wrote it by itself, as
    virt-api does after a start or stop. live: the object before.
    """
    manager = cause.message.partition('"')[2].partition('"')[0]
    return manager == own or rewrites.taken_back(manager, tuple(cause.field.removeprefix(".").split(".")), live)


def _retry(session: Session, handler: KindHandler, results: list[DeclareOutcome], settings: WriteSettings) -> None:
    """Makes controllers try again that have failed before, and that would do so only minutes later.

    Nothing that the task declares changes. Who may not write the object waits for the controller.
    """
    patches = {result: patch for result in results if result.live and (patch := handler.retry_patch(result.live))}

    def retry(result: DeclareOutcome) -> None:
        write = merge_patch(result.entry.key.path, patches[result], fieldManager=session.field_manager)
        with contextlib.suppress(RequestFailed):
            result.retried = send(session, write) is not None

    map_concurrently(retry, patches, settings.concurrency)


def _wait(session: Session, handler: KindHandler, results: list[DeclareOutcome], deadline: float) -> None:
    groups = _grouped(results)
    seconds = max(0.0, deadline - time.monotonic())

    def wait(group: tuple[str, str | None]) -> None:
        members = groups[group]

        def probe(name: str, live: Manifest | None) -> Progress:
            result = members[name]
            if result.entry.state == "absent":
                return Progress(done=_is_gone(result, live), pending="the object to disappear")
            state = handler.probe(live)
            updated = (result.written or result.retried) and live is not None and result.live_before is not None
            unchanged = updated and handler.same_status(live or {}, result.live_before or {})
            return with_grace(state) if unchanged else state

        kind, namespace = KINDS[group[0]], group[1]
        for name, ended in wait_for(session, kind, namespace, members, probe, seconds, deadline).items():
            members[name].live = ended.object
            members[name].failed = ended.failure
            if ended.object is not None and not ended.failure and (text := handler.remark(ended.object)):
                members[name].warn(text)
        gone = {name: result for name, result in members.items() if result.action == plan.DELETE and not result.failed}
        deleted = [result.live_before for result in gone.values() if result.live_before is not None]
        left = max(0.0, deadline - time.monotonic())
        for name, failure in (handler.await_dependents(namespace, deleted, left) if deleted else {}).items():
            members[name].failed = failure

    map_concurrently(wait, groups, WATCHES)


def _is_gone(result: DeclareOutcome, live: Manifest | None) -> bool:
    """Whether the object that was to be deleted no longer exists; somebody may have created another of its name."""
    before = result.live_before or result.terminating
    return live is None or before is None or live["metadata"].get("uid") != before["metadata"].get("uid")
