"""Accessors for a VMI's status."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.clock import now

Manifest = dict[str, Any]

FINAL_PHASES = ("Succeeded", "Failed")


def phase(vmi: Manifest) -> str:
    return (vmi.get("status") or {}).get("phase") or ""


def is_final(vmi: Manifest) -> bool:
    """Whether the guest has ended."""
    return phase(vmi) in FINAL_PHASES


def is_being_deleted(vmi: Manifest) -> bool:
    return "deletionTimestamp" in vmi["metadata"]


def conditions(vmi: Manifest) -> list[Manifest]:
    return (vmi.get("status") or {}).get("conditions") or []


def ready(time: str) -> Manifest:
    """The condition of a running guest. time: of its transition."""
    return {"type": "Ready", "status": "True", "lastProbeTime": None, "lastTransitionTime": time}


def paused(time: str) -> list[Manifest]:
    """The conditions of a paused guest, which its pod's readiness gate makes unready. time: of their transition."""
    reason, message = "PausedByUser", "VMI was paused by user"
    times = {"lastProbeTime": None, "lastTransitionTime": time}
    return [
        {"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady", **times},
        {"type": "Paused", "status": "True", "reason": reason, "message": message, **times},
    ]


def stated(name: str, state: str, **said: str) -> Manifest:
    """A new condition. said: reason and message; empty ones are left out."""
    filled = {key: text for key, text in said.items() if text}
    return {"type": name, "status": state, "lastProbeTime": None, "lastTransitionTime": now(), **filled}


def condition(vmi: Manifest, name: str) -> Manifest | None:
    """The condition of that type if it is True."""
    return next((entry for entry in conditions(vmi) if entry["type"] == name and entry["status"] == "True"), None)
