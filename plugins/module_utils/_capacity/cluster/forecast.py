"""The forecast for which a refresh of a fleet asks before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._cluster.client.session import Session
from ..._cluster.task import Task
from ..._resolver.api.manifest import Manifest


def forecast(session: Session, vms: list[Manifest], checks: Sequence[str]) -> list[dict[str, Any]]:
    """{namespace, name, evaluated, fits, problem} of each VM, as if all of them restarted.

    checks: `quota`, `placement`.
    """
    # Most runs check neither.
    from ..pod.render import RESTART
    from .capacity_info import run_checks

    options = {"checks": checks, "running": RESTART, "drain": [], "instancetypes": []}
    return list(run_checks(session, vms, options, Task())[0]["virtual_machines"])
