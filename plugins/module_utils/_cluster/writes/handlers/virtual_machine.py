"""VMs as objects to declare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ...._resolver.api.managed_fields import Field
from ...._resolver.api.manifest import Progress
from ...._resolver.api.matcher import MATCHER_FIELDS, ObjectKey
from ...._resolver.declare import plan, virtual_machine
from ...._resolver.declare.expanded_size import size_mismatch
from ...._resolver.declare.plan import Plan
from ...._resolver.declare.rewrites import plugged_warnings
from ...._resolver.guest.effect import NOTHING, RESTART, UNKNOWN, GuestEffect, admitted_effect
from ...._resolver.kubevirt.config.cluster import Cluster
from ...._resolver.kubevirt.find import revision_names as naming
from ...._resolver.kubevirt.vm.failures import retry_patch, unfinished_change
from ...._resolver.kubevirt.vm.readiness import readiness, run_strategy, same_status
from ...._resolver.kubevirt.webhooks.mutate import AdmissionResult, admission_cache_key, admit
from ...._resolver.preflight import issues as rules
from ...._resolver.preflight.lost_objects import power_problem
from ...._resolver.preflight.object_keys import keys_for_admission, keys_for_guest
from ...._resolver.preflight.plugging import PlugRequests, plug_requests
from ...._resolver.preflight.references import keys_for_start
from ...client.errors import RequestFailed
from ...client.pool import map_concurrently
from ...client.session import Session
from ...reads.kubevirt import kubevirt
from ...reads.lookup import ClusterLookup
from ...reads.snapshot import read
from ..deletion import await_dependents, await_old_dependents, retained_claims
from ..kind_handler import DeclareOutcome, Finding, KindHandler, TaskNotes
from ..plugging import plug
from ..restarts import DeclaredRestarts, pending_effects, waits_for_restart
from ..vm_extension import VMExtension, VMTask

Manifest = dict[str, Any]
Options = dict[str, Any]

_VMI = "VirtualMachineInstance"


class VirtualMachineHandler(KindHandler):
    """The handler of VirtualMachines: checks, effects, restarts and waits.

    The checks share one lookup, which reads the cluster only when one of them needs it.
    options: of the task.
    """

    def __init__(
        self, options: Options, session: Session, notes: TaskNotes, extensions: Sequence[type[VMExtension]] = ()
    ) -> None:
        self.manager = options["field_manager"]
        self._options = options
        self._force = options["force_conflicts"]
        permitted = options["restart"] == "if_required"
        self._restarts = DeclaredRestarts(permitted, options["concurrency"], options["wait"])
        self._session = session
        self._lookup = ClusterLookup(session)
        task = VMTask(options, session, self._lookup, notes, self._obstacle)
        self._extensions = [extension(task) for extension in extensions]
        self._checks = [check for extension in self._extensions for check in extension.checks]
        # Admission of changed VMs, until their effect is known.
        self._admissions: dict[ObjectKey, AdmissionResult] = {}
        self._plugs: dict[ObjectKey, PlugRequests] = {}

    @property
    def _cluster(self) -> Cluster:
        return Cluster(self._lookup, kubevirt(self._session))

    def complete(self, results: list[DeclareOutcome], check_mode: bool) -> None:
        for extension in self._extensions:
            extension.complete(results, check_mode)

    def _obstacle(self, vm: Manifest) -> str | None:
        """Why the cluster would not run a VM, as far as the extensions know."""
        return next(filter(None, (extension.obstacle(vm) for extension in self._extensions)), None)

    def write_related(self, results: list[DeclareOutcome], session: Session) -> None:
        for extension in self._extensions:
            extension.write_related(results, session)

    def reconcile(self, manifest: Manifest, live: Manifest | None) -> tuple[Manifest, set[Field] | None, list[str]]:
        result = virtual_machine.reconcile(manifest, live, self.manager, self._force)
        return result.manifest, result.owned_fields, list(plugged_warnings(result.plugged, live))

    def adjust(self, step: Plan, live: Manifest | None) -> Plan:
        return virtual_machine.with_merge_patch(step, live, self.manager, self._force)

    def preflight(self, planned: list[DeclareOutcome]) -> list[list[Finding]]:
        cluster = self._cluster
        vms = [plan.merged(result.planned, result.live) for result in planned]
        keys = dict.fromkeys(
            key
            for result, vm in zip(planned, vms)
            for key in (*keys_for_admission(vm, cluster.release), *keys_for_start(vm, result.live))
        )
        pairs = list(zip(planned, vms))
        reads: list[Callable[[], None]] = [partial(self._lookup.gather, keys)]
        reads += [partial(extension.first_reads, pairs) for extension in self._extensions]
        map_concurrently(lambda read: read(), reads)
        for extension in self._extensions:
            extension.prepare_findings(pairs)
        assumption = [Finding(cluster.kubevirt.assumption, note=True)] if cluster.kubevirt.assumption else []
        findings_by_key: dict[str, list[Finding]] = {}
        found = []
        for result, vm in zip(planned, vms):
            # The effect of a change of the spec needs the admission of each VM.
            cache_key = None if _changes_spec(result) else admission_cache_key(vm, result.live, cluster)
            findings = findings_by_key.get(cache_key) if cache_key is not None else None
            if findings is None:
                findings = self._findings(result, vm, cluster)
                # A finding may name the revision that this VM has captured.
                if cache_key is not None and (result.live is None or not findings):
                    findings_by_key[cache_key] = findings
            found.append([*findings, *assumption])
        return found

    def _findings(self, result: DeclareOutcome, vm: Manifest, cluster: Cluster) -> list[Finding]:
        future = admit(vm, result.live, cluster)
        if _changes_spec(result):
            self._admissions[result.entry.key] = future
        issues = rules.issues(future, result.live, cluster, self._lookup.list, self._checks)
        return [
            *(finding for extension in self._extensions for finding in extension.findings(result, vm, future.admitted)),
            *(Finding(issue.text, note=not issue.certain, missing=issue.missing) for issue in issues),
        ]

    def predict_effects(self, planned: list[DeclareOutcome], check_mode: bool) -> None:
        self._warn_of_sizes(planned)
        self._set_effects(planned)
        deleted = {result: result.live for result in planned if result.action == plan.DELETE and result.live}
        for result, retained in zip(deleted, retained_claims(self._session, list(deleted.values()))):
            result.retained = retained
        for result in planned:
            self._restarts.predict(result, check_mode)
            # KubeVirt reports a lost revision only after it has looked at the VM again.
            if result.restart and power_problem(result.live or {}, self._lookup, self._cluster.release):
                result.restart = False

    def _warn_of_sizes(self, planned: list[DeclareOutcome]) -> None:
        """Warns of VMs whose matchers the cluster has replaced, and that have another size than is declared."""
        expanded = [result for result in planned if _is_expanded(result)]
        if not expanded:
            return
        cluster = self._cluster
        vms = (vm for result in expanded for vm in (result.entry.manifest, result.live or {}))
        self._lookup.gather(key for vm in vms for key in keys_for_admission(vm, cluster.release))
        for result in expanded:
            result.warnings += filter(None, [size_mismatch(result.entry.manifest, result.live or {}, cluster)])

    def _set_effects(self, planned: list[DeclareOutcome]) -> None:
        """Sets the effect of each planned change, and of earlier changes on the guest of an unchanged VM; None for a VM
        that is created or deleted, and for an unchanged one that needs nothing.
        """
        changed = [result for result in planned if _changes_spec(result)]
        same = [result for result in planned if _stays(result) and not _changes_spec(result)]
        # Only a task that may restart guests reads those for which KubeVirt asks nothing.
        vms, restarts = [result.live or {} for result in same], self._options["restart"] != "never"
        for result, effect in zip(same, pending_effects(self._session, vms, unrequested=restarts)):
            waits = effect is not None and (effect.needs == RESTART or effect.requested_in_vain)
            others = GuestEffect(NOTHING) if result.action == plan.APPLY else None
            result.effect = effect if waits else others
        if not changed:
            return
        cluster = self._cluster
        futures = {result: self._future(result, cluster) for result in changed}
        try:
            instances = read(self._session, map(_instance, changed))
        except RequestFailed:
            for result in changed:
                result.effect = GuestEffect(UNKNOWN)
            return
        self._lookup.gather(
            key
            for result in changed
            if result.live is not None and (instance := instances.get(_instance(result))) is not None
            for key in keys_for_guest(result.live, instance, cluster.release)
        )
        for result, future in futures.items():
            kubevirt = replace(cluster.kubevirt, requests_plugs=bool(self._plugs.get(result.entry.key)))
            instance, plugging = instances.get(_instance(result)), cluster._replace(kubevirt=kubevirt)
            result.effect = admitted_effect(result.live or {}, future, instance, plugging)

    def _future(self, result: DeclareOutcome, cluster: Cluster) -> AdmissionResult:
        """The changed VM as admission leaves it; notes the volumes to plug."""
        key, live = result.entry.key, result.live or {}
        future = self._admissions.pop(key, None) or admit(plan.merged(result.planned, live), live, cluster)
        if future.admitted is not None:
            self._plugs[key] = plug_requests(future.admitted, live, cluster.kubevirt)
        return future

    def request(self, session: Session, result: DeclareOutcome, timeout: float) -> None:
        plug(session, result, self._plugs.get(result.entry.key, {}), timeout)

    def restart(self, results: list[DeclareOutcome], deadline: float) -> None:
        self._restarts.run(self._session, results, deadline)

    def retry_patch(self, live: Manifest) -> Manifest | None:
        return retry_patch(live)

    def remark(self, live: Manifest) -> str | None:
        return unfinished_change(live)

    def probe(self, live: Manifest | None) -> Progress:
        return readiness(live)

    def same_status(self, live: Manifest, before: Manifest) -> bool:
        return same_status(live, before)

    def describe(self, result: DeclareOutcome) -> dict[str, Any]:
        live, effect = result.live or {}, result.effect
        facts: dict[str, Any] = {
            "status": (live.get("status") or {}).get("printableStatus", ""),
            "run_strategy": run_strategy(live),
        }
        for matcher_field in MATCHER_FIELDS:
            captured = naming.referenced(live, matcher_field).name if matcher_field.matcher_of(live) else ""
            if captured:
                facts[f"{matcher_field.matcher}_revision"] = captured
        facts.update(restart_required=waits_for_restart(result), restarted=result.restart)
        if effect is not None:
            facts.update(needs=effect.needs, changes=list(effect.changes))
            figures = {
                "guest_before": effect.guest_before,
                "guest_after": effect.guest_after,
                "restart_reason": effect.reason,
            }
            facts.update({name: value for name, value in figures.items() if value})
        return facts

    def await_dependents(self, namespace: str | None, deleted: list[Manifest], timeout: float) -> dict[str, str]:
        return await_dependents(self._session, namespace, deleted, timeout)

    def await_old_dependents(self, namespace: str | None, created: list[Manifest], timeout: float) -> dict[str, str]:
        return await_old_dependents(self._session, namespace, created, timeout)


def _stays(result: DeclareOutcome) -> bool:
    """Whether the VM is in the cluster and is not deleted."""
    return result.live is not None and result.action != plan.DELETE


def _is_expanded(result: DeclareOutcome) -> bool:
    """Whether the cluster has replaced the matchers of a VM that stays."""
    return _stays(result) and virtual_machine.expanded(result.entry.manifest, result.live or {})


def _changes_spec(result: DeclareOutcome) -> bool:
    step = result.planned
    return step.action == plan.APPLY and bool(step.before.get("spec") or step.after.get("spec"))


def _instance(result: DeclareOutcome) -> ObjectKey:
    return ObjectKey(_VMI, result.entry.key.namespace, result.entry.key.name)
