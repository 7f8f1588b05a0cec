"""What is particular to VMs among the objects that can be declared."""

from __future__ import annotations

import functools
from typing import Any

from ...._resolver.api.matcher import ROLES
from ...._resolver.declare import virtual_machine
from ...._resolver.declare.readiness import readiness, run_strategy, same_status
from ...._resolver.instancetype.find import naming
from ...read.watch import State
from ..declare import Result, Subject
from ..deletion import kept, remains
from ..impact import Restarts, waits_for_restart
from ..judge import Judge

Manifest = dict[str, Any]
Options = dict[str, Any]


def virtual_machine_subject(options: Options) -> Subject:
    judge = functools.cache(Judge)
    manager = options["field_manager"]
    restarts = Restarts(options["restart"] == "if_required")
    return Subject(
        plural="virtual machines",
        manager=manager,
        reconcile=lambda manifest, live: virtual_machine.reconcile(manifest, live, manager),
        adjust=lambda step, live: virtual_machine.in_one_request(step, live, manager, options["force_conflicts"]),
        preflight=lambda session, planned: judge(session).preflight(planned),
        notes=lambda session, planned: judge(session).notes(planned),
        foresee=lambda session, planned: judge(session).foresee(planned),
        due=restarts.due,
        settle=restarts.settle,
        report=_report,
        look=_look,
        same=same_status,
        describe=_describe,
        kept=kept,
        remains=remains,
    )


def _look(live: Manifest | None) -> State:
    return State(*readiness(live))


def _report(result: Result) -> dict[str, Any]:
    told: dict[str, Any] = {"restart_required": waits_for_restart(result), "restarted": result.restart}
    impact = result.impact
    if impact is not None:
        told.update(needs=impact.needs, changes=list(impact.changes))
        figures = {
            "guest_before": impact.guest_before,
            "guest_after": impact.guest_after,
            "restart_reason": impact.reason,
        }
        told.update({name: value for name, value in figures.items() if value is not None})
    return told


def _describe(live: Manifest) -> dict[str, Any]:
    status = live.get("status") or {}
    told = {"status": status.get("printableStatus", ""), "run_strategy": run_strategy(live)}
    for role in ROLES:
        captured = naming.referenced(live, role).name if role.matcher_of(live) else ""
        if captured:
            told[f"{role.matcher}_revision"] = captured
    return told
