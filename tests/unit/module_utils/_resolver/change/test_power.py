"""The verb that takes a VM to a state, in all the states that it may be in."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.manifest import Progress
from plugins.module_utils._resolver.api.write import RetrySafety
from plugins.module_utils._resolver.change.power import (
    Decision,
    SubresourceRequest,
    decide,
    guest_ended,
    migrated,
    reached,
    subresource_request,
)

Manifest = dict[str, Any]

NOTHING = Decision()
SEND = Decision(needed=True)
AFTER_STOP = Decision(needed=True, wait_for="stopped")
AFTER_START = Decision(needed=True, wait_for="started")

FAILURE = {"type": "Failure", "status": "True", "reason": "FailedFindInstancetype", "message": "not found"}
ENDED = Progress(failed="the VMI ended during the migration")
PAUSED = [{"type": "Paused", "status": "True"}]
NOT_PAUSED = [{"type": "Ready", "status": "True"}, {"type": "Paused", "status": "False"}]
STOP = {"action": "Stop", "uid": "1"}
START = {"action": "Start"}


def vm(strategy: str = "Always", *requests: Manifest, **status: Any) -> Manifest:
    if requests:
        status["stateChangeRequests"] = list(requests)
    return {"metadata": {"name": "a"}, "spec": {"runStrategy": strategy}, "status": status}


def vmi(phase: str = "Running", ending: bool = False, **status: Any) -> Manifest:
    metadata = {"uid": "1", **({"deletionTimestamp": "now"} if ending else {})}
    spec = {"terminationGracePeriodSeconds": 180}
    return {"metadata": metadata, "spec": spec, "status": {"phase": phase, **status}}


# VM, VMI, and what to do for started, stopped, restarted, paused, unpaused.
TABLE: list[tuple[str, Manifest, Any, tuple[Decision, ...]]] = [
    ("runs", vm(), vmi(), (NOTHING, SEND, SEND, SEND, NOTHING)),
    ("is paused", vm(), vmi(conditions=PAUSED), (NOTHING, SEND, SEND, NOTHING, SEND)),
    ("was paused", vm(), vmi(conditions=NOT_PAUSED), (NOTHING, SEND, SEND, SEND, NOTHING)),
    ("starts", vm(), vmi("Scheduling"), (NOTHING, SEND, SEND, AFTER_START, AFTER_START)),
    ("will start", vm(), None, (NOTHING, SEND, NOTHING, AFTER_START, AFTER_START)),
    ("halted", vm("Halted"), None, (SEND, NOTHING, SEND, SEND, SEND)),
    ("halted, still stops", vm("Halted"), vmi(ending=True), (AFTER_STOP, NOTHING, SEND, SEND, SEND)),
    ("halted, still runs", vm("Halted"), vmi(), (AFTER_STOP, NOTHING, SEND, SEND, NOTHING)),
    ("halted, is to start", vm("Halted", START), None, (NOTHING, SEND, NOTHING, AFTER_START, AFTER_START)),
    ("manual, off", vm("Manual"), None, (SEND, NOTHING, SEND, SEND, SEND)),
    ("manual, is to start", vm("Manual", START), None, (NOTHING, SEND, NOTHING, AFTER_START, AFTER_START)),
    ("manual, is to stop", vm("Manual", STOP), vmi(), (AFTER_STOP, NOTHING, SEND, SEND, NOTHING)),
    ("manual, stops", vm("Manual"), vmi(ending=True), (AFTER_STOP, NOTHING, SEND, SEND, SEND)),
    ("manual, has ended", vm("Manual"), vmi("Succeeded"), (SEND, NOTHING, SEND, SEND, SEND)),
    ("is to restart", vm("Manual", STOP, START), vmi(), (NOTHING, SEND, NOTHING, AFTER_START, AFTER_START)),
    ("is replaced", vm(), vmi(ending=True), (NOTHING, SEND, NOTHING, AFTER_START, AFTER_START)),
    ("is replaced, manual", vm("Manual", START), vmi(ending=True), (NOTHING, SEND, NOTHING, AFTER_START, AFTER_START)),
    ("an old request", vm("Manual", {**STOP, "uid": "0"}), vmi(), (NOTHING, SEND, SEND, SEND, NOTHING)),
    ("once, will start", vm("Once"), None, (NOTHING, SEND, SEND, SEND, SEND)),
    ("once, has ended", vm("Once", runStrategy="Once"), vmi("Succeeded"), (SEND, NOTHING, SEND, SEND, SEND)),
    ("rerun, was stopped", vm("RerunOnFailure", runStrategy="RerunOnFailure"), None, (SEND, NOTHING, SEND, SEND, SEND)),
    (
        "rerun, will start again",
        vm("RerunOnFailure", runStrategy="RerunOnFailure"),
        vmi("Failed"),
        (NOTHING, SEND, SEND, SEND, SEND),
    ),
]


@pytest.mark.parametrize(
    ("observed", "instance", "decisions"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_power_state_decides_the_request(observed: Manifest, instance: Any, decisions: tuple[Decision, ...]) -> None:
    states = ("started", "stopped", "restarted", "paused", "unpaused")
    assert tuple(decide(state, observed, instance) for state in states) == decisions


def test_a_failing_vm_refuses_an_automatic_start() -> None:
    failing = vm(conditions=[FAILURE])
    assert decide("started", failing, None) == Decision(refusal="FailedFindInstancetype: not found")
    assert decide("stopped", failing, None) == SEND
    assert decide("paused", failing, None) == SEND


def test_a_vm_that_is_being_deleted() -> None:
    deleting = vm()
    deleting["metadata"]["deletionTimestamp"] = "now"
    assert decide("stopped", deleting, vmi()) == NOTHING
    assert decide("started", deleting, vmi()) == Decision(refusal="the VM is being deleted")


def test_only_a_shorter_grace_period_repeats_a_stop() -> None:
    for grace, decision in ((0, SEND), (179, SEND), (180, NOTHING), (None, NOTHING)):
        assert decide("stopped", vm("Halted"), vmi(ending=True), grace) == decision


def test_a_running_migration_is_not_requested_again() -> None:
    assert decide("migrated", vm(), vmi(migrationState={"migrationUid": "m"})) == NOTHING
    for over in ({"completed": True}, {"failed": True}, {"failed": True, "completed": True}):
        assert decide("migrated", vm(), vmi(migrationState={"migrationUid": "m", **over})) == SEND
    assert decide("migrated", vm("Halted"), None) == SEND


@pytest.mark.parametrize(
    ("desired", "options", "sent"),
    [
        ("started", {}, SubresourceRequest("virtualmachines", "start", {})),
        ("started", {"paused": True}, SubresourceRequest("virtualmachines", "start", {"paused": True})),
        ("stopped", {}, SubresourceRequest("virtualmachines", "stop", {})),
        ("stopped", {"grace_period": 0}, SubresourceRequest("virtualmachines", "stop", {"gracePeriod": 0})),
        ("restarted", {}, SubresourceRequest("virtualmachines", "restart", {})),
        ("restarted", {"grace_period": 0}, SubresourceRequest("virtualmachines", "restart", {"gracePeriodSeconds": 0})),
        ("paused", {}, SubresourceRequest("virtualmachineinstances", "pause", {})),
        ("unpaused", {}, SubresourceRequest("virtualmachineinstances", "unpause", {})),
        ("migrated", {}, SubresourceRequest("virtualmachines", "migrate", {})),
        (
            "soft_rebooted",
            {},
            SubresourceRequest("virtualmachineinstances", "softreboot", {}, False, RetrySafety.NEVER),
        ),
    ],
)
def test_the_request(desired: str, options: dict[str, Any], sent: SubresourceRequest) -> None:
    assert subresource_request(desired, **options) == sent


@pytest.mark.parametrize(
    ("state", "observed", "result"),
    [
        ("started", vm(printableStatus="Running", ready=True), Progress(done=True)),
        ("started", vm(printableStatus="Running"), Progress(pending="the VM to be ready (now Running)")),
        ("started", vm(printableStatus="Paused"), Progress(done=True)),
        ("started", vm(printableStatus="Starting"), Progress(pending="the VM to run (now Starting)")),
        ("started", vm(printableStatus="ErrImagePull"), Progress(stuck="ErrImagePull", grace=20.0)),
        ("started", vm(printableStatus="CrashLoopBackOff"), Progress(failed="CrashLoopBackOff")),
        (
            "restarted",
            vm("Always", STOP, START, printableStatus="Running"),
            Progress(pending="the VM to run (now Running)"),
        ),
        ("stopped", vm("Halted", printableStatus="Stopped"), Progress(done=True)),
        ("stopped", vm("Halted", printableStatus="Stopping"), Progress(pending="the VM to stop (now Stopping)")),
        ("stopped", vm("Manual", STOP, printableStatus="Stopped"), Progress(pending="the VM to stop (now Stopped)")),
        ("paused", vm(printableStatus="Running"), Progress(pending="the VM to be paused (now Running)")),
        ("paused", vm(printableStatus="Paused", conditions=PAUSED), Progress(done=True)),
        ("unpaused", vm(printableStatus="Running"), Progress(done=True)),
        # Neither a condition of another type nor one that is not so.
        ("unpaused", vm(conditions=[{"type": "Ready", "status": "True"}]), Progress(done=True)),
        ("unpaused", vm(conditions=[{"type": "Paused", "status": "False"}]), Progress(done=True)),
        (
            "unpaused",
            vm(printableStatus="Paused", conditions=PAUSED),
            Progress(pending="the VM to be unpaused (now Paused)"),
        ),
        ("soft_rebooted", vm(), Progress(done=True)),
        ("started", vm(), Progress(pending="the VM to run (now without status)")),
        ("stopped", vm("Halted"), Progress(pending="the VM to stop (now without status)")),
        ("started", vm(printableStatus="ErrorUnschedulable"), Progress(stuck="ErrorUnschedulable", grace=20)),
        ("stopped", None, Progress(done=True)),
        ("started", None, Progress(failed="the VM was deleted")),
    ],
)
def test_state_is_reached_when_the_guest_matches(state: str, observed: Any, result: Progress) -> None:
    assert reached(state, observed) == result


def test_migration_progress_is_derived_from_its_state() -> None:
    old = {"migrationUid": "old", "completed": True}
    before = vmi(migrationState=old)
    for instance, result in (
        (before, Progress(pending="the migration to begin")),
        (vmi(migrationState={"migrationUid": "new", "targetNode": "n2"}), Progress(pending="the migration to n2")),
        (vmi(migrationState={"migrationUid": "new", "completed": True}), Progress(done=True)),
        (
            vmi(migrationState={"migrationUid": "new", "completed": True, "failed": True, "failureReason": "no room"}),
            Progress(failed="the migration failed: no room"),
        ),
        (
            vmi(migrationState={"migrationUid": "new", "failed": True, "abortStatus": "Aborted"}),
            Progress(failed="the migration failed: Aborted"),
        ),
        (
            vmi(migrationState={"migrationUid": "new", "failed": True}),
            Progress(failed="the migration failed: no reason is given"),
        ),
        (vmi(migrationState={"migrationUid": "new"}), Progress(pending="the migration to another node")),
        (vmi("Failed", migrationState={"migrationUid": "new"}), ENDED),
        (None, ENDED),
    ):
        assert migrated(before, instance) == result
    # One that had failed before is another.
    before = vmi(migrationState={"migrationUid": "old", "failed": True})
    assert migrated(before, before) == Progress(pending="the migration to begin")
    # One that was under way already.
    under_way = vmi(migrationState={"migrationUid": "new"})
    assert migrated(under_way, vmi(migrationState={"migrationUid": "new", "completed": True})).done


def test_a_guest_has_ended_without_an_active_vmi() -> None:
    ending = {"deletionTimestamp": "2026-11-22T00:00:00Z"}
    assert guest_ended(None)
    assert not guest_ended({"metadata": {}, "status": {"phase": "Running"}})
    assert not guest_ended({"metadata": ending, "status": {"phase": "Succeeded"}})
    # The run strategies Once and RerunOnFailure leave it.
    assert guest_ended({"metadata": {}, "status": {"phase": "Succeeded"}})
