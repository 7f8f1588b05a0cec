"""A paused guest: the conditions of its VMI. It is not ready, for its pod's readiness gate is not."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.clock import now

Manifest = dict[str, Any]


def conditions(present: list[Manifest], paused: bool) -> list[Manifest]:
    """The conditions of a running VMI that is paused now, or runs on."""
    others = [entry for entry in present if entry["type"] not in ("Ready", "Paused")]
    if not paused:
        return [_condition("Ready", "True"), *others]
    told = _condition("Paused", "True", reason="PausedByUser", message="VMI was paused by user")
    return [_condition("Ready", "False", reason="ReadinessGatesNotReady"), told, *others]


def _condition(name: str, state: str, **said: str) -> Manifest:
    return {"type": name, "status": state, "lastProbeTime": None, "lastTransitionTime": now(), **said}
