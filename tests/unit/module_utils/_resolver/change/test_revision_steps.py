"""The steps that give a VM other revisions: decisions of each, without a server."""

from typing import Any

import pytest
from captured_vms import unknown_drift

from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, ObjectKey
from plugins.module_utils._resolver.change.guest import Guest
from plugins.module_utils._resolver.change.guest_steps import GuestSteps
from plugins.module_utils._resolver.change.revision_change import RevisionChange
from plugins.module_utils._resolver.change.revision_guests import update_steps
from plugins.module_utils._resolver.change.revision_steps import (
    ROLL_BACK,
    Revision,
    RevisionJob,
    capture_steps,
    is_changed,
    needs,
    needs_restart_still,
)
from plugins.module_utils._resolver.change.step import REQUEST, Act, Decision, Job, Refuse, Seen, Step
from plugins.module_utils._resolver.guest.effect import LIVE, NOTHING, RESTART, GuestEffect
from plugins.module_utils._resolver.kubevirt.cluster import Cluster
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.kubevirt.vm import vmi

REFRESH = RevisionChange(matcher_fields=(INSTANCETYPE,), recapture=True)
CORES = {"spec": {"domain": {"devices": {}, "cpu": {"cores": 4}}}}


class Facts:
    """A cluster without objects."""

    cluster = Cluster(Objects([]))


class Forbidden:
    """A cluster whose objects the user may not read."""

    def get(self, kind: str, _namespace: str, _name: str) -> None:
        raise KubeVirtError(f"{kind} is forbidden", "Forbidden", 403)


class Hidden:
    cluster = Cluster(Forbidden())


def vm(**status: Any) -> dict[str, Any]:
    metadata = {"name": "db", "namespace": "shop", "uid": "vm", "generation": 1}
    return {"metadata": metadata, "spec": {"runStrategy": "Always", "template": CORES}, "status": status}


def revision_job(change: RevisionChange = REFRESH, seen: Seen | None = None) -> RevisionJob:
    live = vm(printableStatus="Running", created=True)
    key = ObjectKey("VirtualMachine", "shop", "db")
    return Job(key, Revision(unknown_drift(live), change), seen=seen or Seen(live))


def step(name: str) -> Step:
    steps = [*capture_steps("virtshape", check_mode=False), *update_steps(GUESTS)]
    return next(step for step in steps if step.name == name)


GUESTS = GuestSteps(lambda job: job.goal.guest, "virtshape")


def decided(name: str, job: RevisionJob, facts: Any = Facts) -> Decision:
    return step(name).decide(job, facts)


def test_vm_that_lost_its_revisions_is_not_rolled_back() -> None:
    job = revision_job()
    job.goal.start_refusal = "KubeVirt could not start the VM after the change: no"
    refused = decided(ROLL_BACK, job)
    assert isinstance(refused, Refuse) and refused.reason.endswith("so the task could not restore them")


def test_rollback_is_told_even_if_its_wait_fails() -> None:
    job = revision_job()
    job.goal.start_refusal = "no"
    assert step(ROLL_BACK).after_wait(job, "late") == "no; the task restored the previous revisions"
    assert decided("unpin", job) is None
    assert decided("refuse", job) == Refuse("no; the task restored the previous revisions")


def test_rolled_back_vm_is_not_changed() -> None:
    job = revision_job()
    job.acted = job.written = True
    assert is_changed(job)
    job.done.append(ROLL_BACK)
    assert not is_changed(job)


def test_restarted_guest_needs_nothing_more() -> None:
    job = revision_job()
    job.written = True
    job.done.append(REQUEST)
    assert (needs(job), needs_restart_still(job)) == (RESTART, False)


@pytest.mark.parametrize("needed", [NOTHING, RESTART])
def test_unchanged_vm_needs_a_restart_as_before(needed: str) -> None:
    job = revision_job()
    job.goal.before = job.goal.before._replace(pending=GuestEffect(needed))
    assert needs_restart_still(job) is (needed == RESTART)


def test_expanded_vm_has_nothing_to_capture() -> None:
    probe = step("recapture").until(revision_job())
    assert probe is not None and probe(vm()).done


def test_answer_without_the_new_name_is_undone() -> None:
    spec = {"instancetype": {"name": "large"}}
    act = decided("change", revision_job(RevisionChange((INSTANCETYPE,), spec)))
    assert isinstance(act, Act) and act.undone is not None
    assert act.undone({"spec": {"instancetype": {"name": "small"}}}) == "spec.instancetype.name"
    assert act.undone({"spec": spec}) == act.undone({"spec": {}}) == ""


@pytest.mark.parametrize(("cores", "restarts"), [(4, False), (2, True)])
def test_guest_that_got_revisions_is_compared_as_a_whole(cores: int, restarts: bool) -> None:
    live = vm(printableStatus="Running", created=True)
    spec = vmi.build(live, Facts.cluster).spec
    spec["domain"]["cpu"]["cores"] = cores
    guest = {"metadata": {"name": "db", "namespace": "shop", "uid": "1"}, "spec": spec, "status": {"phase": "Running"}}
    job = revision_job(seen=Seen(live, guest))
    job.goal.guest = Guest(may_restart=True, effect=GuestEffect(NOTHING))
    job.goal.restarts = True
    assert decided("choose", job) is None
    assert (job.goal.restarts, job.goal.guest_current) == (restarts, not restarts)


def test_guest_that_was_not_compared_keeps_running() -> None:
    live = vm(printableStatus="Running", created=True)
    job = revision_job(seen=Seen(live, {"metadata": {"uid": "1"}, "spec": {}}))
    job.goal.guest, job.goal.restarts = Guest(may_restart=True), True
    decided("choose", job)
    assert not job.goal.restarts


def test_deleted_vm_ends_each_wait() -> None:
    job = revision_job(seen=Seen())
    for one in (GUESTS.observe, GUESTS.update):
        probe = one.until(job)
        assert probe is not None and "deleted" in str(probe(None).failed)


def test_refusal_counts_if_its_reason_can_be_read() -> None:
    named = {**vm(), "spec": {**vm()["spec"], "instancetype": {"name": "size"}}}
    job = revision_job(seen=Seen(named, {"metadata": {"uid": "1"}, "spec": {}}))
    job.goal.guest = Guest(effect=GuestEffect(LIVE, refusal="no such size"))
    judge = GUESTS.restart[0]
    refused = judge.decide(job, Facts())
    assert isinstance(refused, Refuse) and refused.reason.endswith("no such size")
    assert judge.decide(job, Hidden()) is None
