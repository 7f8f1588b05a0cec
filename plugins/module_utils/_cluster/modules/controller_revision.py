"""The module controller_revision: options, results, the message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._resolver.api.matcher import MATCHER_FIELDS
from ..._resolver.api.name_rules import quoted
from ..._resolver.api.unquoted import FROM_YAML
from ..._resolver.refresh import move, revision_change
from ..._resolver.refresh.drift import Drift
from ..client.errors import RequestFailed, TaskFailed
from ..client.session import Session
from ..reads.revisions import inspect, matcher_fields_of
from ..reads.snapshot import namespace_problem
from ..task import Task
from ..writes.pruning import PruneOutcome, UpgradeOutcome, prunable, prune, upgrade_revisions
from ..writes.revision_outcome import RevisionOutcome, excuse_unmet
from ..writes.revision_writes import change
from .module import ON_FAILURE, Module, Params, Result
from .options import (
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
from .results import changed_result, diff_of, group_warnings
from .vm_results import printable_status, refresh_result

_SPEC: dict[str, dict[str, Any]] = {
    **AUTH,
    **SELECTION,
    **REQUESTS,
    **DRY_RUN,
    "state": {
        "type": "str",
        "choices": ["refreshed", "moved", "restored", "pinned", "unpinned", "upgraded", "pruned"],
        "default": "refreshed",
    },
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


def _run(params: Params, task: Task) -> Result:
    params = _with_names(params)
    if params["state"] == "pruned":
        return _prune(params, task)
    if params["state"] == "restored" and not params["previous"]:
        return changed_result(params, task, "virtual machines", params["state"], {"results": []})
    session, vms = _selected_vms(params, task)
    if params["state"] == "upgraded":
        upgrades = upgrade_revisions(session, vms, task)
        results = [{**refresh_result(upgrade.before), **_change(upgrade)} for upgrade in upgrades]
        upgraded = {"cluster": session.host, "results": results}
        return changed_result(params, task, "virtual machines", params["state"], upgraded)
    if vms and params["patch"] and (problem := move.patch_problem(params["patch"], vms[0].cluster.release)):
        raise TaskFailed(f"patch: {problem}")
    outcomes = change(session, vms, _decision(params), params["restart"], task)
    if task.check_mode:
        excuse_unmet(outcomes)
    task.warnings += group_warnings((outcome.label, warning) for outcome in outcomes for warning in outcome.warnings)
    result: Result = {"cluster": session.host, "results": [revision_result(outcome) for outcome in outcomes]}
    if task.diff:
        result["diff"] = [_diff(outcome) for outcome in outcomes if outcome.changed]
    return changed_result(params, task, "virtual machines", params["state"], result)


MODULE = Module(
    _SPEC,
    _run,
    {
        "required_if": [
            ("state", "pinned", ["revision", "revisions"], True),
            ("state", "moved", ["replace", "patch"], True),
            ("state", "restored", ["previous"]),
            ("state", "pruned", ["namespace"]),
        ],
        "mutually_exclusive": [("revision", "revisions")],
    },
)


def _with_names(params: Params) -> Params:
    """The checked options, with `revisions` or `previous` naming the VMs if `names` does not."""
    replace = params["replace"]
    names_given = isinstance(replace, dict) and all(isinstance(name, str) and name for name in replace.values())
    if replace is not None and replace != move.DEPRECATED and not names_given:
        raise TaskFailed(
            f"replace: {quoted(replace)}: write the word {move.DEPRECATED}, or a dictionary such as"
            f" {{u1.medium: u1.large}}{FROM_YAML if isinstance(replace, str) and ':' in replace else ''}"
        )
    matchers = [matcher_field.matcher for matcher_field in MATCHER_FIELDS]
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
    if params["state"] == "moved":
        replace, patch = params["replace"], params["patch"]
        return lambda vm: move.move(vm, matcher_fields, replace, patch)
    if params["state"] == "restored":
        return lambda vm: move.restore(vm, params["previous"][vm.name])
    by_vm = params["revisions"] or {}
    return lambda vm: revision_change.pin(vm, matcher_fields, by_vm.get(vm.name) or params["revision"])


def _prune(params: Params, task: Task) -> Result:
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
    if not task.check_mode:
        prune(session, revisions, task)
    results = [{"name": revision.name, "namespace": revision.namespace, **_change(revision)} for revision in revisions]
    return changed_result(params, task, "revisions", params["state"], {"results": results})


def _change(outcome: RevisionOutcome | UpgradeOutcome | PruneOutcome) -> Result:
    failed = {"msg": outcome.failed} if outcome.failed else {}
    return {"changed": outcome.changed, "failed": bool(outcome.failed), **failed}


def revision_result(outcome: RevisionOutcome) -> Result:
    result = {**refresh_result(outcome.before), **_change(outcome)}
    result.update(restarted=outcome.restart, revisions=outcome.revisions, needs=outcome.needs)
    effect = outcome.change.effect if outcome.change.due else None
    if outcome.change.previous is not None:
        result.update(spec=outcome.change.spec, previous=outcome.change.previous)
    if effect is not None:
        result.update(guest_before=effect.guest_before, guest_after=effect.guest_after, changes=list(effect.changes))
    if outcome.warnings:
        result["warnings"] = outcome.warnings
    if outcome.written and outcome.vm is not None:
        result["expanded"] = [
            matcher_field.matcher
            for matcher_field in outcome.change.matcher_fields
            if not matcher_field.matcher_of(outcome.vm)
        ]
    if outcome.method:
        result["method"] = outcome.method
    if outcome.vm is not None:
        result["status"] = printable_status(outcome.vm)
    if outcome.before.guest_current is not None or outcome.written:
        result.update(restart_required=outcome.restart_required)
    if outcome.guest_current:
        result["guest_current"] = True
        result.pop("outstanding", None)
    reason = outcome.restart_reason
    if reason:
        result["restart_reason"] = reason
    elif outcome.written:
        result.pop("restart_reason", None)
    return result


def _diff(outcome: RevisionOutcome) -> Result:
    changes = outcome.change.effect.changes if outcome.change.effect is not None else ()
    before, after = ({change["field"]: change[side] for change in changes} for side in ("before", "after"))
    states = ("current", ", ".join(outcome.revisions.values()) or "changed")
    return diff_of(f"VirtualMachine {outcome.label}", before, after, states)
