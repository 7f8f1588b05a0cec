"""Launch security of an instancetype, which overrides the preferred one (KubeVirt ``applyLaunchSecurity``)."""

from __future__ import annotations

from typing import Any

from ...api.tree import copy
from .conflict import Conflict


def launch_security(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[Conflict]:
    source = instancetype.get("launchSecurity")
    if source is None:
        return []
    if "launchSecurity" in spec["domain"]:
        return [Conflict("domain.launchSecurity")]
    spec["domain"]["launchSecurity"] = copy(source)
    return []
