"""Launch security of an instancetype, which overrides the preferred one (KubeVirt ``applyLaunchSecurity``)."""

from __future__ import annotations

from typing import Any

from .conflict import take


def launch_security(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    return take(instancetype, spec["domain"], "launchSecurity", "domain.")
