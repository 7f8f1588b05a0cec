"""Carries out the steps of changes: reads the objects, sends what each step decides, and waits.

Check mode is the same run: it sends dry runs instead, and does not wait.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.change.step import VM, VMI, Act, Decision, Job, Probe, Refuse, Seen, Step
from ..client.concurrency import Backoff, seconds_left
from ..client.errors import RequestFailed
from ..client.session import Session
from ..reads.lookup import ClusterLookup
from ..reads.snapshot import read_objects
from ..task import CHANGE_UNKNOWN_IN_CHECK_MODE, UNKNOWN_IN_CHECK_MODE, Task
from .send import run_dry, run_writes, send


def run(
    session: Session,
    jobs: Sequence[Job[Any]],
    steps: Iterable[Step],
    task: Task,
    noun: str = "object",
    lookup: ClusterLookup | None = None,
) -> None:
    """Takes jobs through steps. The jobs hold what becomes of them.

    One that fails does not stop the others, unless fail_fast is set. noun: what the objects are called in messages.
    lookup: keeps what the steps look up; None: each step looks anew.
    """
    run_of_task = _Run(session, task, noun, lookup)
    left = _not_failed(jobs)
    for step in steps:
        left = run_of_task.take(step, left)


def look(session: Session, jobs: Iterable[Job[Any]], kinds: tuple[Kind, ...] = (VM, VMI)) -> None:
    """Reads the objects of jobs anew: one LIST of each kind for a namespace. One that cannot be read fails."""
    places: dict[str, list[Job[Any]]] = {}
    for job in jobs:
        places.setdefault(job.key.namespace, []).append(job)
    for members in places.values():
        keys = {(job, kind): job.key._replace(kind=kind.kind) for job in members for kind in kinds}
        try:
            objects = read_objects(session, keys.values())
        except RequestFailed as error:
            for job in members:
                job.failed = job.failed or str(error)
            continue
        for (job, kind), key in keys.items():
            _see(job, kind, objects.get(key))


def _see(job: Job[Any], kind: Kind, live: Manifest | None) -> None:
    job.seen = job.seen._replace(vmi=live) if kind is VMI else job.seen._replace(live=live)


def _not_failed(jobs: Iterable[Job[Any]]) -> list[Job[Any]]:
    return [job for job in jobs if job.failed is None]


class _Run:
    """The requests and waits of one task."""

    def __init__(self, session: Session, task: Task, noun: str, lookup: ClusterLookup | None) -> None:
        self._session, self._task, self._noun, self._lookup = session, task, noun, lookup
        # Seconds that are left for waits. The time of the requests does not count: thousands of them take minutes.
        self._seconds = task.wait_timeout

    @cached_property
    def _dry_run_session(self) -> Session:
        return self._session.dry_run_session()

    def take(self, step: Step, jobs: list[Job[Any]]) -> list[Job[Any]]:
        """Takes jobs through one step. Returns those that go on."""
        jobs = self._act(step, jobs)
        if self._task.wait and not self._task.check_mode:
            probes = {job: probe for job in jobs if (probe := step.until(job)) is not None}
            began = time.monotonic()
            if step.kind is None:
                self._poll(step, probes)
            else:
                self._watch(step, step.kind, probes)
            self._seconds = max(0.0, self._seconds - (time.monotonic() - began))
        return _not_failed(jobs)

    def _act(self, step: Step, jobs: list[Job[Any]]) -> list[Job[Any]]:
        """Reads what a step needs, and sends what it decides. Returns the jobs that go on."""
        reads: dict[tuple[Kind, ...], list[Job[Any]]] = {}
        for job in jobs:
            reads.setdefault(step.reads(job), []).append(job)
        for kinds, members in reads.items():
            look(self._session, members, kinds)
        jobs = _not_failed(jobs)
        decisions = self._decide(step, jobs)
        refused = {job: decided for job, decided in decisions.items() if isinstance(decided, Refuse)}
        for job, refusal in refused.items():
            self._refuse(job, refusal)
        acts = {job: decided for job, decided in decisions.items() if isinstance(decided, Act)}
        if acts and not self._task.check_mode:
            time.sleep(step.pause)
        run_writes(acts, lambda job: self._carry_out(step, job, acts[job]), self._task, self._noun)
        return [job for job in jobs if job not in refused and job.failed is None]

    def _decide(self, step: Step, jobs: list[Job[Any]]) -> dict[Job[Any], Decision]:
        lookup = self._lookup or ClusterLookup(self._session)
        try:
            lookup.gather(key for job in jobs for key in step.needs(job, lookup))
            return {job: step.decide(job, lookup) for job in jobs}
        except RequestFailed as error:
            for job in jobs:
                job.failed = str(error)
            return {}

    def _refuse(self, job: Job[Any], refusal: Refuse) -> None:
        """Fails a job because of its present state; in check mode, an earlier task may change that: a warning."""
        if self._task.check_mode:
            unknown = UNKNOWN_IN_CHECK_MODE if refusal.missing else CHANGE_UNKNOWN_IN_CHECK_MODE
            job.warn(f"{refusal.reason}; {unknown}")
        else:
            job.failed = refusal.reason

    def _carry_out(self, step: Step, job: Job[Any], act: Act) -> None:
        if self._task.check_mode:
            is_done = self._rehearse(job, act)
        else:
            is_done = self._send(job, act)
            job.written = job.written or (is_done and act.is_change)
        if is_done:
            job.done.append(step.name)
            job.acted = job.acted or act.is_change
            for text in act.warnings:
                job.warn(text)

    def _send(self, job: Job[Any], act: Act) -> bool:
        """Sends writes. Whether they have taken effect; not if another client has done the same."""
        took_effect = None if act.took_effect is None else partial(self._took_effect, job.key, act, act.took_effect)
        try:
            return all(self._answers(job, act, send(self._session, write, took_effect)) for write in act.writes)
        except RequestFailed as error:
            job.failed = act.on_error(error)
            return False

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

    def _rehearse(self, job: Job[Any], act: Act) -> bool:
        """Sends dry runs. Whether the step would be done: if a dry run cannot tell, it would."""
        would_be_done = [True]

        def send_dry_runs(_job: Job[Any]) -> None:
            try:
                for write in act.dry_run:
                    self._answers(job, act, send(self._dry_run_session, write))
            except RequestFailed as error:
                if act.on_error(error) is not None:
                    raise
                would_be_done[0] = False

        if self._task.server_dry_run:
            run_dry(job, send_dry_runs)
        return would_be_done[0] and job.failed is None

    def _watch(self, step: Step, kind: Kind, probes: Mapping[Job[Any], Probe]) -> None:
        """Watches a kind in each namespace. Failures and the objects last seen go into the jobs."""
        if not probes:
            return
        from ..reads.watch import wait_in_namespaces

        members = {(job.key.namespace, job.key.name): job for job in probes}
        named = {name: probes[job] for name, job in members.items()}
        for name, (live, failure) in wait_in_namespaces(self._session, kind, named, self._seconds).items():
            job = members[name]
            _see(job, kind, live)
            self._end_wait(step, job, failure)

    def _poll(self, step: Step, probes: Mapping[Job[Any], Probe]) -> None:
        """Takes the step again until the probes are done. Failures go into the jobs."""
        pauses, deadline = Backoff(), time.monotonic() + self._seconds
        waiting = dict(probes)
        while waiting:
            for job, probe in list(waiting.items()):
                state = probe(job.seen.live)
                if state.done or state.failed:
                    del waiting[job]
                    self._end_wait(step, job, state.failed)
            if waiting and not pauses.pause(seconds_left(deadline) + pauses.seconds):
                for job, probe in waiting.items():
                    self._end_wait(step, job, probe(job.seen.live).pending)
                return
            again = self._act(step, list(waiting))
            waiting = {job: waiting[job] for job in again}

    def _end_wait(self, step: Step, job: Job[Any], failure: str | None) -> None:
        job.failed = step.after_wait(job, failure) if failure else None
        job.waited.append(step.name)
