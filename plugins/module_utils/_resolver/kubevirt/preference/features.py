"""Preferred machine features (KubeVirt ``applyFeaturePreferences``)."""

from __future__ import annotations

from typing import Any, Final

from ...api.tree import copy

_FILLED: Final = (
    ("preferredApic", "apic"),
    ("preferredKvm", "kvm"),
    ("preferredPvspinlock", "pvspinlock"),
    ("preferredSmm", "smm"),
)


def features(preference: dict[str, Any], spec: dict[str, Any]) -> None:
    """acpi is overridden (its field in the VM is not a pointer); hyperv is merged by flag; others are set if absent."""
    preferred = preference.get("features")
    if preferred is None:
        return
    target = spec["domain"].setdefault("features", {"acpi": {}})
    if "preferredAcpi" in preferred:
        target["acpi"] = copy(preferred["preferredAcpi"])
    for source, field in _FILLED:
        if source in preferred:
            target.setdefault(field, copy(preferred[source]))
    if "preferredHyperv" in preferred:
        flags = target.setdefault("hyperv", {})
        for flag, state in preferred["preferredHyperv"].items():
            flags.setdefault(flag, copy(state))
