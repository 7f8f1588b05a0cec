"""Preferred launch security, if neither VM nor instancetype has one (KubeVirt ``applyLaunchSecurityPreferences``)."""

from __future__ import annotations

from typing import Any

from ...api.tree import copy


def launch_security(preference: dict[str, Any], spec: dict[str, Any]) -> None:
    if "preferredLaunchSecurity" in preference:
        spec["domain"].setdefault("launchSecurity", copy(preference["preferredLaunchSecurity"]))
