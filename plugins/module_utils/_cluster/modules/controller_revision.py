"""The module controller_revision: options, results, the message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._resolver.api.matcher import MATCHER_FIELDS
from ..._resolver.api.name_rules import quoted
from ..._resolver.refresh import move, revision_change
from ..client.errors import RequestFailed, TaskFailed
from ..client.session import Session
from ..reads.revisions import InspectedVM, inspect, matcher_fields_of
from ..reads.snapshot import missing_namespace
from ..writes.engine import WriteSettings
from ..writes.pruning import PruneOutcome, UpgradeOutcome, prunable, prune, upgrade_revisions
from ..writes.revision_outcome import RevisionOutcome
from ..writes.revision_writes import change
from .options import AUTH, CONCURRENCY, DRY_RUN, REQUESTS, SELECTION, WAIT, check_selection, selector, unselected
from .outcome import ON_FAILURE, Module, Outcome, Params, Result, TaskContext, changed_outcome, group_warnings
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
    "former": {"type": "dict"},
    "keep": {"type": "int", "default": 0},
    "restart": {"type": "str", "choices": ["never", "if_required", "always"], "default": "never"},
    "wait_timeout": WAIT["wait_timeout"],
    **CONCURRENCY,
    **ON_FAILURE,
}


def _run(params: Params, task: TaskContext) -> Outcome:
    params = _with_names(params)
    if params["state"] == "pruned":
        return _prune(params, task)
    if params["state"] == "restored" and not params["former"]:
        return changed_outcome(params, task, "virtual machines", params["state"], {"results": []})
    session, vms = _selected_vms(params, task)
    if params["state"] == "upgraded":
        upgrades = upgrade_revisions(session, vms, WriteSettings.of(params, task.check))
        results = [{**refresh_result(upgrade.before), **_change(upgrade)} for upgrade in upgrades]
        return changed_outcome(params, task, "virtual machines", params["state"], {"results": results})
    if vms and params["patch"] and (problem := move.patch_problem(params["patch"], vms[0].kubevirt.release)):
        raise TaskFailed(f"patch: {problem}")
    outcomes = change(session, vms, _decision(params), params["restart"], WriteSettings.of(params, task.check))
    task.warnings += group_warnings(
        (outcome.before.label, warning) for outcome in outcomes for warning in outcome.warnings
    )
    result: Result = {"results": [rendered(outcome) for outcome in outcomes]}
    if task.diff:
        result["diff"] = [_diff(outcome) for outcome in outcomes if outcome.changed]
    return changed_outcome(params, task, "virtual machines", params["state"], result)


MODULE = Module(
    _SPEC,
    _run,
    {
        "required_if": [
            ("state", "pinned", ["revision", "revisions"], True),
            ("state", "moved", ["replace", "patch"], True),
            ("state", "restored", ["former"]),
            ("state", "pruned", ["namespace"]),
        ],
        "mutually_exclusive": [("revision", "revisions")],
    },
)


def _with_names(params: Params) -> Params:
    """The checked options, with `revisions` or `former` naming the VMs if `names` does not."""
    replace = params["replace"]
    names_given = isinstance(replace, dict) and all(isinstance(name, str) and name for name in replace.values())
    if replace is not None and replace != move.DEPRECATED and not names_given:
        raise TaskFailed(
            f"replace: {quoted(replace)}: write the word {move.DEPRECATED}, or a dictionary such as"
            " {u1.medium: u1.large}"
        )
    matchers = [matcher_field.matcher for matcher_field in MATCHER_FIELDS]
    for option, keys, complete in (("revisions", matchers, False), ("former", ["revisions", "spec"], True)):
        by_vm = params[option]
        for name, entry in (by_vm or {}).items():
            unknown = not isinstance(entry, dict) or not entry or set(entry) - set(keys)
            if unknown or (complete and set(entry) != set(keys)):
                end = "" if complete else ", or one of them"
                raise TaskFailed(f"{option}: {name}: expected a dictionary with the keys {' and '.join(keys)}{end}")
        if by_vm is not None and params["names"] is None:
            return {**params, "names": list(by_vm)}
        missing = [] if by_vm is None else [name for name in params["names"] if name not in by_vm]
        if missing:
            raise TaskFailed(f"{option}: no entry for {', '.join(missing)}; give every VM of names an entry")
    return params


def _selected_vms(params: Params, task: TaskContext) -> tuple[Session, list[InspectedVM]]:
    check_selection(params)
    session = Session(params)
    vms = inspect(session, params["namespace"], params["names"], selector(params))
    task.warnings += [vms[0].kubevirt.assumption] if vms and vms[0].kubevirt.assumption else []
    if problem := unselected(params, session, {vm.name for vm in vms}, every_name=True):
        if params["names"] or params["restart"] != "never":
            raise TaskFailed(problem)
        task.warnings.append(problem)
    return session, vms


def _decision(params: Params) -> Callable[[InspectedVM], revision_change.RevisionChange]:
    matcher_fields = matcher_fields_of(params["revisions_of"])
    if params["state"] == "refreshed":
        return lambda vm: revision_change.refresh(vm.vm, vm.drift, matcher_fields)
    if params["state"] == "unpinned":
        return lambda vm: revision_change.unpin(vm.vm, matcher_fields)
    if params["state"] == "moved":
        replace, patch = params["replace"], params["patch"]
        return lambda vm: move.move(vm.vm, vm.drift, matcher_fields, replace, patch, vm.objects, vm.kubevirt)
    if params["state"] == "restored":
        return lambda vm: move.restore(vm.vm, vm.drift, params["former"][vm.name], vm.revisions, vm.kubevirt)
    by_vm = params["revisions"] or {}
    return lambda vm: revision_change.pin(
        vm.vm, vm.drift, matcher_fields, by_vm.get(vm.name) or params["revision"], vm.revisions, vm.kubevirt
    )


def _prune(params: Params, task: TaskContext) -> Outcome:
    # Only all VMs of a namespace show which revisions are referenced.
    if params["names"] or params["label_selectors"]:
        raise TaskFailed("state: pruned applies to a whole namespace; remove names and label_selectors")
    session = Session(params)
    try:
        revisions = prunable(session, params["namespace"], params["keep"])
    except RequestFailed as error:
        message = f"{error}; nothing was pruned, because a VM that the task cannot see may use a revision"
        raise TaskFailed(message) from error
    if not revisions and (problem := missing_namespace(session, params["namespace"])):
        raise TaskFailed(problem)
    if not task.check:
        prune(session, revisions, WriteSettings.of(params, task.check))
    results = [{"name": revision.name, "namespace": revision.namespace, **_change(revision)} for revision in revisions]
    return changed_outcome(params, task, "revisions", params["state"], {"results": results})


def _change(outcome: RevisionOutcome | UpgradeOutcome | PruneOutcome) -> Result:
    failed = {"msg": outcome.failed} if outcome.failed else {}
    return {"changed": outcome.changed, "failed": bool(outcome.failed), **failed}


def rendered(outcome: RevisionOutcome) -> Result:
    result = {**refresh_result(outcome.before), **_change(outcome)}
    result.update(restarted=outcome.restart, revisions=outcome.revisions, needs=outcome.needs)
    effect = outcome.change.effect if outcome.change.due else None
    if outcome.change.former is not None:
        result.update(spec=outcome.change.spec, former=outcome.change.former)
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
    after = ", ".join(outcome.revisions.values()) or "changed"
    return {
        "before_header": f"VirtualMachine {outcome.before.label} (current)",
        "after_header": f"VirtualMachine {outcome.before.label} ({after})",
        "before": {entry["field"]: entry["before"] for entry in changes},
        "after": {entry["field"]: entry["after"] for entry in changes},
    }
