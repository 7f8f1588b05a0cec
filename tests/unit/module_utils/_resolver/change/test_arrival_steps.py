"""The wait for what guests get by a migration: which jobs take it, and what it does."""

from types import SimpleNamespace
from typing import Any

import pytest

from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.change.arrival_steps import arrival_step
from plugins.module_utils._resolver.change.step import Job, Seen
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt

Manifest = dict[str, Any]
UNDER_WAY = {"type": "HotVCPUChange", "status": "True"}
ASKED = {"type": "RestartRequired", "status": "True"}


def job_of(*conditions: Manifest, figures: "Manifest | None" = None) -> "Job[Manifest | None]":
    """A VM. figures: what its guest gets live; None if it awaits nothing."""
    live = {"metadata": {"name": "web"}, "status": {"conditions": list(conditions)}}
    return Job(ObjectKey("VirtualMachine", "shop", "web"), figures, seen=Seen(live))


def facts(*methods: str) -> Any:
    return SimpleNamespace(cluster=SimpleNamespace(kubevirt=KubeVirt(NEWEST, update_methods=methods)))


@pytest.mark.parametrize(
    ("job", "waits"),
    [
        (job_of(figures={"sockets": 2}), True),
        (job_of(UNDER_WAY, figures={}), True),
        (job_of(figures={}), False),
        (job_of(UNDER_WAY), False),
        (job_of(ASKED, figures={"sockets": 2}), False),
    ],
    ids=["changed", "of an earlier run", "complete", "not concerned", "restart asked for"],
)
def test_step_is_for_guests_that_get_something_live(job: "Job[Manifest | None]", waits: bool) -> None:
    assert arrival_step(lambda each: each.goal).takes(job) is waits


def test_guest_that_migrates_is_awaited() -> None:
    step, job = arrival_step(lambda each: each.goal), job_of(figures={"sockets": 2})
    assert step.decide(job, facts("LiveMigrate")) is None
    probe = step.until(job)
    assert probe is not None and probe(None).done and not job.warnings


def test_guest_that_nobody_migrates_gets_a_warning() -> None:
    step, job = arrival_step(lambda each: each.goal), job_of(figures={"sockets": 2})
    step.decide(job, facts("Evict"))
    assert step.until(job) is None
    assert [warning.partition(",")[0] for warning in job.warnings] == ["the guest gets 2 sockets only by a migration"]
