"""VMs and VirtualMachineTemplates as objects to declare."""

from __future__ import annotations

import functools
from typing import Any

from ...._resolver.api.managed_fields import Field
from ...._resolver.api.matcher import ROLES
from ...._resolver.declare import plan, virtual_machine
from ...._resolver.declare.impact import impact, size_mismatch
from ...._resolver.declare.plan import Plan
from ...._resolver.declare.vm_template import checkable
from ...._resolver.kubevirt.find import naming
from ...._resolver.kubevirt.vmi.cluster import Cluster
from ...._resolver.kubevirt.vmi.live_update import NOTHING, RESTART, UNKNOWN, Impact
from ...._resolver.kubevirt.vmi.readiness import has_guest, plugs_sockets, readiness, run_strategy, same_status
from ...._resolver.kubevirt.webhooks.mutate import AdmissionResult, admission_cache_key, admit
from ...._resolver.limits.language import WARN
from ...._resolver.preflight import issues as rules
from ...._resolver.preflight.object_keys import keys_for_admission, keys_for_guest
from ...._resolver.preflight.references import keys_for_start
from ...client.errors import ConnectionFailed
from ...client.session import Session
from ...read.kubevirt import kubevirt
from ...read.limits import ClusterLimits
from ...read.lookup import ClusterLookup
from ...read.snapshot import Key, Unreadable, read
from ...read.watch import ProbeResult
from ..deletion import await_dependents, await_old_dependents, retained_claims
from ..from_image import complete_entries
from ..kind_handler import DeclareOutcome, Entry, Failures, Finding, KindHandler, Planned
from ..restarts import DeclaredRestarts, stale_conditions, waits_for_restart

Manifest = dict[str, Any]
Options = dict[str, Any]

_VMI = "VirtualMachineInstance"


