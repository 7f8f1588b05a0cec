"""The step that waits until a guest has the sockets and the memory that KubeVirt plugs into it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Optional

from ..guest.arrival import arrival, not_migrated, under_way
from ..kubevirt.vm.readiness import restart_required
from .step import VMI, Decision, Facts, Job, Probe, Step

Figures = Callable[[Job[Any]], Optional[Mapping[str, Any]]]
"""The figures that the guest of a job gets live; None for a job that awaits none."""


def arrival_step(figures_of: Figures) -> Step:
    """Waits until guests have what they get by a migration; warns if KubeVirt will not start one.

    Guests that an earlier run left without it count too: their VMs say so.
    """
    migrating: set[Job[Any]] = set()

    def decide(job: Job[Any], facts: Facts) -> Decision:
        if warning := not_migrated(job.seen.live or {}, figures_of(job) or {}, facts.cluster.kubevirt):
            job.warn(warning)
        else:
            migrating.add(job)
        return None

    def until(job: Job[Any]) -> Probe | None:
        figures = figures_of(job) or {}
        return partial(arrival, figures=figures) if job in migrating else None

    def is_awaited(job: Job[Any]) -> bool:
        figures, vm = figures_of(job), job.seen.live or {}
        return figures is not None and restart_required(vm) is None and (bool(figures) or under_way(vm))

    return Step("arrive", decide, until=until, kind=VMI, takes=is_awaited)
