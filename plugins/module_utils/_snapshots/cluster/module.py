"""The module virtual_machine_snapshot: options, results, the message."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, Final

from ..._cluster.client.errors import TaskFailed
from ..._cluster.modules import shared_options as shared
from ..._cluster.modules.module import ON_FAILURE, Module, Params, Result
from ..._cluster.modules.results import changed_result, diff_of, group_warnings
from ..._cluster.reads.revisions import inspect
from ..._cluster.task import Task
from ..._resolver.api.matcher import MATCHER_FIELDS, ObjectKey
from ..._resolver.api.name_rules import quoted, subdomain
from ..._resolver.change.step import VM, Job
from ..change import ABSENT, CLONED, KIND_OF, PRESENT, RESTORED, Keep, SnapshotGoal, SnapshotJob, status_facts
from .snapshots import Drifts, execute

_PLACE: Final = "{name}"
# Option → the states for which it is.
_STATES: Final[dict[str, tuple[str, ...]]] = {"keep": (PRESENT,), "stop": (RESTORED,), "target": (CLONED,)}
_STATES.update(dict.fromkeys(("instancetype", "preference"), (RESTORED, CLONED)))
# These need the end of the wait.
_AFTERWARDS: Final = ("keep", "instancetype", "preference")
_CRASH_CONSISTENT: Final = "the guest was not quiesced, so the snapshot is like a disk after a power cut"
_SHARED: Final = (shared.AUTH, shared.SELECTION, shared.CONCURRENCY, shared.FAIL_FAST, shared.REQUESTS, shared.DRY_RUN)
_KEEP: Final = {"type": "dict", "options": {name: {"type": "int", "default": 0} for name in Keep._fields}}
_SPEC: dict[str, dict[str, Any]] = {
    **{name: spec for options in (*_SHARED, ON_FAILURE) for name, spec in options.items()},
    # There is no default, because the user must choose VMs.
    "label_selectors": {"type": "list", "elements": "str"},
    "state": {"type": "str", "choices": [PRESENT, ABSENT, RESTORED, CLONED], "default": PRESENT},
    **{name: {"type": "str"} for name in ("snapshot", "target", "instancetype", "preference")},
    "stop": {"type": "bool", "default": False},
    "keep": _KEEP,
    "wait": {"type": "bool", "default": True},
    "wait_timeout": {"type": "int", "default": 300},
}


def _run(params: Params, task: Task) -> Result:
    _check(params)
    session = task.connect(params)
    labels = shared.label_selector(params)
    vms = inspect(session, params["namespace"], params["names"], labels)
    drifts = {ObjectKey(VM.kind, vm.namespace, vm.name): vm for vm in vms}
    if labels and (problem := shared.selection_problem(params, session, {vm.name for vm in vms})):
        shared.report_unmatched(problem, task, required=False)
    # Without labels, names may be of VMs that were deleted: their snapshots are still there.
    keys = list(drifts) if labels else [ObjectKey(VM.kind, params["namespace"], name) for name in params["names"]]
    jobs = _jobs(params, list(dict.fromkeys(keys)), drifts)
    sizes = {field: params[field.name] for field in MATCHER_FIELDS if params[field.name]}
    if jobs:
        execute(session, jobs, drifts, sizes, Keep(**(params["keep"] or {})), task)
    for job in jobs:
        if job.changed and status_facts(job.seen.live or {}).get("quiesced") is False:
            job.warn(_CRASH_CONSISTENT)
    result: Result = {"cluster": session.host, "results": [_result(job) for job in jobs]}
    task.warnings += group_warnings(
        (f"{job.key.namespace}/{job.goal.name}", warning) for job in jobs for warning in job.warnings
    )
    if task.diff:
        result["diff"] = [_diff(job) for job in jobs if _is_changed(job)]
    return changed_result(params, task, "virtual machines", "changed", result)


_REQUIRED: Final = [("state", state, ["target" if state == CLONED else "snapshot"]) for state in KIND_OF]
MODULE = Module(_SPEC, _run, {"required_one_of": [("names", "label_selectors")], "required_if": _REQUIRED})


def _check(params: Params) -> None:
    """Fails the task for options that do not go together."""
    shared.check_selection(params)
    shared.check_selector(params)
    state, keep = params["state"], params["keep"]
    problem = ""
    for option, states in _STATES.items():
        if params[option] and state not in states:
            problem = f"{option}: only valid with state {' or '.join(states)}, not with {state}"
        elif params[option] and not params["wait"] and option in _AFTERWARDS:
            problem = f"{option}: the task does it at its end, so it needs wait: true"
    if keep is not None and (min(keep.values()) < 0 or not any(keep.values())):
        problem = "keep: set newest, days or both, each to a number above 0"
    if problem:
        raise TaskFailed(problem)


def _jobs(params: Params, keys: list[ObjectKey], drifts: Drifts) -> list[SnapshotJob]:
    """The jobs of VMs, in their order."""
    state = params["state"]
    # Each restore is an object of its own, which stays as a record.
    suffix = f"-{datetime.now(timezone.utc):%Y%m%d%H%M%S%f}" if state == RESTORED else ""
    jobs: dict[ObjectKey, SnapshotJob] = {}
    for vm in keys:
        snapshot = _name("snapshot", params, vm)
        target = vm.name if state == RESTORED else _name("target", params, vm)
        own = (target if state == CLONED else snapshot) + suffix
        key = ObjectKey(KIND_OF[state].kind, vm.namespace, own)
        if key in jobs:
            text = f"{own} would be of both {jobs[key].goal.name} and {vm.name}; put {_PLACE} in it, the name of the VM"
            raise TaskFailed(f"{'target' if state == CLONED else 'snapshot'}: {text}")
        live = drifts[vm].vm if vm in drifts else None
        jobs[key] = Job(key, SnapshotGoal(state, vm.name, live, snapshot, target, params["stop"]))
    return list(jobs.values())


def _name(option: str, params: Params, vm: ObjectKey) -> str:
    """The name that an option gives for a VM, "" without one."""
    if params[option] is None:
        return ""
    name: str = params[option].replace(_PLACE, vm.name)
    # KubeVirt names the copies of revisions after the snapshot, and would take the VM's revisions for copies.
    if problem := "is the name of the VM" if name == vm.name else subdomain(name):
        raise TaskFailed(f"{option}: {quoted(name)} {problem}; choose another name, such as {_PLACE}-before")
    return name


def _is_changed(job: SnapshotJob) -> bool:
    return job.changed or job.goal.pinned or bool(job.goal.deleted)


def _result(job: SnapshotJob) -> Result:
    goal = job.goal
    result: Result = {"name": goal.name, "namespace": job.key.namespace, "state": goal.state}
    result.update(changed=_is_changed(job), failed=bool(job.failed), pinned=goal.pinned, deleted=goal.deleted)
    some = {"msg": job.failed, "snapshot": goal.snapshot, "target": goal.target, "revisions": goal.revisions}
    some["uid"] = goal.vm["metadata"]["uid"] if goal.vm is not None else ""
    result.update((name, value) for name, value in some.items() if value)
    snapshot = goal.source if goal.state in (RESTORED, CLONED) else job.seen.live
    return {**result, **(status_facts(snapshot) if snapshot is not None else {})}


def _diff(job: SnapshotJob) -> Result:
    goal = job.goal
    made = {PRESENT: "snapshot", RESTORED: "restored_from", CLONED: "clone"}.get(goal.state)
    gone = [*goal.deleted, *([goal.snapshot] if goal.state == ABSENT else [])]
    after: Result = {made: goal.target if goal.state == CLONED else goal.snapshot} if made and job.changed else {}
    before = {"pinned": False, **({"snapshots": gone} if gone else {})}
    after["pinned"] = goal.pinned
    return diff_of(f"VirtualMachine {job.key.namespace}/{goal.name}", before, after, ("", goal.state))
