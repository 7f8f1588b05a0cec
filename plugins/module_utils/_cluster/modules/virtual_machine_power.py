"""The module virtual_machine_power: options, results, the message."""

from __future__ import annotations

from typing import Any, Final

from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.name_rules import quoted
from ..._resolver.change.power import PAUSED, RESTARTED, STARTED, STATES, STOPPED
from ..._resolver.change.power_steps import PowerRequest
from ..._resolver.change.step import REQUEST
from ..._resolver.declare import option_checks
from ..._resolver.kubevirt.vm.readiness import run_strategy
from ..client.errors import TaskFailed
from ..client.session import Session
from ..task import Task
from ..writes.power import PowerJob, power, power_job
from .module import ON_FAILURE, Module, Params, Result
from .results import changed_result, diff_of, group_warnings, printable_status, vmi_result
from .shared_options import (
    AUTH,
    CONCURRENCY,
    FAIL_FAST,
    REQUESTS,
    SELECTION,
    WAIT,
    check_selector,
    label_selector,
    select_vms,
)

# The options of a VM; the top level sets them for all.
_VM_OPTIONS: dict[str, dict[str, Any]] = {
    "namespace": {"type": "str"},
    "state": {"type": "str", "choices": list(STATES)},
    "paused": {"type": "bool"},
    "force": {"type": "bool"},
    "grace_period": {"type": "int"},
}
# The status of a VM in a state that a task requests, if it is not Running.
_STATUS: Final = {STOPPED: "Stopped", PAUSED: "Paused"}
_SPEC: dict[str, dict[str, Any]] = {
    **AUTH,
    **SELECTION,
    # There is no default, because the user must choose VMs.
    "label_selectors": {"type": "list", "elements": "str"},
    **_VM_OPTIONS,
    "virtual_machines": {
        "type": "list",
        "elements": "dict",
        "options": {**_VM_OPTIONS, "name": {"type": "str", "required": True}},
    },
    **WAIT,
    **CONCURRENCY,
    **FAIL_FAST,
    **REQUESTS,
    **ON_FAILURE,
}


def _run(params: Params, task: Task) -> Result:
    session = task.connect(params)
    requested = _listed(params) if params["virtual_machines"] is not None else _selected(params, session, task)
    power(session, requested, task)
    result: Result = {"cluster": session.host, "results": [_result(job) for job in requested]}
    task.warnings += group_warnings((job.label, warning) for job in requested for warning in job.warnings)
    if task.diff:
        result["diff"] = [_diff(job, task.check_mode) for job in requested if job.changed]
    return changed_result(params, task, "virtual machines", "changed", result)


MODULE = Module(
    _SPEC,
    _run,
    {
        "required_one_of": [("names", "label_selectors", "virtual_machines")],
        "mutually_exclusive": [("virtual_machines", "names"), ("virtual_machines", "label_selectors")],
    },
)


def _selected(params: Params, session: Session, task: Task) -> list[PowerJob]:
    """The VMs selected by names, by labels, or by both."""
    requested = _requested(params, "")
    names, labels = params["names"], label_selector(params)
    if names is not None and not params["namespace"]:
        raise TaskFailed("namespace: required with names")
    check_selector(params)
    if labels is None:
        return [power_job(params["namespace"], name, requested) for name in dict.fromkeys(names)]
    vms = select_vms(params, session, task, required=True)
    return [power_job(vm["metadata"]["namespace"], vm["metadata"]["name"], requested) for vm in vms]


def _listed(params: Params) -> list[PowerJob]:
    """The VMs of the option `virtual_machines`."""
    jobs: dict[ObjectKey, PowerJob] = {}
    for index, options in enumerate(params["virtual_machines"]):
        own = {name: options[name] if options[name] is not None else params[name] for name in _VM_OPTIONS}
        where = f"virtual_machines[{index}] ({quoted(options['name'])[1:-1]})"
        problem = option_checks.option_problem({**own, "name": options["name"]})
        if problem:
            raise TaskFailed(f"{where}: {problem}")
        if not own["namespace"]:
            raise TaskFailed(f"{where}: namespace: required; set the namespace of the VM")
        job = power_job(own["namespace"], options["name"], _requested(own, f"{where}: "))
        if job.key in jobs:
            raise TaskFailed(f"{where}: name: another entry names {job.label} too; remove one of them")
        jobs[job.key] = job
    return list(jobs.values())


def _requested(options: Params, where: str) -> PowerRequest:
    """The power state that the options of a VM, or of the task, request."""
    state, grace = options["state"], options["grace_period"]
    problem = None
    if state is None:
        problem = f"state: required; choose from {', '.join(STATES)}"
    elif options["paused"] and state != STARTED:
        problem = f"paused: only valid with state {STARTED}, not with {state}"
    elif (options["force"] or grace is not None) and state not in (STOPPED, RESTARTED):
        problem = f"force: only valid with the states {STOPPED} and {RESTARTED}, not with {state}"
    elif grace is not None and not options["force"]:
        problem = "grace_period: only valid with force; otherwise the grace period of the VM applies"
    if problem:
        raise TaskFailed(f"{where}{problem}")
    return PowerRequest(state, bool(options["paused"]), (grace or 0) if options["force"] else None)


def _verb(job: PowerJob) -> str:
    """The request that was sent (check mode: would be sent), "" for none."""
    return job.goal.verb if REQUEST in job.done else ""


def _result(job: PowerJob) -> Result:
    result: Result = {
        "name": job.key.name,
        "namespace": job.key.namespace,
        "state": job.goal.state,
        "verb": _verb(job),
        "changed": bool(_verb(job)),
        "failed": bool(job.failed),
    }
    if job.failed:
        result["msg"] = job.failed
    if job.seen.live is not None:
        result["status"] = printable_status(job.seen.live)
        result["run_strategy"] = run_strategy(job.seen.live)
    if job.before.live is not None:
        result["uid"] = job.before.live["metadata"].get("uid", "")
        result["status_before"] = printable_status(job.before.live)
    if job.seen.vmi is not None:
        result["vmi"] = vmi_result(job.seen.vmi)
    return result


def _diff(job: PowerJob, check_mode: bool) -> Result:
    after = _predicted(job) if check_mode else _power_of(*job.seen)
    return diff_of(f"VirtualMachine {job.label}", _power_of(*job.before), after, ("", _verb(job)))


def _predicted(job: PowerJob) -> Result:
    """The power state that the request would lead to."""
    state = job.goal.state
    status = {"status": "Paused" if job.goal.paused else _STATUS.get(state, "Running")}
    if state == STOPPED:
        return status
    if state in (STARTED, RESTARTED):
        return {**status, "vmi": "new"}
    return {**_power_of(None, job.before.vmi), **status}


def _power_of(vm: Result | None, vmi: Result | None) -> Result:
    """The power state of a VM. A new uid identifies a restarted VMI."""
    status = {"status": printable_status(vm or {})}
    return {**status, "vmi": vmi["metadata"]["uid"]} if vmi is not None else status
