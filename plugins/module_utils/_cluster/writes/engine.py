"""Carries out the steps of changes: reads the objects, sends what each step decides, and waits.

Check mode is the same run: it sends dry runs instead, and does not wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.write import Write
from ..._resolver.change.step import (
    CHANGE_UNKNOWN_IN_CHECK_MODE,
    UNKNOWN_IN_CHECK_MODE,
    VM,
    VMI,
    Act,
    Decision,
    Facts,
    Job,
    Refuse,
    Seen,
    Step,
)
from ..client.concurrency import map_concurrently, seconds_left
from ..client.errors import RequestFailed
from ..client.session import Session
from ..reads.snapshot import ReadObjects, read_objects
from ..task import Task

if TYPE_CHECKING:
    from ..._resolver.kubevirt.cluster import Cluster
    from ..._resolver.preflight.object_keys import ObjectToRead
    from ..reads.lookup import ClusterLookup

# A controller may write the object at the same time.
_TRIES: Final = 5
_LOOK: Final = Step("look")


def run(
    session: Session,
    jobs: Sequence[Job[Any]],
    steps: Iterable[Step],
    task: Task,
    noun: str = "object",
    facts: Facts | None = None,
    read: ReadObjects = read_objects,
) -> None:
    """Takes jobs through steps. The jobs hold what becomes of them.

    One that fails does not stop the others, unless fail_fast is set. noun: what the objects are called in messages.
    facts: keeps what the steps look up; None: each step looks anew. read: reads the objects of the jobs.
    """
    run_of_task = _Run(session, task, noun, facts, read)
    left = _going_on(jobs)
    for step in steps:
        if step.stop(jobs):
            return
        left = run_of_task.take(step, left)


def look(
    session: Session,
    jobs: Iterable[Job[Any]],
    kinds: tuple[Kind, ...] = (VM, VMI),
    step: Step = _LOOK,
    read: ReadObjects = read_objects,
) -> None:
    """Reads the objects of jobs anew: one LIST of each kind for a namespace. One that cannot be read fails.

    step: says what that means, and gets the other objects. read: reads the objects.
    """
    places: dict[str, list[Job[Any]]] = {}
    for job in jobs:
        places.setdefault(job.key.namespace, []).append(job)

    def look_in(members: list[Job[Any]]) -> None:
        keys = {(job, kind): job.key._replace(kind=kind.kind) for job in members for kind in kinds}
        try:
            objects = read(session, keys.values())
        except RequestFailed as error:
            for job in members:
                job.failed = job.failed or step.unread(job, str(error))
            return
        own = set(keys.values())
        step.listed([item for key, item in objects.items() if key not in own])
        for (job, kind), key in keys.items():
            job.see(objects.get(key), kind)

    map_concurrently(look_in, places.values())


def _going_on(jobs: Iterable[Job[Any]]) -> list[Job[Any]]:
    return [job for job in jobs if job.goes_on]


class ReadFacts:
    """Facts that are read, and whose code is imported, when a step first asks for them."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @cached_property
    def _lookup(self) -> ClusterLookup:
        from ..reads.lookup import ClusterLookup

        return ClusterLookup(self._session)

    @property
    def cluster(self) -> Cluster:
        return self._lookup.cluster

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        return self._lookup.get(kind, namespace, name)

    def list(self, kind: str, namespace: str) -> Sequence[Manifest]:
        return self._lookup.list(kind, namespace)

    def gather(self, needed: Iterable[ObjectToRead]) -> None:
        if keys := list(needed):
            self._lookup.gather(keys)


