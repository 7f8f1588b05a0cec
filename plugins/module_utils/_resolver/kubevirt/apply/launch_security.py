"""Launch security of an instancetype, which overrides the preferred one (KubeVirt ``applyLaunchSecurity``)."""

from __future__ import annotations

from typing import Any

from ...api.tree import copy
from .conflict import Conflict


def launch_security(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[Conflict]:
    wanted = instancetype.get("launchSecurity")
    if wanted is None:
        return []
    if "launchSecurity" in spec["domain"]:
        return [Conflict("domain.launchSecurity")]
    spec["domain"]["launchSecurity"] = copy(wanted)
    return []
