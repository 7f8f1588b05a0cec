"""What a snapshot, restore or clone requests of KubeVirt, what refuses it, and how far it is; without a server."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.change.step import Act, Decision, Job, Refuse, Seen
from plugins.module_utils._resolver.kubevirt.cluster import Cluster
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._snapshots.change import (
    ABSENT,
    CLONED,
    KIND_OF,
    PRESENT,
    RESTORE,
    RESTORED,
    SNAPSHOT,
    SnapshotGoal,
    SnapshotJob,
    copies_the_vm,
    progress,
    status_facts,
    steps,
)

Manifest = dict[str, Any]
CLONE = KIND_OF[CLONED]
WEB = {"metadata": {"name": "web", "uid": "uid-of-web"}, "status": {"created": True}}
OF_WEB = {"apiGroup": "kubevirt.io", "kind": "VirtualMachine", "name": "web"}
READY = {"phase": "Succeeded", "readyToUse": True}


class Facts:
    """A cluster without objects."""

    cluster = Cluster(Objects([]))


def snapshot(source: str = "web", status: Manifest = READY, **metadata: str) -> Manifest:
    spec = {"source": {**OF_WEB, "name": source}}
    return {"metadata": {"name": "s", "uid": "uid-of-s", **metadata}, "spec": spec, "status": status}


def job(state: str, live: Manifest | None = None, name: str = "s", **goal: Any) -> SnapshotJob:
    wanted = {"vm": WEB, "snapshot": "s", "target": "", **goal}
    return Job(ObjectKey(KIND_OF[state].kind, "shop", name), SnapshotGoal(state, "web", **wanted), seen=Seen(live))


def decided(wanted: SnapshotJob) -> Decision:
    """The decision of the request. The step before refuses the same."""
    check, request = steps(wanted.goal.state)
    result = request.decide(wanted, Facts())
    assert check.decide(wanted, Facts()) == (result if isinstance(result, Refuse) else None)
    assert check.reads(wanted) == request.reads(wanted) == (request.kind,)
    return result


def requested(wanted: SnapshotJob) -> Manifest:
    """The object that is created."""
    result = decided(wanted)
    assert isinstance(result, Act) and result.took_effect is not None
    assert (result.took_effect(Seen()), result.took_effect(Seen(snapshot()))) == (False, True)
    (write,) = result.writes
    assert (write.method, result.dry_run) == ("POST", result.writes)
    body: Manifest = write.body
    return body


def refused(wanted: SnapshotJob) -> str:
    result = decided(wanted)
    assert isinstance(result, Refuse), result
    return result.reason


def test_snapshot_carries_the_uid_of_its_vm() -> None:
    made = requested(job(PRESENT))
    assert made["spec"] == {"source": OF_WEB}
    assert made["metadata"]["labels"] == {"instancetypes.virtshape.io/snapshot-of": "uid-of-web"}


@pytest.mark.parametrize(("stop", "policy"), [(True, "StopTarget"), (False, "FailImmediate")])
def test_restore_stops_the_vm_only_if_told(stop: bool, policy: str) -> None:
    wanted = job(RESTORED, name="r", vm=WEB if stop else None, source=snapshot(), stop=stop)
    made = requested(wanted)
    target = {"target": OF_WEB, "virtualMachineSnapshotName": "s"}
    assert made["spec"] == {**target, "targetReadinessPolicy": policy}
    assert "labels" not in made["metadata"]
    assert "runs" in refused(job(RESTORED, source=snapshot()))


@pytest.mark.parametrize(
    ("goal", "kind"), [({"snapshot": ""}, "VirtualMachine"), ({"source": snapshot()}, "VirtualMachineSnapshot")]
)
def test_clone_is_of_the_vm_or_the_snapshot(goal: Manifest, kind: str) -> None:
    spec = requested(job(CLONED, name="copy", target="copy", **goal))["spec"]
    assert spec["source"]["kind"] == kind and spec["target"]["name"] == "copy"


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (job(PRESENT, vm=None), "the VM web does not exist"),
        (job(CLONED, vm=None, snapshot=""), "the VM web does not exist"),
        (job(PRESENT, snapshot("db")), "the snapshot s is of the VM db; choose another name"),
        (job(ABSENT, snapshot("db")), "the snapshot s is of the VM db; choose another name"),
        (job(RESTORED, source=snapshot("db")), "the snapshot s is of the VM db; choose another name"),
        (job(RESTORED), "the snapshot s does not exist"),
        (job(CLONED), "the snapshot s does not exist"),
        (job(CLONED, source=snapshot(status={})), "the snapshot s is not ready: KubeVirt to begin"),
        (job(PRESENT, snapshot(deletionTimestamp="now")), "the VirtualMachineSnapshot s is being deleted; run the"),
        (job(PRESENT, snapshot(status={"phase": "Failed"})), "the VirtualMachineSnapshot s has failed, so delete it"),
        (job(CLONED, snapshot("db"), snapshot=""), "the VirtualMachineClone s is of db; choose another target"),
    ],
)
def test_what_cannot_be_done_is_refused(wanted: SnapshotJob, reason: str) -> None:
    assert refused(wanted).startswith(reason)


@pytest.mark.parametrize(
    "wanted",
    [
        job(PRESENT, snapshot()),
        job(PRESENT, snapshot(status={})),
        job(ABSENT),
        job(ABSENT, snapshot(deletionTimestamp="now")),
        job(CLONED, target_exists=True),
        job(CLONED, snapshot(), snapshot=""),
    ],
)
def test_what_is_there_is_left(wanted: SnapshotJob) -> None:
    assert decided(wanted) is None


def test_only_the_seen_snapshot_is_deleted() -> None:
    result = decided(job(ABSENT, snapshot()))
    assert isinstance(result, Act) and result.writes[0].body == {"preconditions": {"uid": "uid-of-s"}}


@pytest.mark.parametrize(
    ("wanted", "copies"),
    [
        (job(PRESENT), True),
        (job(PRESENT, snapshot()), False),
        (job(CLONED, snapshot=""), True),
        (job(CLONED), False),
        (job(CLONED, snapshot="", target_exists=True), False),
        (job(RESTORED), False),
    ],
)
def test_which_changes_copy_the_vm(wanted: SnapshotJob, copies: bool) -> None:
    assert copies_the_vm(wanted) is copies


def test_deletion_waits_until_the_snapshot_is_gone() -> None:
    until = steps(ABSENT)[1].until(job(ABSENT))
    assert until is not None and until(None).done and not until(snapshot()).done


@pytest.mark.parametrize(("state", "status"), [(PRESENT, READY), (RESTORED, {"complete": True}), (CLONED, READY)])
def test_request_is_done_when_kubevirt_says_so(state: str, status: Manifest) -> None:
    until = steps(state)[1].until(job(state))
    assert until is not None and until(snapshot(status=status)).done and not until(snapshot(status={})).done
    assert until(None).failed


def test_progress_repeats_what_kubevirt_says() -> None:
    ready = {"type": "Ready", "status": "False", "reason": "Not ready"}
    error = {"phase": "InProgress", "error": {"message": "no\nspace"}, "conditions": [ready]}
    assert progress(SNAPSHOT, snapshot(status=error)).pending == "InProgress: no space: Not ready"
    failure = {"type": "Failure", "status": "True", "reason": "stop the VM"}
    failed = {"complete": False, "conditions": [failure, {**ready, "reason": "stop the VM"}]}
    assert progress(RESTORE, snapshot(status=failed)).failed == "stop the VM"
    assert progress(CLONE, snapshot(status={"phase": "Failed", "conditions": [ready]})).failed == "Failed: Not ready"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], None),
        (["Online", "GuestAgent"], True),
        (["Online", "NoGuestAgent"], False),
        (["Online", "GuestAgent", "QuiesceFailed"], False),
        (["Online", "GuestAgent", "QuiesceTimeout"], False),
        (["Online", "GuestAgent", "Paused"], False),
    ],
)
def test_quiesced_guests(words: list[str], expected: bool | None) -> None:
    later = {"sourceIndications": [{"indication": word, "message": ""} for word in words]}
    for status in ({"indications": words}, later):
        said = status_facts(snapshot(status=status))
        assert (said["indications"], said.get("quiesced")) == (sorted(words), expected)


def test_volumes_without_a_copy_are_told() -> None:
    status = {**READY, "snapshotVolumes": {"includedVolumes": ["root"], "excludedVolumes": ["data"]}}
    assert status_facts(snapshot(status=status)) == {"ready": True, "indications": [], "excluded_volumes": ["data"]}
