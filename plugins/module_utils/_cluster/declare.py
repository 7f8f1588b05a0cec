"""The one way of every module that writes: entries → live snapshot → plan → preflight → writes → wait → results.

Check mode stops after the preflight; nothing else asks for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .._resolver import ownership, plan
from .._resolver.ownership import Field
from .._resolver.plan import Plan
from .._resolver.redaction import redact
from .errors import ApiError, ConnectionFailed, explain
from .kinds import BY_NAME, Kind
from .session import FIELD_MANAGER, Session
from .snapshot import Key, Unreadable, read
from .watch import State, doubted, wait_for

__all__ = ["Entry", "Finding", "Result", "Settings", "Subject", "declare"]

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One object of a task. label: how messages name it. problem: why it cannot be declared at all, or None."""

    label: str
    key: Key
    state: str
    manifest: Manifest
    problem: str | None = None


@dataclass(frozen=True)
class Settings:
    """How a task is carried out; the options of the doc fragment `wait`."""

    check_mode: bool = False
    wait: bool = False
    wait_timeout: float = 120
    concurrency: int = 16
    preflight: str = "strict"
    fail_fast: bool = False
    force_conflicts: bool = False


class Finding(NamedTuple):
    """What preflight found about one planned object, as one line; a note is worth a warning and never refuses."""

    text: str
    note: bool = False


# Why objects have failed, by name.
Failures = dict[str, str]
Preflight = Callable[[Session, "list[Planned]"], "list[list[Finding]]"]


class Planned(NamedTuple):
    entry: Entry
    plan: Plan
    live: Manifest | None


def _reconcile(manifest: Manifest, live: Manifest | None) -> tuple[Manifest, set[Field] | None]:
    return manifest, ownership.owned(live, FIELD_MANAGER) if live is not None else None


def _there(_live: Manifest | None) -> State:
    return State(done=True)


def _nothing_remains(_session: Session, _namespace: str | None, _deleted: list[Manifest], _seconds: float) -> Failures:
    return {}


@dataclass(frozen=True)
class Subject:
    """What differs between kinds.

    reconcile: the desired manifest and the fields that count as ours, seen beside the live object.
    leave: why a live object is left as it is, whatever is declared, or None.
    preflight: findings for each object planned to be written, in order; deletion: for those planned to be deleted.
    look: what a declared object still waits for. read: the live objects among those named.
    same: whether a live object tells the same as before a write, so that its controller may not have seen that yet.
    describe: facts of the live object for the result. plural: for messages.
    kept: what the cluster keeps of each object that is deleted, in order.
    remains: waits until what goes with deleted objects of a namespace is gone, too.
    """

    plural: str
    reconcile: Callable[[Manifest, Manifest | None], tuple[Manifest, set[Field] | None]] = _reconcile
    leave: Callable[[Manifest], str | None] = lambda _live: None
    preflight: Preflight = lambda _session, planned: [[] for _entry in planned]
    deletion: Preflight = lambda _session, planned: [[] for _entry in planned]
    read: Callable[[Session, Iterable[Key]], dict[Key, Manifest]] = read
    look: Callable[[Manifest | None], State] = _there
    same: Callable[[Manifest, Manifest], bool] = lambda _one, _other: False
    describe: Callable[[Manifest], dict[str, Any]] = lambda _live: {}
    kept: Callable[[Session, list[Manifest]], list[list[dict[str, str]]]] = lambda _session, deleted: [
        [] for _one in deleted
    ]
    remains: Callable[[Session, str | None, list[Manifest], float], Failures] = _nothing_remains


@dataclass
class Result:
    """What became of one entry. failed: why it failed. left: why it was left as it is.

    live: the object as last seen; found: as it was before. kept: what the cluster keeps of an object that is deleted.
    """

    entry: Entry
    action: str = plan.NONE
    before: Manifest = field(default_factory=dict)
    after: Manifest = field(default_factory=dict)
    failed: str | None = None
    left: str | None = None
    warnings: list[str] = field(default_factory=list)
    live: Manifest | None = None
    found: Manifest | None = None
    kept: list[dict[str, str]] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return self.action in plan.WRITES and self.failed is None


