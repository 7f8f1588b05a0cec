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
    if reason or message:
        entry.update(reason=reason, message=message)
    status.setdefault("conditions", []).append(entry)


def replace(status: Manifest, kind: str, reason: str, message: str, value: str) -> None:
    """Puts a condition in the place of one of its kind that says something else."""
    same = {"type": kind, "status": value, "message": message}
    if not any({"message": "", **entry}.items() >= same.items() for entry in status.get("conditions") or []):
        drop(status, kind)
        put(status, kind, reason, message, value)


def drop(status: Manifest, kind: str) -> bool:
    """Removes a condition. Returns whether it was there."""
    before = status.get("conditions") or []
    others = [entry for entry in before if entry["type"] != kind]
    if len(others) != len(before):
        status["conditions"] = others
    return len(others) != len(before)
