"""The waits of steps: by watching objects, or by taking a step again until its probes are done."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.change.step import Job, Probe, Step
from ..client.concurrency import Backoff, map_concurrently, seconds_left
from ..client.session import Session
from ..reads.watch import wait_in_namespaces


def watch(session: Session, step: Step, probes: Mapping[Job[Any], Probe], seconds: float) -> None:
    """Watches each kind in each namespace. Failures and the objects last seen go into the jobs."""
    jobs = {(step.kind or KINDS[job.key.kind], job.key.namespace, job.key.name): job for job in probes}

    def watch_kind(kind: Kind) -> None:
        named = {key[1:]: probes[job] for key, job in jobs.items() if key[0] is kind}
        ended = wait_in_namespaces(session, kind, named, seconds, metadata_only=step.metadata_only)
        for name, (live, failure) in ended.items():
            job = jobs[(kind, *name)]
            if not step.metadata_only:
                job.see(live, kind)
            _end(step, job, failure)

    map_concurrently(watch_kind, dict.fromkeys(kind for kind, *_name in jobs))


def poll(
    step: Step,
    probes: Mapping[Job[Any], Probe],
    seconds: float,
    take: Callable[[list[Job[Any]]], list[Job[Any]]],
) -> None:
    """Takes the step again until the probes are done. Failures go into the jobs.

    take: takes jobs through the step, and returns those that go on.
    """
    pauses, deadline = Backoff(), time.monotonic() + seconds
    waiting = dict(probes)
    while waiting:
        for job, probe in list(waiting.items()):
            state = probe(job.seen.live)
            if state.done or state.failed:
                del waiting[job]
                _end(step, job, state.failed)
        if waiting and not pauses.pause(seconds_left(deadline) + pauses.seconds):
            for job, probe in waiting.items():
                _end(step, job, probe(job.seen.live).pending)
            return
        again = take(list(waiting))
        waiting = {job: waiting[job] for job in again}


def _end(step: Step, job: Job[Any], failure: str | None) -> None:
    job.failed = step.after_wait(job, failure) if failure else None
    job.waited.append(step.name)