def declare(session: Session, subject: Subject, entries: list[Entry], settings: Settings) -> list[Result]:
    """Results in the order of the entries.

    An entry that is wrong in itself stops the task before anything is sent, like a wrong option. What the cluster
    decides, such as a conflict or a missing right, fails its entry only, unless fail_fast says otherwise.
    """
    results = [Result(entry, failed=entry.problem) for entry in entries]
    if _any_failed(results):
        for result in results:
            result.left = None if result.failed else "nothing was sent, since other entries are wrong"
        return results
    planned = _plan(session, subject, results)
    _preflight(session, subject, planned, settings)
    _name_kept(session, subject, results)
    if settings.check_mode or (settings.fail_fast and _any_failed(results)):
        return results
    _write(session, [(result, step) for result, step in planned if result.changed], settings)
    if settings.wait and not (settings.fail_fast and _any_failed(results)):
        _wait(session, subject, [result for result in results if not (result.failed or result.left)], settings)
    return results


def _any_failed(results: Iterable[Result]) -> bool:
    return any(result.failed for result in results)


def _plan(session: Session, subject: Subject, results: list[Result]) -> list[tuple[Result, Planned]]:
    """Plans all entries; a namespace that cannot be read fails its entries only."""
    groups: dict[tuple[str, str | None], list[Result]] = {}
    for result in results:
        groups.setdefault((result.entry.key.kind, result.entry.key.namespace), []).append(result)
    planned = []
    for group in groups.values():
        try:
            found = subject.read(session, [result.entry.key for result in group])
        except Unreadable as error:
            for result in group:
                result.failed = str(error)
            continue
        for result in group:
            result.live = result.found = found.get(result.entry.key)
            result.left = subject.leave(result.live) if result.live is not None else None
            if result.left:
                result.action = plan.KEEP
                continue
            step = _plan_entry(subject, result.entry, result.live)
            # Sensitive values are hidden here, once; the plan keeps them.
            result.action = step.action
            result.before, result.after = redact(step.before, step.after)
            planned.append((result, Planned(result.entry, step, result.live)))
    return planned


def _plan_entry(subject: Subject, entry: Entry, live: Manifest | None) -> Plan:
    if entry.state == "absent":
        return plan.absent(entry.manifest, live)
    desired, owner = subject.reconcile(entry.manifest, live)
    return plan.present(desired, live, owner)


def _preflight(session: Session, subject: Subject, planned: list[tuple[Result, Planned]], settings: Settings) -> None:
    if settings.preflight == "off":
        return
    for check, actions in ((subject.preflight, (plan.CREATE, plan.APPLY)), (subject.deletion, (plan.DELETE,))):
        checked = [(result, step) for result, step in planned if step.plan.action in actions]
        if checked:
            _judge(checked, check(session, [step for _result, step in checked]), settings)


def _judge(checked: list[tuple[Result, Planned]], found: list[list[Finding]], settings: Settings) -> None:
    for (result, _step), findings in zip(checked, found):
        refused = [finding.text for finding in findings if not finding.note and settings.preflight == "strict"]
        if refused:
            result.failed = "; ".join(refused)
        else:
            result.warnings += [finding.text for finding in findings]


def _write(session: Session, steps: list[tuple[Result, Planned]], settings: Settings) -> None:
    stopped = False

    def one(result: Result, step: Planned) -> None:
        nonlocal stopped
        if stopped:
            result.failed = "not sent: another object of the task had failed (fail_fast)"
            return
        _write_one(session, result, step.plan, settings.force_conflicts)
        stopped = settings.fail_fast and result.failed is not None

    with ThreadPoolExecutor(max_workers=max(1, settings.concurrency)) as pool:
        for future in [pool.submit(one, result, step) for result, step in steps]:
            future.result()


