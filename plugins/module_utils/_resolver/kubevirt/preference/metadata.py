"""Preferred subdomain, termination grace period, architecture and annotations (KubeVirt ``applySubdomain``,
``applyTerminationGracePeriodSeconds``, ``ApplyArchitecturePreferences``, ``applyPreferenceAnnotations``)."""

from __future__ import annotations

from typing import Any


def subdomain(preference: dict[str, Any], spec: dict[str, Any]) -> None:
    if preference.get("preferredSubdomain"):
        spec.setdefault("subdomain", preference["preferredSubdomain"])


def termination_grace_period(preference: dict[str, Any], spec: dict[str, Any]) -> None:
    """A VM's period of 0 is set and stays."""
    seconds = preference.get("preferredTerminationGracePeriodSeconds")
    if seconds is not None:
        spec.setdefault("terminationGracePeriodSeconds", seconds)


def architecture(preference: dict[str, Any], spec: dict[str, Any]) -> None:
    if preference.get("preferredArchitecture"):
        spec.setdefault("architecture", preference["preferredArchitecture"])


def merge_annotations(preference: dict[str, Any], metadata: dict[str, Any]) -> None:
    if preference.get("annotations"):
        metadata["annotations"] = {**preference["annotations"], **metadata.get("annotations", {})}
