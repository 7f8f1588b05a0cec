"""Snapshots, restores and clones of VMs as changes: what a task requests of KubeVirt, and how far that is."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple

from .._resolver.api.keys import SNAPSHOT_LABEL
from .._resolver.api.kinds import KINDS, Kind
from .._resolver.api.manifest import Manifest, Progress, labels_of
from .._resolver.api.name_rules import one_line
from .._resolver.api.write import create, delete
from .._resolver.change.step import VM, Act, Decision, Facts, Job, Refuse, Step

PRESENT: Final = "present"
ABSENT: Final = "absent"
RESTORED: Final = "restored"
CLONED: Final = "cloned"
SNAPSHOT: Final = KINDS["VirtualMachineSnapshot"]
RESTORE: Final = KINDS["VirtualMachineRestore"]
KIND_OF: Final = {PRESENT: SNAPSHOT, ABSENT: SNAPSHOT, RESTORED: RESTORE, CLONED: KINDS["VirtualMachineClone"]}
"""State → the kind of the object that requests it of KubeVirt."""
_DONE: Final = {SNAPSHOT: ("readyToUse", True), RESTORE: ("complete", True), KIND_OF[CLONED]: ("phase", "Succeeded")}

_RUNS: Final = "the VM runs, and KubeVirt restores only a stopped one; stop it, or set stop: true"


@dataclass(eq=False)
class SnapshotGoal:
    """The request of a task for one VM, and what the task did beside it.

    vm: the VM, None if it does not exist. snapshot: the name of the snapshot, "" to clone the VM as it is. source: the
    snapshot to restore or clone. target: the name of the VM that is restored or made. target_exists: there is a VM of
    that name. stop: the task may stop the VM. pinned: it pinned the revisions of the VM. deleted: the snapshots that
    it deleted because others suffice. revisions: of the VM or the target afterwards, by matcher, if known.
    """

    state: str
    name: str
    vm: Manifest | None
    snapshot: str
    target: str
    stop: bool = False
    source: Manifest | None = None
    target_exists: bool = False
    pinned: bool = False
    deleted: list[str] = field(default_factory=list)
    revisions: dict[str, str] = field(default_factory=dict)


SnapshotJob = Job[SnapshotGoal]


class Keep(NamedTuple):
    """The snapshots to keep: this many of the newest, and all of the last days."""

    newest: int = 0
    days: int = 0


def copies_the_vm(job: SnapshotJob) -> bool:
    """Whether KubeVirt is to copy the VM as it is now."""
    goal = job.goal
    return job.seen.live is None and not goal.target_exists and (goal.state == PRESENT or not goal.snapshot)


def steps(state: str) -> tuple[Step, Step]:
    """(the step that refuses what cannot be done; the one that requests the change and waits for its end)."""
    kind = KIND_OF[state]
    until = _deletion if state == ABSENT else partial(progress, kind)
    return Step("check", _refusal, lambda _job: (kind,)), Step(
        "request", _decide, lambda _job: (kind,), until=lambda _job: until, kind=kind
    )


def progress(kind: Kind, live: Manifest | None) -> Progress:
    """How far the request of a kind is, in KubeVirt's own words."""
    if live is None:
        return Progress(failed="it was deleted while the task waited for it")
    status = live.get("status") or {}
    conditions = {item["type"]: item for item in status.get("conditions") or ()}
    reasons = [(conditions.get(name) or {}).get("reason") for name in ("Failure", "Ready")]
    said = dict.fromkeys([status.get("phase"), (status.get("error") or {}).get("message"), *reasons])
    text = one_line(": ".join(filter(None, said))) or "KubeVirt to begin"
    field_name, value = _DONE[kind]
    failed = status.get("phase") == "Failed" or "Failure" in conditions
    return Progress(done=status.get(field_name) == value, failed=text if failed else None, pending=text)


def status_facts(snapshot: Manifest) -> dict[str, Any]:
    """The state of a snapshot. quiesced: the guest had frozen its file systems; left out without a guest."""
    status = snapshot.get("status") or {}
    # Later releases give a message with each word.
    later = [item["indication"] for item in status.get("sourceIndications") or ()]
    words = sorted(later or status.get("indications") or ())
    excluded = (status.get("snapshotVolumes") or {}).get("excludedVolumes") or []
    result = {"ready": progress(SNAPSHOT, snapshot).done, "indications": words, "excluded_volumes": excluded}
    if "Online" in words:
        result["quiesced"] = "GuestAgent" in words and not any(word.startswith(("Paused", "Quiesce")) for word in words)
    return result


