"""The module controller_revision: options, results, the message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from ..._resolver.api.matcher import MATCHER_FIELDS
from ..._resolver.api.name_rules import quoted
from ..._resolver.api.type_remedies import FROM_YAML
from ..._resolver.change import revision_change
from ..._resolver.change.drift import Drift
from ..._resolver.change.revision_steps import (
    RevisionJob,
    is_changed,
    is_restarted,
    needs,
    needs_restart_still,
)
from ..._resolver.change.step import Job
from ..._resolver.kubevirt.vm.readiness import restart_required
from ..client.errors import RequestFailed, TaskFailed
from ..client.session import Session
from ..reads.revisions import inspect, matcher_fields_of
from ..reads.snapshot import namespace_problem
from ..task import Task
from ..writes.revisions import change, excuse_unmet
from .module import ON_FAILURE, Module, Params, Result
from .results import changed_result, diff_of, group_warnings, printable_status
from .shared_options import (
    AUTH,
    CONCURRENCY,
    DRY_RUN,
    REQUESTS,
    SELECTION,
    WAIT,
    check_selection,
    label_selector,
    report_unmatched,
    selection_problem,
)
from .vm_results import refresh_result

StateOf = Callable[[Session, "list[Drift]", Task], Sequence[Job[Drift]]]
"""Brings VMs into a state that a capability adds. Returns a job for each VM, with its failure."""

_STATES: Final = ("refreshed", "moved", "restored", "pinned", "unpinned", "pruned")
_SPEC: Final[dict[str, dict[str, Any]]] = {
    **AUTH,
    **SELECTION,
    **REQUESTS,
    **DRY_RUN,
    "revisions_of": {"type": "str", "choices": ["both", "instancetype", "preference"], "default": "both"},
    "revision": {"type": "str"},
    "revisions": {"type": "dict"},
    "replace": {"type": "raw"},
    "patch": {"type": "dict"},
    "previous": {"type": "dict"},
    "keep": {"type": "int", "default": 0},
    "restart": {"type": "str", "choices": ["never", "if_required", "always"], "default": "never"},
    "wait_timeout": WAIT["wait_timeout"],
    **CONCURRENCY,
    **ON_FAILURE,
}


def _run(states: Mapping[str, StateOf], params: Params, task: Task) -> Result:
    params = _with_names(params)
    if params["state"] == "pruned":
        return _prune(params, task)
    if params["state"] == "restored" and not params["previous"]:
        return changed_result(params, task, "virtual machines", params["state"], {"results": []})
    session, vms = _selected_vms(params, task)
    if params["state"] in states:
        jobs_of_state = states[params["state"]](session, vms, task)
        shown = [{**refresh_result(job.goal), **_change(job, job.changed)} for job in jobs_of_state]
        done: Result = {"cluster": session.host, "results": shown}
        return changed_result(params, task, "virtual machines", params["state"], done)
    if vms and params["patch"]:
        from ..._resolver.change.move import patch_problem

        if problem := patch_problem(params["patch"], vms[0].cluster.release):
            raise TaskFailed(f"patch: {problem}")
    jobs = change(session, vms, _decision(params), params["restart"], task)
    if task.check_mode:
        excuse_unmet(jobs)
    task.warnings += group_warnings((job.label, warning) for job in jobs for warning in job.warnings)
    result: Result = {"cluster": session.host, "results": [revision_result(job) for job in jobs]}
    if task.diff:
        result["diff"] = [_diff(job) for job in jobs if is_changed(job)]
    return changed_result(params, task, "virtual machines", params["state"], result)


_RULES: Final[dict[str, Any]] = {
    "required_if": [
        ("state", "pinned", ["revision", "revisions"], True),
        ("state", "moved", ["replace", "patch"], True),
        ("state", "restored", ["previous"]),
        ("state", "pruned", ["namespace"]),
    ],
    "mutually_exclusive": [("revision", "revisions")],
}


def module(**states: StateOf) -> Module:
    """The module. states: what capabilities do with VMs, by the state that asks for it."""
    state = {"type": "str", "choices": [*_STATES, *states], "default": "refreshed"}
    return Module({**_SPEC, "state": state}, partial(_run, states), _RULES)


def _with_names(params: Params) -> Params:
    """The checked options, with `revisions` or `previous` naming the VMs if `names` does not."""
    replace = params["replace"]
    if replace is not None:
        _check_replace(replace)
    matchers = [matcher_field.name for matcher_field in MATCHER_FIELDS]
    for option, keys, complete in (("revisions", matchers, False), ("previous", ["revisions", "spec"], True)):
        by_vm = params[option]
        for name, given in (by_vm or {}).items():
            unknown = not isinstance(given, dict) or not given or set(given) - set(keys)
            if unknown or (complete and set(given) != set(keys)):
                end = "" if complete else ", or one of them"
                raise TaskFailed(f"{option}: {name}: expected a dictionary with the keys {' and '.join(keys)}{end}")
        if by_vm is not None and params["names"] is None:
            return {**params, "names": list(by_vm)}
        missing = [] if by_vm is None else [name for name in params["names"] if name not in by_vm]
        if missing:
            raise TaskFailed(f"{option}: no entry for {', '.join(missing)}; give every VM of names an entry")
    return params


def _check_replace(replace: Any) -> None:
    """Raises TaskFailed for what is neither names by names nor the word for them."""
    from ..._resolver.change.move import DEPRECATED

    names_given = isinstance(replace, dict) and all(isinstance(name, str) and name for name in replace.values())
    if replace != DEPRECATED and not names_given:
        raise TaskFailed(
            f"replace: {quoted(replace)}: write the word {DEPRECATED}, or a dictionary such as"
            f" {{u1.medium: u1.large}}{FROM_YAML if isinstance(replace, str) and ':' in replace else ''}"
        )


def _selected_vms(params: Params, task: Task) -> tuple[Session, list[Drift]]:
    check_selection(params)
    session = task.connect(params)
    vms = inspect(session, params["namespace"], params["names"], label_selector(params))
    task.warnings += [vms[0].cluster.kubevirt.assumption] if vms and vms[0].cluster.kubevirt.assumption else []
    if problem := selection_problem(params, session, {vm.name for vm in vms}, every_name=True):
        report_unmatched(problem, task, required=bool(params["names"]) or params["restart"] != "never")
    return session, vms


def _decision(params: Params) -> Callable[[Drift], revision_change.RevisionChange]:
    matcher_fields = matcher_fields_of(params["revisions_of"])
    if params["state"] == "refreshed":
        return lambda vm: revision_change.refresh(vm, matcher_fields)
    if params["state"] == "unpinned":
        return lambda vm: revision_change.unpin(vm.vm, matcher_fields)
    if params["state"] in ("moved", "restored"):
        from ..._resolver.change import move

        if params["state"] == "restored":
            return lambda vm: move.restore(vm, params["previous"][vm.name])
        replace, patch = params["replace"], params["patch"]
        return lambda vm: move.move(vm, matcher_fields, replace, patch)
    by_vm = params["revisions"] or {}
    return lambda vm: revision_change.pin(vm, matcher_fields, by_vm.get(vm.name) or params["revision"])


def _prune(params: Params, task: Task) -> Result:
    from ..writes.pruning import prunable, prune

    # Only all VMs of a namespace show which revisions are referenced.
    if params["names"] or params["label_selectors"]:
        raise TaskFailed("state: pruned applies to a whole namespace; remove names and label_selectors")
    session = task.connect(params)
    try:
        revisions = prunable(session, params["namespace"], params["keep"])
    except RequestFailed as error:
        message = f"{error}; nothing was pruned, because a VM that the task cannot see may use a revision"
        raise TaskFailed(message) from error
    if not revisions and (problem := namespace_problem(session, params["namespace"])):
        task.report_missing(problem)
    prune(session, revisions, task)
    results = [{"name": job.key.name, "namespace": job.key.namespace, **_change(job, job.changed)} for job in revisions]
    return changed_result(params, task, "revisions", params["state"], {"results": results})


def _change(job: Job[Any], changed: bool) -> Result:
    failed = {"msg": job.failed} if job.failed else {}
    return {"changed": changed, "failed": bool(job.failed), **failed}


def revision_result(job: RevisionJob) -> Result:
    goal, vm = job.goal, job.seen.live
    change = goal.change
    result = {**refresh_result(goal.before), **_change(job, is_changed(job))}
    result.update(restarted=is_restarted(job), revisions=goal.revisions, needs=needs(job))
    effect = change.effect if change.due else None
    if change.previous is not None:
        result.update(spec=change.spec, previous=change.previous)
    if effect is not None:
        result.update(guest_before=effect.guest_before, guest_after=effect.guest_after, changes=list(effect.changes))
    if job.warnings:
        result["warnings"] = job.warnings
    if job.written and vm is not None:
        result["expanded"] = [
            matcher_field.name for matcher_field in change.matcher_fields if not matcher_field.matcher_of(vm)
        ]
    if vm is not None:
        result["status"] = printable_status(vm)
    if goal.before.guest_current is not None or job.written:
        result.update(restart_required=needs_restart_still(job))
    if goal.guest_current:
        result["guest_current"] = True
        result.pop("outstanding", None)
    reason = (restart_required(vm or {}) or {}).get("message")
    if reason:
        result["restart_reason"] = str(reason)
    elif job.written:
        result.pop("restart_reason", None)
    return result


def _diff(job: RevisionJob) -> Result:
    effect = job.goal.change.effect
    changes = effect.changes if effect is not None else ()
    before, after = ({change["field"]: change[side] for change in changes} for side in ("before", "after"))
    states = ("current", ", ".join(job.goal.revisions.values()) or "changed")
    return diff_of(f"VirtualMachine {job.label}", before, after, states)