class VirtualMachineHandler(KindHandler):
    """The handler of VirtualMachines: checks, impacts, restarts and waits.

    options: of the task: `field_manager`, `force_conflicts`, `restart`, `concurrency`.
    """

    def __init__(self, options: Options) -> None:
        super().__init__("virtual machines", options["field_manager"])
        self._force = options["force_conflicts"]
        permitted = options["restart"] == "if_required"
        self._restarts = DeclaredRestarts(permitted, options["concurrency"], options["wait"])
        self._checks = functools.cache(_Checks)

    def complete_entries(
        self, session: Session, entries: list[tuple[Entry, Manifest | None]]
    ) -> list[tuple[Entry, list[str]]]:
        return complete_entries(session, entries)

    def reconcile(self, manifest: Manifest, live: Manifest | None) -> tuple[Manifest, set[Field] | None]:
        return virtual_machine.reconcile(manifest, live, self.manager)

    def adjust(self, step: Plan, live: Manifest | None) -> Plan:
        return virtual_machine.with_merge_patch(step, live, self.manager, self._force)

    def preflight(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        return self._checks(session).preflight(planned)

    def warnings(self, session: Session, planned: list[Planned]) -> list[list[str]]:
        return self._checks(session).warnings(planned)

    def impacts(self, session: Session, planned: list[Planned]) -> list[Impact | None]:
        return self._checks(session).impacts(planned)

    def predict_restart(self, result: DeclareOutcome, check_mode: bool) -> None:
        self._restarts.predict(result, check_mode)

    def restart(self, session: Session, results: list[DeclareOutcome], deadline: float) -> None:
        self._restarts.run(session, results, deadline)

    def probe(self, live: Manifest | None) -> ProbeResult:
        return ProbeResult(*readiness(live))

    def same_status(self, live: Manifest, before: Manifest) -> bool:
        return same_status(live, before)

    def report(self, result: DeclareOutcome) -> dict[str, Any]:
        facts: dict[str, Any] = {"restart_required": waits_for_restart(result), "restarted": result.restart}
        impact = result.impact
        if impact is not None:
            facts.update(needs=impact.needs, changes=list(impact.changes))
            figures = {
                "guest_before": impact.guest_before,
                "guest_after": impact.guest_after,
                "restart_reason": impact.reason,
            }
            facts.update({name: value for name, value in figures.items() if value is not None})
        return facts

    def describe(self, live: Manifest) -> dict[str, Any]:
        status = live.get("status") or {}
        facts = {"status": status.get("printableStatus", ""), "run_strategy": run_strategy(live)}
        for role in ROLES:
            captured = naming.referenced(live, role).name if role.matcher_of(live) else ""
            if captured:
                facts[f"{role.matcher}_revision"] = captured
        return facts

    def retained(self, session: Session, deleted: list[Manifest]) -> list[list[dict[str, str]]]:
        return retained_claims(session, deleted)

    def await_dependents(
        self, session: Session, namespace: str | None, deleted: list[Manifest], seconds: float
    ) -> Failures:
        return await_dependents(session, namespace, deleted, seconds)

    def await_old_dependents(
        self, session: Session, namespace: str | None, created: list[Manifest], seconds: float
    ) -> Failures:
        return await_old_dependents(session, namespace, created, seconds)


class TemplateHandler(KindHandler):
    def __init__(self, _options: dict[str, Any]) -> None:
        super().__init__("virtual machine templates")

    def preflight(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        """Findings about a VM of each template, as warnings, because parameters may have other values."""
        lookup = ClusterLookup(session)
        cluster = Cluster(lookup, kubevirt(session))
        vms = [checkable(step.plan.manifest) for step in planned]
        checkable_vms = [vm for vm in vms if vm is not None]
        lookup.gather(
            dict.fromkeys(
                key for vm in checkable_vms for key in (*keys_for_admission(vm, cluster.release), *keys_for_start(vm))
            )
        )
        return [
            [
                Finding(f"a VM of the template: {issue.text}", note=True, missing=issue.missing)
                for issue in (rules.issues(admit(vm, None, cluster), None, cluster, lookup.list) if vm else ())
            ]
            for vm in vms
        ]


class _Checks:
    """Checks planned VMs. They share one lookup, which reads the cluster only when a check needs it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lookup = ClusterLookup(session)
        self._limits = ClusterLimits(session)
        # Admission of changed VMs, until their impact is known.
        self._admissions: dict[Key, AdmissionResult] = {}

    @property
    def _cluster(self) -> Cluster:
        return Cluster(self._lookup, kubevirt(self._session))

    def preflight(self, planned: list[Planned]) -> list[list[Finding]]:
        """Findings for each planned VM, in order."""
        cluster = self._cluster
        vms = [plan.merged(step.plan, step.live) for step in planned]
        keys = (key for vm in vms for key in (*keys_for_admission(vm, cluster.release), *keys_for_start(vm)))
        self._lookup.gather(dict.fromkeys(keys))
        assumption = [Finding(cluster.kubevirt.assumption, note=True)] if cluster.kubevirt.assumption else []
        findings_by_key: dict[str, list[Finding]] = {}
        result = []
        for step, vm in zip(planned, vms):
            # The impact of a change of the spec needs the admission of each VM.
            cache_key = None if _changes_spec(step) else admission_cache_key(vm, step.live, cluster)
            findings = findings_by_key.get(cache_key) if cache_key is not None else None
            if findings is None:
                findings = self._findings(step, vm, cluster)
                # A finding may name the revision that this VM has captured.
                if cache_key is not None and (step.live is None or not findings):
                    findings_by_key[cache_key] = findings
            result.append([*findings, *assumption])
        return result

    def _findings(self, step: Planned, vm: Manifest, cluster: Cluster) -> list[Finding]:
        future = admit(vm, step.live, cluster)
        if _changes_spec(step):
            self._admissions[step.entry.key] = future
        issues = rules.issues(future, step.live, cluster, self._lookup.list)
        violations = [] if future.admitted is None else self._limits.violations(future.admitted, step.live)
        return [
            *(Finding(violation.text, note=violation.action == WARN) for violation in violations),
            *(Finding(issue.text, note=not issue.certain, missing=issue.missing) for issue in issues),
        ]

    def warnings(self, planned: list[Planned]) -> list[list[str]]:
        """Warnings for each planned VM, changed or not, in order."""
        grown = {step.entry.key: pair for step in planned if (pair := _expanded(step)) is not None}
        if not grown:
            return [[] for _step in planned]
        cluster = self._cluster
        self._lookup.gather(
            key for pair in grown.values() for vm in pair for key in keys_for_admission(vm, cluster.release)
        )
        warnings = {key: size_mismatch(*pair, cluster) for key, pair in grown.items()}
        return [[note] if (note := warnings.get(step.entry.key)) else [] for step in planned]

    def impacts(self, planned: list[Planned]) -> list[Impact | None]:
        """The impact of each planned change, in order; None for a VM that is created, deleted or unchanged.

        A change outside the spec needs nothing, unless a hot-plug of CPUs holds up an earlier change.
        """
        impacts: list[Impact | None] = [Impact(NOTHING) if step.plan.action == plan.APPLY else None for step in planned]
        # Ordered, and quick to look up in.
        changed = dict.fromkeys(index for index, step in enumerate(planned) if _changes_spec(step) or _is_held_up(step))
        unchanged = [index for index, step in enumerate(planned) if step.live is not None and index not in changed]
        for index, done in zip(
            unchanged, stale_conditions(self._session, [planned[index].live or {} for index in unchanged])
        ):
            impacts[index] = Impact(NOTHING, guest_current=True) if done else impacts[index]
        if not changed:
            return impacts
        try:
            instances = read(self._session, [_instance(planned[index]) for index in changed])
        except (Unreadable, ConnectionFailed):
            return [Impact(UNKNOWN) if index in changed else other for index, other in enumerate(impacts)]
        cluster = self._cluster
        pairs = [(planned[index], instances.get(_instance(planned[index]))) for index in changed]
        self._lookup.gather(
            key
            for step, instance in pairs
            if step.live is not None and instance is not None
            for key in keys_for_guest(step.live, instance, cluster.release)
        )
        for index, (step, instance) in zip(changed, pairs):
            future = self._admissions.pop(step.entry.key, None) or admit(
                plan.merged(step.plan, step.live), step.live, cluster
            )
            change = impact(step.live or {}, future, instance, cluster)
            if _changes_spec(step) or change.needs == RESTART:
                impacts[index] = change
        return impacts


def _expanded(step: Planned) -> tuple[Manifest, Manifest] | None:
    """The declared and the live VM, if the cluster has replaced the matchers of a VM that stays; else None."""
    if step.live is None or step.plan.action == plan.DELETE:
        return None
    return (step.entry.manifest, step.live) if virtual_machine.expanded(step.entry.manifest, step.live) else None


def _changes_spec(step: Planned) -> bool:
    return step.plan.action == plan.APPLY and bool(step.plan.before.get("spec") or step.plan.after.get("spec"))


def _is_held_up(step: Planned) -> bool:
    live = step.live
    return step.plan.action != plan.DELETE and live is not None and has_guest(live) and plugs_sockets(live)


def _instance(step: Planned) -> Key:
    return Key(_VMI, step.entry.key.namespace, step.entry.key.name)
