"""Preferred subdomain, termination grace period, architecture and annotations (KubeVirt ``applySubdomain``,
``applyTerminationGracePeriodSeconds``, ``ApplyArchitecturePreferences``, ``applyPreferenceAnnotations``)."""

from __future__ import annotations

from typing import Any, Final

_FILLED: Final = (
    ("preferredSubdomain", "subdomain"),
    ("preferredTerminationGracePeriodSeconds", "terminationGracePeriodSeconds"),
    ("preferredArchitecture", "architecture"),
)


def vmi_fields(preference: dict[str, Any], spec: dict[str, Any]) -> None:
    """Sets the fields that the VM does not set. A period of 0 is set, an empty text is not."""
    for source, field in _FILLED:
        if preference.get(source) not in (None, ""):
            spec.setdefault(field, preference[source])


def merge_annotations(preference: dict[str, Any], metadata: dict[str, Any]) -> None:
    if preference.get("annotations"):
        metadata["annotations"] = {**preference["annotations"], **metadata.get("annotations", {})}
