"""The outcome of a rollout: a record for each VM, the counts, one line and a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .._columns import aligned
from .._resolver.api.matcher import MATCHER_FIELDS
from .._resolver.guest.effect import LIVE, NOTHING, RESTART
from .rollout import Rollout
from .vm_decision import DUE, NEVER, NO_CHANGE, PINNED, REFRESH, REFUSED, UNREADABLE, Facts

OUTCOMES: Final = (
    "refreshed",
    "moved",
    "restarted",
    "unchanged",
    "pinned",
    "refused",
    "unreadable",
    "failed",
    "rolled_back",
    "rollback_failed",
    "not_reached",
    "due_again",
)
_SHOWN: Final = 5


def report(rollout: Rollout, after: Mapping[str, Facts], moves: bool, check_mode: bool) -> Facts:
    """The result of a run: {failed, check_mode, msg, stopped, out_of_time, counts, virtual_machines}.

    after: the selected VMs as they are now, see `vm_decision.planned_vm`.
    """
    records = [_record(rollout, label, after.get(label), moves, check_mode) for label in rollout.vms]
    counts = {name: sum(record["outcome"] == name for record in records) for name in OUTCOMES}
    failures = rollout.failures + [record["msg"] for record in records if record["outcome"] == "due_again"]
    not_back = [outcome["complaint"] for outcome in rollout.rollbacks.values() if outcome["failed"]]
    parts = [f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count]
    message = f"{len(records)} virtual machine{'' if len(records) == 1 else 's'}"
    message += (": " + ", ".join(parts) if parts else "") + (
        " (check mode: this is what would be)" if check_mode else ""
    )
    if rollout.stopped:
        message += f"; stopped: {rollout.stopped}"
    elif failures:
        message += "; " + "; ".join(failures[:_SHOWN])
    message += f"; {rollout.out_of_time}" if rollout.out_of_time else ""
    message += f"; not rolled back: {'; '.join(not_back[:_SHOWN])}" if not_back else ""
    message += f"; rollback stopped: {rollout.rollback_stopped}" if rollout.rollback_stopped else ""
    return {
        "failed": bool(rollout.stopped or failures),
        "check_mode": check_mode,
        "msg": message,
        "stopped": rollout.stopped,
        "out_of_time": rollout.out_of_time,
        "counts": counts,
        "virtual_machines": records,
    }


def _record(rollout: Rollout, label: str, now: Facts | None, moves: bool, check_mode: bool) -> Facts:
    vm, latest = rollout.vms[label], now or {}
    done, back = rollout.outcomes.get(label, {}), rollout.rollbacks.get(label, {})
    outcome, why = _outcome(vm, done, back, latest, moves, check_mode)
    if not why and latest.get("still_asked"):
        why = f"{label}: {latest['still_asked']}"
    return {
        "namespace": vm["namespace"],
        "name": vm["name"],
        "outcome": outcome,
        "msg": why,
        "restarted": bool(done.get("restarted") or back.get("restarted")),
        "needs": (back or done).get("needs", vm["needs"] if vm["decision"] != NO_CHANGE else NOTHING),
        "restart_required": latest.get("restart_required", False),
        "restart_reason": latest.get("restart_reason", ""),
        "changes": vm["changes"] if vm["decision"] != NO_CHANGE else [],
        "before": vm["state"],
        "after": {**vm["state"], **_foreseen(vm, done, moves)} if check_mode else latest.get("state", {}),
        **({"will_run": vm["will_run"]} if "will_run" in vm else {}),
    }


def _outcome(vm: Facts, done: Facts, rollback: Facts, latest: Facts, moves: bool, check_mode: bool) -> tuple[str, str]:
    label = f"{vm['namespace']}/{vm['name']}"
    if rollback:
        return ("rollback_failed", rollback["complaint"]) if rollback["failed"] else ("rolled_back", done["complaint"])
    if done.get("failed"):
        return "failed", done["complaint"]
    if vm["decision"] in (PINNED, REFUSED, UNREADABLE):
        return vm["decision"], vm["complaint"]
    if vm["decision"] in DUE and not done:
        return "not_reached", ""
    if not check_mode and latest.get("decision") in DUE:
        return "due_again", f"{label}: has changed meanwhile; run it again"
    if not done.get("changed"):
        return "unchanged", ""
    if vm["decision"] != REFRESH:
        return "restarted", ""
    return ("moved" if moves else "refreshed"), ""


def _foreseen(vm: Facts, done: Facts, moves: bool) -> Facts:
    """The fields of a VM that would differ after the run."""
    if not done.get("changed") or vm["decision"] != REFRESH:
        return {}
    result: Facts = {"guest": vm["guest_after"]}
    for matcher_field in MATCHER_FIELDS:
        state = vm["state"].get(matcher_field.name)
        if state is None:
            continue
        changed: Facts = {} if moves else {"generation": state["current_generation"]}
        if matcher_field.name in vm["spec"]:
            changed = {"name": vm["spec"][matcher_field.name]["name"], "generation": None, "pinned": False}
        result[matcher_field.name] = {**state, **changed}
    return result


def table(result: Facts, restart: str) -> list[str]:
    """The report as lines: a row for each VM that is not unchanged, then the message.

    No cell but the last has spaces behind column 80, where Ansible, which shows results as YAML, would break the line.
    """
    vms = [vm for vm in result["virtual_machines"] if vm["outcome"] != "unchanged"]
    if not vms:
        return [result["msg"]]
    asked = any("will_run" in vm for vm in vms)
    outcome = "WOULD BE" if result["check_mode"] else "OUTCOME"
    rows = [
        ["NAMESPACE", "VM", outcome, "STATUS", "BEFORE", "AFTER", "RESTART", *(["WILL RUN"] if asked else []), "CHANGE"]
    ]
    for vm in vms:
        after = vm["after"]
        row = [vm["namespace"], vm["name"], vm["outcome"].replace("_", " "), after.get("status", "gone")]
        row += [_guest(vm["before"]["guest"]), _guest(after["guest"]) if "guest" in after else "-"]
        row += [_restart(vm, result["check_mode"] and restart != NEVER), *([_runs(vm)] if asked else [])]
        rows.append([*row, _change(vm)])
    return [*aligned(rows), "", result["msg"]]


def _change(vm: Facts) -> str:
    """Names the objects that a VM has captured or gets instead, and says why it will not run."""
    words = []
    for matcher_field in MATCHER_FIELDS:
        before, after = vm["before"].get(matcher_field.name), vm["after"].get(matcher_field.name)
        if before is None or after is None:
            continue
        if before["name"] != after["name"]:
            words.append(f"{matcher_field.name} {before['name']} to {after['name']}")
        elif before["generation"] != after["generation"]:
            words.append(f"{matcher_field.name} generation {before['generation']} to {after['generation']}")
        elif before["revision"] != after["revision"]:
            words.append(f"{matcher_field.name} of a new object")
    problem = (vm.get("will_run") or {}).get("problem")
    return ", ".join([*words, *([problem] if problem else [])]) or "-"


def _guest(guest: Mapping[str, Any]) -> str:
    return f"{guest.get('vcpus', '?')}x{guest.get('memory', '?')}"


def _restart(vm: Facts, planned: bool) -> str:
    if vm["restarted"]:
        return "restarted"
    if vm["restart_required"]:
        return "required"
    if vm["needs"] == LIVE:
        return "live"
    if vm["needs"] == RESTART:
        return "planned" if planned else "needed"
    return "-"


def _runs(vm: Facts) -> str:
    verdict = vm.get("will_run")
    if verdict is None:
        return "-"
    return "yes" if verdict["fits"] else "no" if verdict["evaluated"] else "unknown"