def superfluous(
    snapshots: Iterable[Manifest], vm: Manifest, keep: Keep, now: datetime, in_use: Collection[str]
) -> list[Manifest]:
    """The snapshots to delete, oldest first: only ended ones that this collection took of this very VM.

    A failed snapshot does not count as one of the newest. in_use: the names of snapshots to leave alone.
    """
    uid, name = vm["metadata"]["uid"], vm["metadata"]["name"]
    own = [item for item in snapshots if labels_of(item).get(SNAPSHOT_LABEL) == uid]
    own = sorted((item for item in own if item["spec"]["source"]["name"] == name), key=_taken)
    ready = [item["metadata"]["name"] for item in own if progress(SNAPSHOT, item).done]
    kept = {*ready[max(0, len(ready) - keep.newest) :], *in_use}
    oldest = (now - timedelta(days=keep.days)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return [
        item
        for item in own
        if item["metadata"]["name"] not in kept
        and (item["metadata"]["name"] in ready or progress(SNAPSHOT, item).failed)
        and not item["metadata"].get("deletionTimestamp")
        and _taken(item)[0] <= oldest
    ]


def _taken(snapshot: Manifest) -> tuple[str, str]:
    return snapshot["metadata"]["creationTimestamp"], snapshot["metadata"]["name"]


def _deletion(live: Manifest | None) -> Progress:
    return Progress(done=live is None, pending="KubeVirt to delete it")


def _refusal(job: SnapshotJob, facts: Facts) -> Decision:
    decided = _decide(job, facts)
    return decided if isinstance(decided, Refuse) else None


def _decide(job: SnapshotJob, _facts: Facts) -> Decision:
    goal, live = job.goal, job.seen.live
    if goal.state == ABSENT:
        return None if live is None else _of_another(goal, live) or _delete(job, live)
    if goal.target_exists:
        return None
    if live is not None:
        return _unfit(job, live)
    if goal.state == PRESENT or not goal.snapshot:
        refusal = None if goal.vm is not None else Refuse(f"the VM {goal.name} does not exist", missing=True)
    elif goal.source is None:
        refusal = Refuse(f"the snapshot {goal.snapshot} does not exist", missing=True)
    elif not (state := progress(SNAPSHOT, goal.source)).done:
        refusal = Refuse(f"the snapshot {goal.snapshot} is not ready: {state.pending}", missing=True)
    else:
        refusal = _of_another(goal, goal.source)
    if goal.state == RESTORED and not goal.stop and ((goal.vm or {}).get("status") or {}).get("created"):
        refusal = refusal or Refuse(_RUNS)
    return refusal or _request(job)


def _delete(job: SnapshotJob, live: Manifest) -> Decision:
    writes = (delete(job.key.path, live["metadata"]["uid"]),)
    return None if live["metadata"].get("deletionTimestamp") else Act(writes, writes)


def _unfit(job: SnapshotJob, live: Manifest) -> Refuse | None:
    """Why an object that exists is not what the task requests."""
    goal, title, state = job.goal, f"the {job.key.kind} {job.key.name}", progress(KIND_OF[job.goal.state], live)
    if live["metadata"].get("deletionTimestamp"):
        return Refuse(f"{title} is being deleted; run the task again", missing=True)
    if state.failed:
        return Refuse(f"{title} has failed, so delete it: {state.failed}")
    if goal.state == CLONED and live["spec"]["source"] != _spec(goal)["source"]:
        return Refuse(f"{title} is of {live['spec']['source']['name']}; choose another target")
    return _of_another(goal, live) if goal.state == PRESENT else None


def _of_another(goal: SnapshotGoal, snapshot: Manifest) -> Refuse | None:
    """Why a snapshot is not one of the VM. To KubeVirt, a new VM has the snapshots of an earlier one of its name."""
    name, source = snapshot["metadata"]["name"], snapshot["spec"]["source"]["name"]
    return None if source == goal.name else Refuse(f"the snapshot {name} is of the VM {source}; choose another name")


def _request(job: SnapshotJob) -> Act:
    goal, kind = job.goal, KIND_OF[job.goal.state]
    labels = {"labels": {SNAPSHOT_LABEL: goal.vm["metadata"]["uid"]}} if goal.state == PRESENT and goal.vm else {}
    metadata = {"name": job.key.name, "namespace": job.key.namespace, **labels}
    manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": _spec(goal)}
    writes = (create(kind.path(job.key.namespace), manifest),)
    return Act(writes, writes, took_effect=lambda now: now.live is not None, evidence=(kind,))


def _spec(goal: SnapshotGoal) -> Manifest:
    """The specification of the object that requests the change."""
    vm = _reference(VM, goal.name)
    if goal.state == PRESENT:
        return {"source": vm}
    if goal.state == CLONED:
        source = _reference(SNAPSHOT, goal.snapshot) if goal.snapshot else vm
        return {"source": source, "target": _reference(VM, goal.target)}
    policy = "StopTarget" if goal.stop else "FailImmediate"
    return {"target": vm, "virtualMachineSnapshotName": goal.snapshot, "targetReadinessPolicy": policy}


def _reference(kind: Kind, name: str) -> Manifest:
    return {"apiGroup": kind.group, "kind": kind.kind, "name": name}
