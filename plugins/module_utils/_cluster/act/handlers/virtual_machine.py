"""VMs as objects to declare."""

from __future__ import annotations

import functools
from typing import Any

from ...._resolver.api.effects import Impact
from ...._resolver.api.managed_fields import Field
from ...._resolver.api.matcher import ROLES
from ...._resolver.declare import virtual_machine
from ...._resolver.declare.plan import Plan
from ...._resolver.kubevirt.find import naming
from ...._resolver.kubevirt.vmi.readiness import readiness, run_strategy, same_status
from ...client.session import Session
from ...read.watch import State
from ..deletion import kept, leftovers, remains
from ..from_image import completed
from ..judge import Judge
from ..restarts import DeclaredRestarts, waits_for_restart
from ..subject import Entry, Failures, Finding, Planned, Result, Subject

Manifest = dict[str, Any]
Options = dict[str, Any]


class VirtualMachines(Subject):
    """options: of the task: `field_manager`, `force_conflicts`, `restart`, `concurrency`."""

    def __init__(self, options: Options) -> None:
        super().__init__("virtual machines", options["field_manager"])
        self._force = options["force_conflicts"]
        self._restarts = DeclaredRestarts(options["restart"] == "if_required", options["concurrency"])
        self._judge = functools.cache(Judge)

    def completed(self, session: Session, found: list[tuple[Entry, Manifest | None]]) -> list[tuple[Entry, list[str]]]:
        return completed(session, found)

    def reconcile(self, manifest: Manifest, live: Manifest | None) -> tuple[Manifest, set[Field] | None]:
        return virtual_machine.reconcile(manifest, live, self.manager)

    def adjust(self, step: Plan, live: Manifest | None) -> Plan:
        return virtual_machine.with_merge_patch(step, live, self.manager, self._force)

    def preflight(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        return self._judge(session).preflight(planned)

    def notes(self, session: Session, planned: list[Planned]) -> list[list[str]]:
        return self._judge(session).notes(planned)

    def foresee(self, session: Session, planned: list[Planned]) -> list[Impact | None]:
        return self._judge(session).foresee(planned)

    def due(self, result: Result) -> bool:
        return self._restarts.needs_restart(result)

    def settle(self, session: Session, results: list[Result], deadline: float) -> None:
        self._restarts.run(session, results, deadline)

    def look(self, live: Manifest | None) -> State:
        return State(*readiness(live))

    def same(self, one: Manifest, other: Manifest) -> bool:
        return same_status(one, other)

    def report(self, result: Result) -> dict[str, Any]:
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

    def describe(self, live: Manifest) -> dict[str, Any]:
        status = live.get("status") or {}
        told = {"status": status.get("printableStatus", ""), "run_strategy": run_strategy(live)}
        for role in ROLES:
            captured = naming.referenced(live, role).name if role.matcher_of(live) else ""
            if captured:
                told[f"{role.matcher}_revision"] = captured
        return told

    def kept(self, session: Session, deleted: list[Manifest]) -> list[list[dict[str, str]]]:
        return kept(session, deleted)

    def remains(self, session: Session, namespace: str | None, deleted: list[Manifest], seconds: float) -> Failures:
        return remains(session, namespace, deleted, seconds)

    def leftovers(self, session: Session, namespace: str | None, created: list[Manifest], seconds: float) -> Failures:
        return leftovers(session, namespace, created, seconds)
