"""The conditions of a paused VMI, which is not ready because of its pod's readiness gate."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.controllers.vmi_state import stated

Manifest = dict[str, Any]


def conditions(present: list[Manifest], paused: bool) -> list[Manifest]:
    """The conditions of a running VMI after it was paused or resumed."""
    others = [entry for entry in present if entry["type"] not in ("Ready", "Paused")]
    if not paused:
        return [stated("Ready", "True"), *others]
    told = stated("Paused", "True", reason="PausedByUser", message="VMI was paused by user")
    return [stated("Ready", "False", reason="ReadinessGatesNotReady"), told, *others]