class _Run:
    """The requests and waits of one task."""

    def __init__(self, session: Session, task: Task, noun: str, facts: Facts | None, read: ReadObjects) -> None:
        self._session, self._task, self._noun, self._read = session, task, noun, read
        self._facts = facts
        # Seconds that are left for waits. The time of the requests does not count: thousands of them take minutes.
        self._seconds = task.wait_timeout
        self._stopped = Event()

    @cached_property
    def _dry_run_session(self) -> Session:
        return self._session.dry_run_session()

    def take(self, step: Step, jobs: list[Job[Any]]) -> list[Job[Any]]:
        """Takes jobs through one step. Returns the jobs that go on."""
        taking = [job for job in jobs if step.takes(job)]
        if not taking:
            return jobs
        if step.afresh and self._facts is not None:
            self._facts = ReadFacts(self._session)
        if step.full_wait:
            self._seconds = self._task.wait_timeout
        left = self._act(step, taking) if step.acts else taking
        if step.ends_with_wait and (self._task.wait or step.waits) and not self._task.check_mode:
            self._wait(step, left)
        for job in taking if step.problem else ():
            job.failed = f"{step.problem}{job.failed}" if job.failed else None
        # One that was refused is out, although it does not fail in check mode.
        out = set(taking).difference(left) if len(left) < len(taking) else ()
        return [job for job in jobs if job.goes_on and job not in out]

    def _wait(self, step: Step, jobs: list[Job[Any]]) -> None:
        probes = {job: probe for job in jobs if (probe := step.until(job)) is not None}
        deadline = time.monotonic() + self._seconds
        if probes:
            # Only what has to be waited for needs it.
            from .waits import poll, watch

            if step.polls:
                poll(step, probes, self._seconds, partial(self._act, step))
            else:
                watch(self._session, step, probes, self._seconds)
        for job, failure in step.others(_going_on(jobs), seconds_left(deadline)).items():
            job.failed = failure
        self._seconds = seconds_left(deadline)

    def _act(self, step: Step, jobs: list[Job[Any]]) -> list[Job[Any]]:
        """Reads the objects that a step needs, and sends the writes that it decides. Returns the jobs that go on."""
        reads: dict[tuple[Kind, ...], list[Job[Any]]] = {}
        for job in jobs:
            reads.setdefault(step.reads(job), []).append(job)
        for kinds, members in reads.items():
            if kinds:
                look(self._session, members, kinds, step, self._read)
        jobs = _going_on(jobs)
        decisions = self._decide(step, jobs)
        decided = [(job, decision) for job, decision in decisions.items() if decision is not None]
        refused = {job: decision for job, decision in decided if isinstance(decision, Refuse)}
        for job, refusal in refused.items():
            self._refuse(job, refusal)
        acts = {job: decision for job, decision in decided if isinstance(decision, (Act, list))}
        # The writes of thousands of jobs need memory: each is dropped once it is sent.
        del decisions, decided
        if acts:
            self._send_all(step, acts)
        return [job for job in jobs if job not in refused and job.goes_on]

    def _send_all(self, step: Step, acts: dict[Job[Any], Act | list[Act]]) -> None:
        # Only what changes needs it.
        from .send import run_writes

        if not self._task.check_mode:
            time.sleep(step.pause)
        run_writes(
            list(acts), lambda job: self._carry_out(step, job, acts.pop(job)), self._task, self._noun, self._stopped
        )

    def _decide(self, step: Step, jobs: list[Job[Any]]) -> dict[Job[Any], Decision]:
        facts = self._facts or ReadFacts(self._session)
        try:
            facts.gather(key for job in jobs for key in step.needs(job, facts))
        except RequestFailed as error:
            return self._fail(step, jobs, error)
        # A failure to read here concerns the task, not an object.
        step.prepare(jobs, facts)
        try:
            return {job: step.decide(job, facts) for job in _going_on(jobs)}
        except RequestFailed as error:
            return self._fail(step, jobs, error)

    def _fail(self, step: Step, jobs: Iterable[Job[Any]], error: RequestFailed) -> dict[Job[Any], Decision]:
        for job in jobs:
            job.failed = job.failed or step.unread(job, str(error))
        return {}

    def _refuse(self, job: Job[Any], refusal: Refuse) -> None:
        """Fails a job because of its present state; in check mode, an earlier task may change that: a warning."""
        if self._task.check_mode:
            unknown = UNKNOWN_IN_CHECK_MODE if refusal.missing else CHANGE_UNKNOWN_IN_CHECK_MODE
            job.warn(f"{refusal.reason}; {unknown}")
        else:
            job.failed = refusal.reason

    def _carry_out(self, step: Step, job: Job[Any], decided: Act | list[Act]) -> None:
        acts = decided if isinstance(decided, list) else [decided]
        check_mode = self._task.check_mode
        if check_mode and not self._rehearse(job, acts):
            return
        for act in acts:
            if not check_mode and not self._send(job, act):
                return
            job.written = job.written or (act.is_change and not check_mode)
            job.acted = job.acted or act.is_change
            for text in act.warnings:
                job.warn(text)
        job.done.append(step.name)

    def _send(self, job: Job[Any], act: Act) -> bool:
        """Sends writes. Whether they have taken effect; not if another client has done the same."""
        try:
            return self._send_each(self._session, job, act, act.writes)
        except RequestFailed as error:
            job.failed = act.on_error(error)
            return False

    def _send_each(self, session: Session, job: Job[Any], act: Act, writes: Sequence[Write]) -> bool:
        """Sends writes, again by the present object if another client has written it. Whether they took effect."""
        tries = _TRIES
        while True:
            try:
                return self._send_once(session, job, act, writes)
            except RequestFailed as error:
                tries -= 1
                if error.code != 409 or act.again is None or not tries:
                    raise
            renewed = act.again(session.get(KINDS[job.key.kind], job.key.namespace, job.key.name))
            if renewed is None:
                return True
            act, writes = renewed, renewed.dry_run if session.is_dry_run else renewed.writes

    def _send_once(self, session: Session, job: Job[Any], act: Act, writes: Sequence[Write]) -> bool:
        from .send import send

        took_effect = None
        if act.took_effect is not None and not session.is_dry_run:
            took_effect = partial(self._took_effect, job.key, act, act.took_effect)
        answer: Manifest | None = None
        for write in writes:
            try:
                answer = send(session, write, took_effect)
            except RequestFailed as error:
                other = act.instead(error) if act.instead is not None else None
                if other is None:
                    raise
                answer = send(session, other)
            if not self._answers(job, act, answer):
                return False
        return act.answered is None or not writes or act.answered(answer)

    def _took_effect(self, key: ObjectKey, act: Act, judge: Callable[[Seen], bool]) -> bool:
        now: Job[None] = Job(key, None)
        look(self._session, [now], act.evidence)
        return now.failed is None and now.seen.live is not None and judge(now.seen)

    def _answers(self, job: Job[Any], act: Act, answer: Manifest | None) -> bool:
        """Whether the answer to a write shows what was asked for. A lost answer, {}, shows nothing else."""
        undone = act.undone(answer) if answer and act.undone is not None else ""
        if undone:
            from ..reads.admission import Mutators

            job.failed = Mutators(self._session).undone(undone, KINDS[job.key.kind], job.key.namespace)
        return (answer is not None or act.may_be_found) and not undone

    def _rehearse(self, job: Job[Any], acts: Iterable[Act]) -> bool:
        """Sends dry runs. Whether the step would be done: if a dry run cannot tell, it would."""
        would_be_done, failure = True, None

        def send_dry_runs(_job: Job[Any]) -> None:
            nonlocal would_be_done, failure
            for act in acts:
                try:
                    would_be_done = self._send_each(self._dry_run_session, job, act, act.dry_run)
                except RequestFailed as error:
                    failure = act.on_error(error)
                    would_be_done = failure is not None
                    if would_be_done:
                        raise
                if not would_be_done:
                    return

        if self._task.server_dry_run:
            from .send import run_dry

            run_dry(job, send_dry_runs)
            job.failed = (failure or job.failed) if job.failed else None
        return would_be_done and job.failed is None
