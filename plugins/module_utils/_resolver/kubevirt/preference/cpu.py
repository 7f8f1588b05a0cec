"""Preferred CPU features (KubeVirt ``applyCPUPreferences``); the preferred topology is part of `topology`."""

from __future__ import annotations

from typing import Any

from ...api.errors import Panic


def cpu_features(preference: dict[str, Any], spec: dict[str, Any]) -> None:
    """Appends features that the VM does not name. Raises Panic for a VM without cpu, as KubeVirt does."""
    features = preference.get("cpu", {}).get("preferredCPUFeatures")
    if not features:
        return
    if "cpu" not in spec["domain"]:
        raise Panic("preferred CPU features need an instancetype or a cpu object in the VM")
    cpu = spec["domain"]["cpu"]
    own = {feature["name"] for feature in cpu.get("features", [])}
    added = [dict(feature) for feature in features if feature["name"] not in own]
    if added:
        cpu["features"] = cpu.get("features", []) + added
