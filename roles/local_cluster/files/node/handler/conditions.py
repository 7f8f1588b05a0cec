"""Conditions of a VMI's status, which is changed in place."""

from __future__ import annotations

from typing import Any

from node.api.clock import now

Manifest = dict[str, Any]


def has(status: Manifest, kind: str) -> bool:
    return any(entry["type"] == kind for entry in status.get("conditions") or [])


def put(status: Manifest, kind: str, reason: str = "", message: str = "", value: str = "True") -> None:
    """Adds a condition, if there is none of its kind."""
    if has(status, kind):
        return
    entry = {"type": kind, "status": value, "lastProbeTime": now(), "lastTransitionTime": now()}
    if reason:
        entry.update(reason=reason, message=message)
    status.setdefault("conditions", []).append(entry)


def drop(status: Manifest, kind: str) -> bool:
    """Removes a condition. Returns whether it was there."""
    before = status.get("conditions") or []
    others = [entry for entry in before if entry["type"] != kind]
    if len(others) != len(before):
        status["conditions"] = others
    return len(others) != len(before)
