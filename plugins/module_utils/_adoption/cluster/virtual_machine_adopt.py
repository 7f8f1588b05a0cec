"""The module virtual_machine_adopt: options, results, the message."""

from __future__ import annotations

from typing import Any

from ..._cluster.modules.module import ON_FAILURE, Module, Params, Result
from ..._cluster.modules.results import (
    counted_noun,
    diff_of,
    failed_result,
    group_warnings,
    joined_counts,
    restart_warning,
    summarize_failures,
)
from ..._cluster.modules.shared_options import (
    AUTH,
    CONCURRENCY,
    DRY_RUN,
    OWNERSHIP,
    REQUESTS,
    SELECTION,
    check_selection,
    select_vms,
)
from ..._cluster.task import Task
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.matcher import MATCHER_FIELDS
from ..._resolver.api.tree import without_secrets
from ..._resolver.guest.effect import RESTART
from ..._resolver.ownership.writers import without_marks, writer_of
from ..._resolver.secrets.redaction import own_annotations, redact, to_fill_in
from ..adopt import Candidate
from .adopt import AdoptJob, adopt

_SPEC: dict[str, dict[str, Any]] = {
    **AUTH,
    **SELECTION,
    "instancetypes": {"type": "list", "elements": "str"},
    "preferences": {"type": "list", "elements": "str"},
    "accept": {"type": "list", "elements": "str", "default": []},
    "force_conflicts": OWNERSHIP["force_conflicts"],
    **CONCURRENCY,
    **REQUESTS,
    **DRY_RUN,
    **ON_FAILURE,
}


def _run(params: Params, task: Task) -> Result:
    check_selection(params)
    session = task.connect(params)
    vms = select_vms(params, session, task)
    adopted = adopt(session, vms, task, params["instancetypes"], params["preferences"], params["accept"])
    return {"cluster": session.host, **_task_result(params, task, adopted)}


MODULE = Module(_SPEC, _run)


def _task_result(params: Params, task: Task, vms: list[AdoptJob]) -> Result:
    refusals = [_is_refused(vm, task.check_mode) for vm in vms]
    refused = [vm for vm, is_refused in zip(vms, refusals) if is_refused]
    result: Result = {
        "changed": any(vm.changed for vm in vms),
        "results": [{**_result(vm), "failed": is_refused} for vm, is_refused in zip(vms, refusals)],
    }
    if task.diff:
        result["diff"] = [_diff(vm) for vm in vms if vm.changed]
    task.warnings += dict.fromkeys(warning for vm in vms for warning in vm.warnings)
    task.warnings += group_warnings(
        (vm.label, vm.goal.declared_elsewhere) for vm in vms if vm.changed and vm.goal.declared_elsewhere
    )
    waiting = [vm.label for vm in vms if vm.changed and vm.goal.effect is not None and vm.goal.effect.needs == RESTART]
    task.warnings += restart_warning(waiting, task.check_mode, "use virtual_machine_power with state: restarted")
    unfit = [(vm.label, _failure(vm)) for vm, is_refused in zip(vms, refusals) if vm.failed and not is_refused]
    if unfit:
        task.warnings.append(
            f"{counted_noun(len(unfit), 'virtual machines')} cannot be adopted: {summarize_failures(unfit)[0]}"
        )
    if refused:
        done = sum(vm.changed for vm, is_refused in zip(vms, refusals) if not is_refused)
        counts = joined_counts(
            {
                "would be adopted" if task.check_mode else "adopted": done,
                "unchanged": len(vms) - done - len(refused),
            }
        )
        return failed_result(params, "virtual machines", result, counts, more_keys=("manifest",))
    return {**result, "msg": _message(task, vms)}


def _message(task: Task, vms: list[AdoptJob]) -> str:
    count, failed = sum(vm.changed for vm in vms), sum(bool(vm.failed) for vm in vms)
    others = len(vms) - count - failed
    parts = [f"{count} {'would be' if task.check_mode else 'was' if count == 1 else 'were'} adopted"]
    parts += [f"{others} already {'has' if others == 1 else 'have'} an instancetype"]
    parts += [f"{failed} cannot be adopted"] if failed else []
    return f"{counted_noun(len(vms), 'virtual machines')}: {', '.join(parts)}"


def _is_refused(vm: AdoptJob, check_mode: bool) -> bool:
    """Whether a VM fails the task. In check mode, a VM without a matching instancetype is only reported."""
    return bool(vm.failed) and not (check_mode and vm.goal.adoption is not None and vm.goal.adoption.chosen is None)


def _failure(vm: AdoptJob) -> str:
    """The reason, with the nearest match and how it can be taken."""
    nearest = vm.goal.adoption.nearest if vm.goal.adoption is not None else ()
    if vm.goal.adoption is None or not nearest:
        return str(vm.failed)
    proposal = vm.goal.adoption.proposal or nearest[0]
    names = " and ".join(
        matcher_field["name"] for matcher_field in (proposal.instancetype, proposal.preference) if matcher_field
    )
    why = proposal.refusal or f"differs in {', '.join(difference['field'] for difference in proposal.differences)}"
    remedy = f"; {vm.goal.adoption.remedy}" if vm.goal.adoption.remedy else ""
    return f"{vm.failed}; the nearest match is {names}: {why}{remedy}"


def _result(vm: AdoptJob) -> Result:
    metadata = vm.goal.vm["metadata"]
    result: Result = {
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "uid": metadata.get("uid", ""),
        "changed": vm.changed,
        "fits": vm.goal.adoption is None or vm.goal.adoption.chosen is not None,
    }
    if vm.failed:
        result["msg"] = _failure(vm)
    if vm.goal.adoption is None:
        matchers = {matcher_field.name: matcher_field.matcher_of(vm.goal.vm) for matcher_field in MATCHER_FIELDS}
        return {**result, **{name: matcher for name, matcher in matchers.items() if matcher}}
    chosen = vm.goal.adoption.chosen
    if chosen is None:
        return {**result, "nearest": [_pair(candidate) for candidate in vm.goal.adoption.nearest]}
    result.update(_pair(chosen))
    result["removed"] = list(chosen.removed)
    result["manifest"] = _manifest(chosen.vm, vm.goal.vm)
    if vm.goal.effect is not None:
        result["needs"] = vm.goal.effect.needs
        if vm.goal.effect.reason:
            result["restart_reason"] = vm.goal.effect.reason
    return result


def _pair(candidate: Candidate) -> Result:
    result: Result = {
        "instancetype": candidate.instancetype,
        "differences": without_secrets(candidate.differences),
    }
    if candidate.preference is not None:
        result["preference"] = candidate.preference
    if candidate.refusal:
        result["refusal"] = candidate.refusal
    return result


def _manifest(vm: Result, live: Result) -> Result:
    """The VM as a manifest for users and for Git, without what a writer such as Argo CD adds. Secrets are to be filled
    in.
    """
    writer = writer_of(live)
    source = vm["metadata"] if writer is None else without_marks(vm["metadata"], writer)
    metadata = {part: source[part] for part in ("name", "namespace", "labels") if source.get(part)}
    own = own_annotations(source)
    if own:
        metadata["annotations"] = own
    return {
        "apiVersion": KINDS["VirtualMachine"].api_version,
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": to_fill_in(vm["spec"]),
    }


def _diff(vm: AdoptJob) -> Result:
    chosen = vm.goal.adoption.chosen if vm.goal.adoption is not None else None
    before, after = redact(vm.goal.vm["spec"], chosen.vm["spec"] if chosen is not None else {})
    return diff_of(f"VirtualMachine {vm.label}", {"spec": before}, {"spec": after}, ("current", "adopted"))
