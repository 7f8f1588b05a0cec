"""The module virtual_machine_adopt: options, results, the message."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import ROLES
from ..._resolver.api.redaction import LAST_APPLIED, redact
from ..._resolver.declare.adopt import Candidate
from ..act.adopt import Adopted, Unreadable, Wanted, adopt
from ..act.settings import Settings
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, DRY_RUN, REQUESTS
from .ending import ON_FAILURE, amount, fail, several
from .selection import SELECTION, named, selection

Outcome = dict[str, Any]


@last_net
def run_adopt() -> None:
    """The module virtual_machine_adopt."""
    module = make_module(
        argument_spec={
            **AUTH,
            **SELECTION,
            "instancetypes": {"type": "list", "elements": "str"},
            "preferences": {"type": "list", "elements": "str"},
            "accept": {"type": "list", "elements": "str", "default": []},
            "concurrency": {"type": "int", "default": 16},
            **REQUESTS,
            **DRY_RUN,
            **ON_FAILURE,
        },
    )
    options = selection(module)
    wanted = Wanted(options["instancetypes"], options["preferences"], options["accept"])
    try:
        session = Session(options, options["concurrency"])
        settings = Settings(module.check_mode, options["server_dry_run"], concurrency=options["concurrency"])
        results = adopt(session, named(module, session), wanted, settings)
    except Unreadable as error:
        module.fail_json(msg=str(error))
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "LIST", BY_NAME["VirtualMachineInstance"]))
    _exit(module, results)


def _exit(module: Any, results: list[Adopted]) -> None:
    refusals = [_is_refused(result, module.check_mode) for result in results]
    refused = [result for result, is_refused in zip(results, refusals) if is_refused]
    outcome: Outcome = {
        "changed": any(result.changed for result in results),
        "results": [{**_tell(result), "failed": is_refused} for result, is_refused in zip(results, refusals)],
    }
    if module.shows_diff:
        outcome["diff"] = [_diff(result) for result in results if result.changed]
    for warning in dict.fromkeys(warning for result in results for warning in result.warnings):
        module.warn(warning)
    if refused:
        done = sum(result.changed for result, is_refused in zip(results, refusals) if not is_refused)
        rest = several(
            {
                "would be adopted" if module.check_mode else "adopted": done,
                "unchanged": len(results) - done - len(refused),
            }
        )
        failures = [(result.label, _failure(result)) for result in refused]
        fail(module, "virtual machines", failures, len(results), outcome, rest)
    module.exit_json(msg=_message(module, results), **outcome)


def _message(module: Any, results: list[Adopted]) -> str:
    count, failed = sum(result.changed for result in results), sum(bool(result.failed) for result in results)
    done = "would be" if module.check_mode else "were"
    told = [f"{count} {done} adopted", f"{len(results) - count - failed} already have an instancetype"]
    told += [f"{failed} cannot be adopted"] if failed else []
    return f"{amount(len(results), 'virtual machines')}: {', '.join(told)}"


def _is_refused(result: Adopted, check_mode: bool) -> bool:
    """Whether a result fails the task. In check mode, a VM without a matching instancetype is only reported."""
    return bool(result.failed) and not (check_mode and result.adoption is not None and result.adoption.chosen is None)


def _failure(result: Adopted) -> str:
    """The reason, with the nearest match."""
    nearest = result.adoption.nearest if result.adoption is not None else ()
    if not nearest:
        return str(result.failed)
    names = " and ".join(one["name"] for one in (nearest[0].instancetype, nearest[0].preference) if one)
    why = nearest[0].refusal or f"differs in {', '.join(one['field'] for one in nearest[0].differences)}"
    return f"{result.failed}; the nearest match is {names}: {why}"


def _tell(result: Adopted) -> Outcome:
    metadata = result.vm["metadata"]
    told: Outcome = {
        "name": metadata["name"],
        "namespace": metadata["namespace"],
        "changed": result.changed,
        "fits": result.adoption is None or result.adoption.chosen is not None,
    }
    if result.failed:
        told["msg"] = _failure(result)
    if result.adoption is None:
        matchers = {role.matcher: role.matcher_of(result.vm) for role in ROLES}
        return {**told, **{name: matcher for name, matcher in matchers.items() if matcher}}
    chosen = result.adoption.chosen
    if chosen is None:
        return {**told, "nearest": [_pair(one) for one in result.adoption.nearest]}
    told.update(_pair(chosen))
    told["proof"] = told.pop("differences")
    told["removed"] = list(chosen.removed)
    told["manifest"] = _manifest(chosen.vm)
    if result.impact is not None:
        told["needs"] = result.impact.needs
        if result.impact.reason:
            told["restart_reason"] = result.impact.reason
    return told


def _pair(candidate: Candidate) -> Outcome:
    before, after = redact(
        [one["before"] for one in candidate.differences], [one["after"] for one in candidate.differences]
    )
    told: Outcome = {
        "instancetype": candidate.instancetype,
        "differences": [
            {"field": one["field"], "before": was, "after": will}
            for one, was, will in zip(candidate.differences, before, after)
        ],
    }
    if candidate.preference is not None:
        told["preference"] = candidate.preference
    if candidate.refusal:
        told["refusal"] = candidate.refusal
    return told


def _manifest(vm: Outcome) -> Outcome:
    """The VM as a manifest for users, without secrets."""
    metadata = {part: vm["metadata"][part] for part in ("name", "namespace", "labels") if vm["metadata"].get(part)}
    annotations = vm["metadata"].get("annotations") or {}
    own = {key: value for key, value in annotations.items() if key != LAST_APPLIED}
    if own:
        metadata["annotations"] = own
    shown, _same = redact(vm["spec"], vm["spec"])
    return {
        "apiVersion": BY_NAME["VirtualMachine"].api_version,
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": shown,
    }


def _diff(result: Adopted) -> Outcome:
    chosen = result.adoption.chosen if result.adoption is not None else None
    before, after = redact(result.vm["spec"], chosen.vm["spec"] if chosen is not None else {})
    return {
        "before_header": f"VirtualMachine {result.label} (current)",
        "after_header": f"VirtualMachine {result.label} (adopted)",
        "before": {"spec": before},
        "after": {"spec": after},
    }
