"""The conditions of a paused VMI, which is not ready because of its pod's readiness gate."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.clock import now

Manifest = dict[str, Any]


def conditions(present: list[Manifest], paused: bool) -> list[Manifest]:
    """The conditions of a running VMI after it was paused or resumed."""
    others = [entry for entry in present if entry["type"] not in ("Ready", "Paused")]
    if not paused:
        return [_condition("Ready", "True"), *others]
    told = _condition("Paused", "True", reason="PausedByUser", message="VMI was paused by user")
    return [_condition("Ready", "False", reason="ReadinessGatesNotReady"), told, *others]


def _condition(name: str, state: str, **said: str) -> Manifest:
    return {"type": name, "status": state, "lastProbeTime": None, "lastTransitionTime": now(), **said}
