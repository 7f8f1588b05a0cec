"""Launch security of an instancetype, which overrides the preferred one (KubeVirt ``applyLaunchSecurity``)."""

from __future__ import annotations

from typing import Any

from .conflict import set_or_conflict


def launch_security(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    return set_or_conflict(instancetype, spec["domain"], "launchSecurity", "domain.")
