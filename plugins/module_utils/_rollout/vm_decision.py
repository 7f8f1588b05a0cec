"""The decision of a rollout on one VM: whether it is due, may restart, is down or healthy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from .._resolver.api.matcher import MATCHER_FIELDS
from .._resolver.change.drift import DRIFTED, REVISION_LOST, UNKNOWN
from .._resolver.guest.effect import NOTHING, RESTART

Facts = dict[str, Any]

REFRESH: Final = "refresh"
RESTART_ONLY: Final = "restart"
NO_CHANGE: Final = "none"
PINNED: Final = "pinned"
REFUSED: Final = "refused"
UNREADABLE: Final = "unreadable"
DUE: Final = (REFRESH, RESTART_ONLY)
NEVER: Final = "never"
ALWAYS: Final = "always"

_MATCHERS: Final = tuple(matcher_field.name for matcher_field in MATCHER_FIELDS)
# Statuses of a VM that does not run for a reason that other revisions do not heal, and that they may heal.
_BROKEN: Final = frozenset({"DataVolumeError", "ErrImagePull", "ErrorPvcNotFound", "ImagePullBackOff"})
_STUCK: Final = _BROKEN | {"CrashLoopBackOff", "ErrorUnschedulable"}


class RolloutScope(NamedTuple):
    """The part of VMs that a run changes, and the way it does so.

    matchers: the matchers whose revisions change. moves: the VMs get other objects or templates instead of a refresh.
    restart: NEVER, `if_required` or ALWAYS. guest_agent: a healthy VM also has a connected guest agent.
    """

    matchers: tuple[str, ...] = _MATCHERS
    moves: bool = False
    restart: str = "if_required"
    guest_agent: bool = False


def is_down(vm: Facts) -> bool:
    """Whether a VM should run and is not ready. vm: the VM in the form of virtual_machine_info."""
    if vm["ready"] or vm["status"] in ("Paused", "Terminating") or vm["run_strategy"] == "Halted":
        return False
    return bool(vm["status"] != "Stopped" or vm["run_strategy"] == "Always")


def is_stuck(vm: Facts) -> bool:
    """Whether a VM that is down does not come up by itself, as far as its status says."""
    failed = any(condition["type"] == "Failure" and condition["status"] == "True" for condition in vm["conditions"])
    return is_down(vm) and (failed or vm["status"] in _STUCK)


def unhealthy(vm: Facts | None, guest_agent: bool) -> str:
    """Why a VM that should be ready is not healthy; "" if it is. vm: the VM in the form of virtual_machine_info."""
    if vm is None:
        return "not ready (gone)"
    conditions = {condition["type"]: condition for condition in vm["conditions"]}
    if not vm["ready"]:
        message = conditions.get("Ready", {}).get("message") or ""
        return f"not ready ({vm['status']}){f': {message}' if message else ''}"
    connected = conditions.get("AgentConnected", {}).get("status") == "True"
    return "its guest agent is not connected" if guest_agent and not connected else ""


def planned_vm(refresh: Facts, vm: Facts, selection: RolloutScope) -> Facts:
    """Decides on a VM, and gathers its present state.

    refresh: the result of controller_revision or virtual_machine_info. vm: the result of virtual_machine_info.
    Returns `decision` and `complaint`; `disruptive`: its guest may restart; `down`; `broken`: it is down for a reason
    that other revisions do not heal; `touched`: it is down, or may be soon; `expected`: it should be ready afterwards;
    and what the report shows.
    """
    label = f"{refresh['namespace']}/{refresh['name']}"
    running = "vmi" in vm and vm["vmi"]["phase"] not in ("Succeeded", "Failed")
    running = running and vm["run_strategy"] != "Halted"
    parts = [refresh[matcher] for matcher in selection.matchers if matcher in refresh]
    outdated = [part for part in parts if part["state"] in (DRIFTED, REVISION_LOST)]
    due = bool(refresh["changed"] or refresh["failed"]) if selection.moves else bool(outdated)
    may_restart = running and selection.restart != NEVER
    restarts = may_restart and (
        refresh["restart_required"] or (due and (selection.restart == ALWAYS or refresh["needs"] == RESTART))
    )
    # KubeVirt decides whether a guest takes a change live, so there is room for a restart.
    disruptive = restarts or (may_restart and due and refresh["needs"] != NOTHING)
    down = is_down(vm)
    broken = down and vm["status"] in _BROKEN
    decision, why = _decision(refresh, vm, selection, parts, outdated, due, restarts)
    asked = refresh.get("restart_reason", "")
    return {
        "namespace": refresh["namespace"],
        "name": refresh["name"],
        "decision": decision,
        "complaint": f"{label}: {why}" if why else "",
        "disruptive": disruptive,
        "down": down,
        "broken": broken,
        "touched": disruptive or down,
        "expected": not broken and (down or disruptive or (running and vm["status"] != "Paused")),
        "needs": refresh["needs"],
        "restart_required": refresh["restart_required"],
        "restart_reason": asked,
        "still_asked": f"KubeVirt still asks for a restart ({asked}), but the guest has all that the VM says"
        if asked and not refresh["restart_required"]
        else "",
        "changes": refresh["changes"],
        "guest_after": refresh["guest_after"],
        "spec": refresh.get("spec") or {},
        "previous": refresh.get("previous") or {},
        "state": {
            "status": vm["status"],
            "run_strategy": vm["run_strategy"],
            "guest": vm["vmi"]["guest"] if "vmi" in vm else refresh["guest_before"],
            **{
                matcher_field.name: _revision(refresh[matcher_field.name])
                for matcher_field in MATCHER_FIELDS
                if matcher_field.name in refresh
            },
        },
    }


def _revision(part: Facts) -> Facts:
    names = ("name", "kind", "state", "revision", "generation", "current_generation", "pinned")
    return {name: part[name] for name in names}


def _decision(
    refresh: Facts,
    vm: Facts,
    selection: RolloutScope,
    parts: Sequence[Facts],
    outdated: Sequence[Facts],
    due: bool,
    restarts: bool,
) -> tuple[str, str]:
    unreadable = next((part for part in parts if part["state"] == UNKNOWN), None)
    if unreadable is not None and not selection.moves:
        return UNREADABLE, f"{unreadable['kind']} {unreadable['name']} cannot be read: {unreadable['problem']}"
    if not selection.moves and any(part["pinned"] for part in outdated):
        return PINNED, "is pinned by revisionName"
    refusal = (refresh["msg"] if refresh["failed"] else "") if selection.moves else refresh.get("refusal") or ""
    if due and refusal:
        return REFUSED, refusal
    if restarts and vm["run_strategy"] == "Once":
        return REFUSED, "its run strategy Once allows no restart"
    if due:
        return REFRESH, ""
    return (RESTART_ONLY if restarts else NO_CHANGE), ""
