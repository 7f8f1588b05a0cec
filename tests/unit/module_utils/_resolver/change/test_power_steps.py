"""The steps to a power state: what each decides by the VM and its VMI, without a server."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.change.power_steps import PowerRequest, is_renewed, power_steps
from plugins.module_utils._resolver.change.step import REQUEST, Act, Decision, Job, Refuse, Seen, Step
from plugins.module_utils._resolver.kubevirt.cluster import Cluster
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

PowerJob = Job[PowerRequest]


class Facts:
    """A cluster without objects."""

    cluster = Cluster(Objects([]))


def vm(strategy: str = "Always", **status: Any) -> dict[str, Any]:
    metadata = {"name": "web", "namespace": "shop", "uid": "vm"}
    return {"metadata": metadata, "spec": {"runStrategy": strategy, "template": {"spec": {}}}, "status": status}


def vmi(uid: str = "1", **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web", "namespace": "shop", "uid": uid, **metadata}, "status": {"phase": "Running"}}


RUNNING = Seen(vm(printableStatus="Running", ready=True), vmi())
STOPPED = Seen(vm("Halted", printableStatus="Stopped"))
STOPPING = Seen(vm("Halted", printableStatus="Stopping"), vmi(deletionTimestamp="now"))


def power_job(state: str, seen: Seen, **more: Any) -> PowerJob:
    return Job(ObjectKey("VirtualMachine", "shop", "web"), PowerRequest(state, **more), before=seen, seen=seen)


def step(name: str, check_mode: bool = False, waits: bool = True) -> Step:
    steps = power_steps(lambda job: job.goal, "virtshape", check_mode=check_mode, waits=waits)
    return next(step for step in steps if step.name == name)


def decided(name: str, job: PowerJob, **settings: bool) -> Decision:
    return step(name, **settings).decide(job, Facts())


def sent(decision: Decision) -> list[str]:
    """The subresources that an act requests."""
    assert isinstance(decision, Act)
    return [write.path.rpartition("/")[2] for write in decision.writes]


@pytest.mark.parametrize(
    ("state", "seen", "verb"),
    [
        ("stopped", RUNNING, "stop"),
        ("restarted", RUNNING, "restart"),
        ("started", STOPPED, "start"),
        ("started", RUNNING, None),
        ("stopped", STOPPED, None),
    ],
)
def test_request_is_sent_only_if_it_changes_something(state: str, seen: Seen, verb: str | None) -> None:
    decision = decided(REQUEST, power_job(state, seen))
    assert (decision is None) if verb is None else sent(decision) == [verb]


def test_missing_vm_is_refused() -> None:
    assert decided("find", power_job("started", Seen())) == Refuse("the virtual machine does not exist", missing=True)
    assert decided(REQUEST, power_job("started", Seen())) == Refuse("the VM was deleted")


def test_stopping_vm_is_awaited_or_refused() -> None:
    job = power_job("started", STOPPING)
    settle = step("settle")
    assert settle.decide(job, Facts()) is None
    probe = settle.until(job)
    assert probe is not None and probe(STOPPED.live).done
    refused = decided("settle", job, waits=False)
    assert refused == Refuse("the VM is still stopping; set wait, or run the task again later")
    # After the wait, it is in the way of another client.
    overtaken = decided(REQUEST, job)
    assert isinstance(overtaken, Refuse) and overtaken.reason.startswith("another client changed the VM")


def test_check_mode_foresees_what_is_too_early() -> None:
    foreseen = decided(REQUEST, power_job("started", STOPPING), check_mode=True)
    assert isinstance(foreseen, Act) and foreseen.dry_run == ()
    assert decided(REQUEST, power_job("paused", STOPPED), check_mode=True) == Refuse("the VM is not running")


def test_only_the_guest_that_was_named_is_restarted() -> None:
    assert sent(decided(REQUEST, power_job("restarted", RUNNING, guest="1"))) == ["restart"]
    newer = power_job("restarted", RUNNING._replace(vmi=vmi("2")), guest="1")
    assert decided(REQUEST, newer) is None
    assert is_renewed(newer, newer.goal) and not is_renewed(power_job("restarted", RUNNING), PowerRequest("restarted"))


def test_guest_shows_the_effect_of_lost_answers() -> None:
    decision = decided(REQUEST, power_job("restarted", RUNNING))
    assert isinstance(decision, Act) and decision.took_effect is not None
    assert decision.took_effect(RUNNING._replace(vmi=vmi("2")))
    assert decision.took_effect(RUNNING._replace(vmi=vmi(deletionTimestamp="now")))
    assert not decision.took_effect(RUNNING)


def test_vm_that_failed_before_is_tried_again() -> None:
    condition = {"type": "Failure", "status": "True", "reason": "FailedCreate", "message": "no"}
    seen = Seen(vm(printableStatus="Stopped", conditions=[condition]))
    job = power_job("started", seen)
    refused = decided(REQUEST, job)
    assert isinstance(refused, Refuse) and "no" in refused.reason
    retry = decided("retry", job)
    assert isinstance(retry, Act) and not retry.is_change
    assert decided("retry", job, waits=False) is None
    job.done.append("retry")
    assert decided(REQUEST, job) is None