def _write_one(session: Session, result: Result, step: Plan, force: bool) -> None:
    kind = BY_NAME[result.entry.key.kind]
    verb = "DELETE" if step.action == plan.DELETE else "PATCH"
    try:
        if step.action == plan.DELETE:
            session.request("DELETE", kind.path(result.entry.key.namespace, result.entry.key.name))
            result.live = None
        else:
            _take_out(session, kind, result.entry.key, step)
            result.live = _apply(session, step.manifest, force)
    except ApiError as error:
        if error.code == 404 and step.action == plan.DELETE:
            result.live = None
        else:
            result.failed = explain(error, verb, kind)
    except ConnectionFailed as error:
        result.failed = str(error)


def _take_out(session: Session, kind: Kind, key: Key, step: Plan) -> None:
    if not step.emptied:
        return
    patch: Manifest = {}
    for path in step.emptied:
        node = patch
        for part in path[:-1]:
            node = node.setdefault(part, {})
        node[path[-1]] = None
    path_of = kind.path(key.namespace, key.name)
    session.request("PATCH", path_of, {"fieldManager": FIELD_MANAGER}, patch, "application/merge-patch+json")


def _apply(session: Session, manifest: Manifest, force: bool) -> Manifest:
    kind = BY_NAME[manifest["kind"]]
    try:
        return session.apply(kind, manifest, force)
    except ApiError as error:
        if error.code == 409 and _only_power(error):
            # After someone's start or stop virt-api owns the run strategy; a declared one is taken back.
            return session.apply(kind, manifest, force=True)
        raise


def _only_power(error: ApiError) -> bool:
    return bool(error.causes) and all(
        cause.field == ".spec.runStrategy" and '"virt-api"' in cause.message for cause in error.causes
    )


def _name_kept(session: Session, subject: Subject, results: list[Result]) -> None:
    deleted = [result for result in results if result.action == plan.DELETE and result.changed]
    found = [result.found for result in deleted if result.found is not None]
    for result, kept in zip(deleted, subject.kept(session, found) if found else []):
        result.kept = kept


def _wait(session: Session, subject: Subject, results: list[Result], settings: Settings) -> None:
    groups: dict[tuple[str, str | None], dict[str, Result]] = {}
    for result in results:
        groups.setdefault((result.entry.key.kind, result.entry.key.namespace), {})[result.entry.key.name] = result
    deadline = time.monotonic() + settings.wait_timeout

    def one(group: tuple[str, str | None]) -> None:
        members = groups[group]

        def look(name: str, live: Manifest | None) -> State:
            result = members[name]
            if result.entry.state == "absent":
                return State(done=live is None, pending="it to be gone")
            state = subject.look(live)
            written = result.changed and live is not None and result.found is not None
            return doubted(state) if written and subject.same(live or {}, result.found or {}) else state

        kind, namespace = BY_NAME[group[0]], group[1]
        for name, ended in wait_for(session, kind, namespace, members, look, settings.wait_timeout).items():
            members[name].live = ended.object
            members[name].failed = ended.failure
        _wait_for_remains(session, subject, namespace, list(members.values()), deadline)

    with ThreadPoolExecutor(max_workers=max(1, len(groups))) as pool:
        list(pool.map(one, groups))


def _wait_for_remains(
    session: Session, subject: Subject, namespace: str | None, results: list[Result], deadline: float
) -> None:
    """After the objects of a namespace are gone: what goes with them."""
    gone = {
        result.entry.key.name: result for result in results if result.action == plan.DELETE and result.failed is None
    }
    deleted = [result.found for result in gone.values() if result.found is not None]
    seconds = max(0.0, deadline - time.monotonic())
    for name, failure in (subject.remains(session, namespace, deleted, seconds) if deleted else {}).items():
        gone[name].failed = failure
