"""Preferred clock offset and timers (KubeVirt ``applyClockPreferences``)."""

from __future__ import annotations

from typing import Any

from ...api.tree import copy


def clock(preference: dict[str, Any], spec: dict[str, Any]) -> None:
    """Offset and timers each apply as a whole; a VM's `utc`, `timezone` or `timer`, even empty, override them."""
    preferred = preference.get("clock")
    if preferred is None:
        return
    target = spec["domain"].setdefault("clock", {})
    if "utc" not in target and "timezone" not in target:
        target.update(copy(preferred.get("preferredClockOffset", {})))
    if "preferredTimer" in preferred:
        target.setdefault("timer", copy(preferred["preferredTimer"]))
