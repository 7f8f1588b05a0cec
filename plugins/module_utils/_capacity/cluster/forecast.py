"""Whether VMs of a refresh will run, for the module revision_rollout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._cluster.client.session import Session
from ..pod.render import RESTART
from .capacity_info import evaluated

Manifest = dict[str, Any]


def forecast(session: Session, vms: list[Manifest], checks: Sequence[str]) -> list[Manifest]:
    """{namespace, name, evaluated, fits, problem} of each VM, as if all of them restarted.

    checks: `quota`, `placement`.
    """
    options = {"checks": checks, "running": RESTART, "drain": [], "instancetypes": []}
    verdicts, _warnings = evaluated(session, vms, options)
    return list(verdicts["virtual_machines"])
