"""Preferred machine type (KubeVirt ``applyMachinePreferences``)."""

from __future__ import annotations

from typing import Any

from ...api.release import NEWEST, Release


def machine(preference: dict[str, Any], spec: dict[str, Any], release: Release = NEWEST) -> None:
    preferred = preference.get("machine", {}).get("preferredMachineType", "")
    if not preferred and not (release.leaves_empty_machine and "machine" in preference):
        return
    target = spec["domain"].setdefault("machine", {"type": ""})
    target["type"] = target["type"] or preferred
