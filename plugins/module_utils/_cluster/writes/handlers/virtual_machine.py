"""VMs as objects to declare."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from ...._resolver.api.finding import WARNING, Finding
from ...._resolver.api.manifest import Manifest, Progress, namespaced_name
from ...._resolver.api.matcher import ObjectKey
from ...._resolver.api.write import merge_patch
from ...._resolver.change.declared import DeclareJob, Findings
from ...._resolver.change.step import RETRY
from ...._resolver.declare import plan, virtual_machine
from ...._resolver.declare.losses import loss
from ...._resolver.declare.plan import Plan
from ...._resolver.declare.plugged import plugged_warnings
from ...._resolver.guest.effect import NOTHING, RESTART, UNKNOWN, GuestEffect
from ...._resolver.guest.predict import admitted_effect
from ...._resolver.kubevirt.admission.mutate import AdmissionResult, admission_cache_key, admit
from ...._resolver.kubevirt.cluster import Cluster
from ...._resolver.kubevirt.vm.failures import retry_patch, unfinished_change
from ...._resolver.kubevirt.vm.readiness import readiness, same_status
from ...._resolver.preflight.collisions import Name, Use, collisions, uses
from ...._resolver.preflight.existing_disks import existing_disks, keys_for_disks
from ...._resolver.preflight.lost_objects import power_problem
from ...._resolver.preflight.object_keys import keys_for_admission, keys_for_guest
from ...._resolver.preflight.plugging import PlugRequests, plug_requests
from ...._resolver.preflight.references import created_volumes, keys_for_start
from ...client.concurrency import map_concurrently
from ...client.errors import RequestFailed
from ...client.session import Session
from ...reads.snapshot import read_objects
from ...task import Task
from ..deletion import await_dependents, await_old_dependents, retained_claims
from ..kind_handler import KindHandler
from ..plugging import plug
from ..restarts import pending_effects
from ..send import send
from ..vm_extension import VMTask
from .vm_restarts import may_restart, restart_declared, warn_in_check_mode

_VMI = "VirtualMachineInstance"


class VirtualMachineHandler(KindHandler):
    """The handler of VirtualMachines: checks, effects, restarts and waits.

    The checks share one lookup, which reads the cluster only when one of them needs it.
    """

    def __init__(self, task: VMTask) -> None:
        options = task.options
        self.manager = options["field_manager"]
        self._options = options
        self._may_restart = options["restart"] == "if_required"
        self._session = task.session
        self._lookup = task.lookup
        self._extensions = task.extensions
        self._checks = [check for extension in self._extensions for check in extension.checks]
        # Admission of changed VMs, until their effect is known.
        self._admissions: dict[ObjectKey, AdmissionResult] = {}
        self._plugs: dict[ObjectKey, PlugRequests] = {}
        # VMIs of changed VMs, until the answer has confirmed the effect.
        self._guests: dict[ObjectKey, Manifest | None] = {}
        # The VMs that the task does not declare, and those that it does.
        self._others: dict[Name, list[Use]] = {}
        self._present: list[DeclareJob] = []

    def see_others(self, objects: list[Manifest]) -> None:
        self._others.update(
            (namespaced_name(vm), uses(vm)) for vm in objects if not vm["metadata"].get("deletionTimestamp")
        )

    def complete(self, jobs: list[DeclareJob], check_mode: bool) -> None:
        self._present = jobs
        for extension in self._extensions:
            extension.complete(jobs, check_mode)

    def plan(self, job: DeclareJob, task: Task) -> Plan:
        manifest, live = job.goal.manifest, job.seen.live
        if job.goal.state == "absent":
            return super().plan(job, task)
        step, plugged = virtual_machine.plan_vm(manifest, live, self.manager, task.force_conflicts, task.take_over)
        job.warnings += plugged_warnings(plugged, live)
        refused = step.refusal or (step.conflict and not task.force_conflicts)
        if live is not None and not refused and (warning := loss(step, live)):
            job.warn(warning)
            job.goal.of_change.append(warning)
        return step

    def check(self, planned: list[DeclareJob]) -> Findings:
        planned = [job for job in planned if job.goal.action != plan.DELETE]
        if not planned:
            return {}
        cluster = self._lookup.cluster
        vms = [plan.merged(job.goal.plan, job.seen.live) for job in planned]
        keys = dict.fromkeys(
            key
            for job, vm in zip(planned, vms)
            for key in (
                *keys_for_admission(vm, cluster.release),
                *keys_for_start(vm, job.seen.live),
                *keys_for_disks(vm, job.seen.live),
            )
        )
        pairs = list(zip(planned, vms))
        reads: list[Callable[[], None]] = [partial(self._lookup.gather, keys)]
        reads += [partial(extension.gather_named, pairs) for extension in self._extensions]
        map_concurrently(lambda read: read(), reads)
        for extension in self._extensions:
            extension.gather_followed(pairs)
        assumption = [Finding(cluster.kubevirt.assumption, severity=WARNING)] if cluster.kubevirt.assumption else []
        findings_by_key: dict[str, list[Finding]] = {}
        shared = self._collisions(pairs)
        found = {}
        for job, vm in pairs:
            # The effect of a change of the spec needs the admission of each VM.
            cache_key = None if _changes_spec(job) else admission_cache_key(vm, job.seen.live, cluster)
            findings = findings_by_key.get(cache_key) if cache_key is not None else None
            if findings is None:
                findings = self._findings(job, vm, cluster)
                # A finding may name the revision that this VM has captured.
                if cache_key is not None and (job.seen.live is None or not findings):
                    findings_by_key[cache_key] = findings
            adopt = bool(job.goal.options.get("adopt_disks"))
            existing = list(existing_disks(vm, job.seen.live, self._lookup, adopt=adopt))
            told = {finding.field for finding in existing}
            others = [finding for finding in shared.get(namespaced_name(vm), ()) if finding.field not in told]
            found[job] = [*findings, *existing, *others, *assumption]
        return found

    def _collisions(self, planned: list[tuple[DeclareJob, Manifest]]) -> dict[Name, list[Finding]]:
        """The findings about planned VMs beside each other, and beside VMs that stay as they are."""
        present = [job.seen.live for job in self._present if job.seen.live is not None]
        vms = {namespaced_name(vm): uses(vm) for vm in (*present, *(vm for _outcome, vm in planned))}
        made = {namespaced_name(vm): created_volumes(vm) for vm in present}
        return collisions({**self._others, **vms}, made)

    def _findings(self, job: DeclareJob, vm: Manifest, cluster: Cluster) -> list[Finding]:
        # Only a VM to be written is judged; most are unchanged.
        from ...._resolver.preflight import findings as preflight

        future = admit(vm, job.seen.live, cluster)
        if _changes_spec(job):
            self._admissions[job.key] = future
        return [
            *(finding for extension in self._extensions for finding in extension.findings(job, vm, future.admitted)),
            *preflight.findings(future, job.seen.live, cluster, self._lookup.list, self._checks),
        ]

    def predict_effects(self, planned: list[DeclareJob], check_mode: bool) -> None:
        self._warn_of_sizes(planned)
        self._set_effects(planned)
        deleted = {job: job.seen.live for job in planned if job.goal.action == plan.DELETE and job.seen.live}
        for job, retained in zip(deleted, retained_claims(self._session, list(deleted.values()))):
            job.goal.retained = retained
        self._forecast_restarts(planned, check_mode)

    def _forecast_restarts(self, planned: list[DeclareJob], check_mode: bool) -> None:
        for job in planned:
            # A VM that is to be restarted needs nothing more.
            job.goal.restart = False
            job.goal.restart = self._may_restart and may_restart(job)
            if check_mode and self._may_restart:
                warn_in_check_mode(job)
            # KubeVirt reports a lost revision only after it has looked at the VM again.
            if job.goal.restart and power_problem(job.seen.live or {}, self._lookup, self._lookup.cluster.release):
                job.goal.restart = False

    def _warn_of_sizes(self, planned: list[DeclareJob]) -> None:
        """Warns of VMs whose matchers the cluster has replaced, and that have another size than is declared."""
        expanded = [job for job in planned if _is_expanded(job)]
        if not expanded:
            return
        cluster = self._lookup.cluster
        vms = (vm for job in expanded for vm in (job.goal.manifest, job.seen.live or {}))
        self._lookup.gather(key for vm in vms for key in keys_for_admission(vm, cluster.release))
        for job in expanded:
            job.warnings += filter(
                None, [virtual_machine.size_mismatch(job.goal.manifest, job.seen.live or {}, cluster)]
            )

    def _set_effects(self, planned: list[DeclareJob]) -> None:
        """Sets the effect of each planned change, and of earlier changes on the guest of an unchanged VM; None for a VM
        that is created or deleted, and for an unchanged one that needs nothing.
        """
        self._set_earlier_effects(planned)
        self._compare({job: self._future(job, self._lookup.cluster) for job in planned if _changes_spec(job)})

    def _set_earlier_effects(self, planned: list[DeclareJob]) -> None:
        same = [job for job in planned if _is_kept(job) and not _changes_spec(job)]
        # Only a task that may restart guests reads the guests for which KubeVirt asks nothing.
        vms = [job.seen.live or {} for job in same]
        for job, effect in zip(same, pending_effects(self._session, vms, unrequested=self._may_restart)):
            waits = effect is not None and (effect.needs == RESTART or effect.restart_superfluous)
            others = GuestEffect(NOTHING) if job.goal.action == plan.APPLY else None
            job.goal.effect = effect if waits else others

    def _compare(self, futures: Mapping[DeclareJob, AdmissionResult]) -> None:
        """Sets the effects of changes on guests, each of which is read once. futures: the VMs after the changes."""
        if not futures:
            return
        unread = [job for job in futures if job.key not in self._guests]
        try:
            vmis = read_objects(self._session, map(_vmi_key, unread))
        except RequestFailed:
            for job in unread:
                job.goal.effect = GuestEffect(UNKNOWN)
        else:
            self._guests.update({job.key: vmis.get(_vmi_key(job)) for job in unread})
        guests = {job: self._guests[job.key] for job in futures if job.key in self._guests}
        cluster = self._lookup.cluster
        self._lookup.gather(
            key
            for job, vmi in guests.items()
            if vmi is not None
            for key in keys_for_guest(job.goal.answer or job.seen.live or {}, vmi, cluster.release)
        )
        plugging = cluster._replace(kubevirt=replace(cluster.kubevirt, requests_plugs=True))
        for job, vmi in guests.items():
            known = plugging if self._plugs.get(job.key) else cluster
            job.goal.effect = admitted_effect(job.before.live or {}, futures[job], vmi, known)

    def _future(self, job: DeclareJob, cluster: Cluster) -> AdmissionResult:
        """The changed VM as admission leaves it; notes the volumes to plug."""
        key, live = job.key, job.seen.live or {}
        future = self._admissions.pop(key, None) or admit(plan.merged(job.goal.plan, live), live, cluster)
        if future.admitted is not None:
            self._plugs[key] = plug_requests(future.admitted, live, cluster.kubevirt)
        return future

    def write(self, session: Session, job: DeclareJob, task: Task) -> None:
        plug(session, job, self._plugs.get(job.key, {}), task.wait_timeout)
        if job.failed is None:
            super().write(session, job, task)
            for extension in self._extensions:
                extension.write_related(job, session)
        if job.goal.answer is None:
            self._guests.pop(job.key, None)

    def rest(self, manifest: Manifest, live: Manifest) -> Plan:
        return virtual_machine.plan_vm(manifest, live, self.manager)[0]

    def revise(self, jobs: list[DeclareJob], check_mode: bool) -> None:
        jobs = [job for job in jobs if job.before.live is not None]
        self._set_earlier_effects(jobs)
        self._compare(
            {job: AdmissionResult(job.goal.answer or {}, job.goal.answer) for job in jobs if _changes_spec(job)}
        )
        self._guests.clear()
        if check_mode:
            self._forecast_restarts(jobs, check_mode)

    def restart(self, jobs: list[DeclareJob], deadline: float) -> None:
        if self._may_restart or self._options["wait"]:
            restart_declared(self._session, jobs, self._may_restart, self._options["concurrency"], deadline)
        if self._options["wait"]:
            self._retry([job for job in jobs if not (job.failed or job.written)])

    def _retry(self, jobs: list[DeclareJob]) -> None:
        """Makes virt-controller try again what has failed before, and what it would repeat only minutes later.

        No declared field changes. A user who may not write the VM waits for virt-controller.
        """
        patches = {job: patch for job in jobs if job.seen.live and (patch := retry_patch(job.seen.live))}

        def retry(job: DeclareJob) -> None:
            write = merge_patch(job.key.path, patches[job], fieldManager=self._session.field_manager)
            with contextlib.suppress(RequestFailed):
                if send(self._session, write) is not None:
                    job.done.append(RETRY)

        map_concurrently(retry, patches, self._options["concurrency"])

    def probe(self, live: Manifest | None, before: Manifest | None) -> Progress:
        progress = readiness(live)._replace(warning=unfinished_change(live) or "" if live is not None else "")
        unseen = live is not None and before is not None and same_status(live, before)
        return progress.with_grace() if unseen else progress

    def await_dependents(
        self, namespace: str | None, objects: list[Manifest], timeout: float, *, created: bool
    ) -> dict[str, str]:
        wait = await_old_dependents if created else await_dependents
        return wait(self._session, namespace, objects, timeout)


def _is_kept(job: DeclareJob) -> bool:
    """Whether the VM is in the cluster and is not deleted."""
    return job.seen.live is not None and job.goal.action != plan.DELETE


def _is_expanded(job: DeclareJob) -> bool:
    """Whether the cluster has replaced the matchers of a VM that stays."""
    return _is_kept(job) and virtual_machine.expanded(job.goal.manifest, job.seen.live or {})


def _changes_spec(job: DeclareJob) -> bool:
    step = job.goal.plan
    return step.action == plan.APPLY and bool(step.before.get("spec") or step.after.get("spec"))


def _vmi_key(job: DeclareJob) -> ObjectKey:
    return ObjectKey(_VMI, job.key.namespace, job.key.name)
