"""Conditions as CDI writes them. Pure but for the time."""

from __future__ import annotations

from typing import Any, NamedTuple

from kubevirt_emulation.clock import now

Manifest = dict[str, Any]


class State(NamedTuple):
    """What a condition says. status: "True", "False" or "Unknown"."""

    status: str
    reason: str = ""
    message: str = ""


def updated(present: list[Manifest] | None, states: dict[str, State]) -> list[Manifest]:
    """The conditions with these states by type; those that say so already keep their times."""
    found = {one["type"]: one for one in present or []}
    for kind, state in states.items():
        before = found.get(kind) or {}
        said = State(before.get("status", ""), before.get("reason", ""), before.get("message", ""))
        if said == state:
            continue
        time = now()
        changed = time if before.get("status") != state.status else before.get("lastTransitionTime", time)
        found[kind] = {"type": kind, **state._asdict(), "lastHeartbeatTime": time, "lastTransitionTime": changed}
    return list(found.values())


def volume(claim: Manifest | None, ready: bool, running: State) -> dict[str, State]:
    """The three conditions of a DataVolume."""
    bound = State("False", "NotFound", "No PVC found")
    if claim is not None:
        name, phase = claim["metadata"]["name"], (claim.get("status") or {}).get("phase") or "Pending"
        bound = State("True" if phase == "Bound" else "False", phase, f"PVC {name} {phase}")
    return {"Bound": bound, "Ready": State("True" if ready else "False"), "Running": running}
