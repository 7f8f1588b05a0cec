"""The steps by which declared VMs differ from other declared objects: checks, effects on guests, plugged volumes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Final

from ..api.errors import KubeVirtError
from ..api.finding import WARNING, Finding
from ..api.kinds import Kind
from ..api.manifest import Manifest, Progress, namespaced_name
from ..api.matcher import Inferring, ObjectKey
from ..api.tree import value_at
from ..declare import plan, virtual_machine
from ..declare.losses import loss
from ..declare.plan import Plan
from ..declare.plugged import plugged_warnings
from ..declare.rewrites import CONTROLLER
from ..guest.effect import NOTHING, RESTART, UNKNOWN, GuestEffect
from ..guest.predict import admitted_effect, guest_effect
from ..kubevirt.admission.mutate import AdmissionResult, admission_cache_key, admit
from ..kubevirt.cluster import Cluster
from ..kubevirt.instancetype.lookup import Lookup
from ..kubevirt.vm.failures import unfinished_change
from ..kubevirt.vm.readiness import may_lack_changes, readiness, same_status
from ..preflight.collisions import Name, Use, collisions, uses
from ..preflight.existing_disks import existing_disks, keys_for_disks
from ..preflight.object_keys import ObjectToRead, keys_for_admission, keys_for_guest
from ..preflight.plugging import PlugRequests, is_carried_out, is_requested, plug_requests, plug_write
from ..preflight.references import claim_names, created_volumes, keys_for_start, sole_owner
from .declare_steps import DeclaredKind, plan_object
from .declared import PLUG, DeclareJob, Ownership
from .step import REQUEST, VMI, Act, Decision, Facts, Probe, Seen, Step
from .vm_restarts import forecast_restart

_LISTS: Final[tuple[tuple[str, ...], ...]] = (
    ("spec", "template", "spec", "volumes"),
    ("spec", "template", "spec", "domain", "devices", "disks"),
)


class VMSteps:
    """The steps for VMs.

    checks, inferring: see `preflight.findings`. permitted: the task may restart guests. waits: it waits for VMs.
    """

    def __init__(
        self,
        ownership: Ownership,
        checks: Sequence[Callable[..., Iterable[Finding]]],
        *,
        inferring: Inferring = MappingProxyType({}),
        permitted: bool,
        waits: bool,
        check_mode: bool,
    ) -> None:
        self._manager, self._checks, self._inferring = ownership.manager, checks, inferring
        self._permitted, self._waits, self._check_mode = permitted, waits, check_mode
        # The VMs that the task does not declare, and the declared ones.
        self._others: dict[Name, list[Use]] = {}
        self._present: Sequence[DeclareJob] = ()
        self._plugs: dict[ObjectKey, PlugRequests] = {}
        # The VMs whose guests were read, and VMs whose guests cannot be read.
        self._known: set[ObjectKey] = set()
        self._unknown: set[ObjectKey] = set()

    @property
    def kind(self) -> DeclaredKind:
        """VMs as a kind of declared objects."""
        effects = Step("effects", self._note_effect, self._guests_to_read, self._note_unread, self._keys_for_effect)
        forecast = Step("forecast", self._forecast)
        return DeclaredKind(
            _plan_vm,
            _rest_of_vm,
            _state,
            self._note_others,
            complete=(Step("present", prepare=self._note_present),),
            checks=(Step("check", prepare=self._check),),
            forecast=(Step("sizes", prepare=_warn_of_sizes), effects, Step("retained", _note_retained), forecast),
            before=(Step(PLUG, self._plug, until=self._until_plugged), Step("plugged", self._note_plugged)),
            revise=(effects, forecast) if self._check_mode else (effects,),
            # Check mode ends with what it foresees.
            foreseen=(Step(REQUEST, lambda job, _facts: Act(()) if job.goal.restarts else None),),
            restart=self._restart(),
        )

    def _restart(self) -> tuple[Step, ...]:
        if not self._permitted and not self._waits:
            return ()
        # Only a task that restarts guests, or waits for them, needs it.
        from .vm_restart_steps import restart_steps

        return restart_steps(self._manager, permitted=self._permitted, waits=self._waits)

    def _note_present(self, jobs: Sequence[DeclareJob], _facts: Facts) -> None:
        self._present = jobs

    def _note_others(self, objects: Iterable[Manifest]) -> None:
        """Notes the VMs that the task does not declare."""
        self._others.update(
            (namespaced_name(vm), uses(vm)) for vm in objects if not vm["metadata"].get("deletionTimestamp")
        )

    def _check(self, jobs: Sequence[DeclareJob], facts: Facts) -> None:
        planned = [job for job in jobs if job.goal.action != plan.DELETE]
        if not planned:
            return
        cluster = facts.cluster
        pairs = [(job, plan.merged(job.goal.plan, job.seen.live)) for job in planned]
        facts.gather(
            dict.fromkeys(
                key
                for job, vm in pairs
                for key in (
                    *keys_for_admission(vm, cluster.release),
                    *keys_for_start(vm, job.seen.live),
                    *keys_for_disks(vm, job.seen.live),
                )
            )
        )
        assumption = [Finding(cluster.kubevirt.assumption, severity=WARNING)] if cluster.kubevirt.assumption else []
        alike: dict[str, tuple[AdmissionResult, list[Finding]]] = {}
        shared = self._collisions(pairs)
        for job, vm in pairs:
            # The effect of a change of the spec needs the admission of each VM.
            cache_key = None if _changes_spec(job) else admission_cache_key(vm, job.seen.live, cluster)
            judged = alike.get(cache_key) if cache_key is not None else None
            if judged is None:
                # Only a VM to be written is judged; most are unchanged.
                from ..preflight import findings as preflight

                future = admit(vm, job.seen.live, cluster)
                judged = (
                    future,
                    preflight.findings(future, job.seen.live, cluster, facts.list, self._checks, self._inferring),
                )
                # A finding may name the revision that this VM has captured.
                if cache_key is not None and (job.seen.live is None or not judged[1]):
                    alike[cache_key] = judged
            job.goal.admission, findings = judged
            adopt = bool(job.goal.options.get("adopt_disks"))
            existing = list(existing_disks(vm, job.seen.live, facts, adopt=adopt))
            told = {finding.field for finding in existing}
            others = [finding for finding in shared.get(namespaced_name(vm), ()) if finding.field not in told]
            job.goal.findings = [*findings, *existing, *others, *assumption]

    def _collisions(self, planned: Sequence[tuple[DeclareJob, Manifest]]) -> dict[Name, list[Finding]]:
        """The findings about planned VMs beside each other, and beside VMs that stay as they are."""
        present = [job.seen.live for job in self._present if job.seen.live is not None]
        vms = {namespaced_name(vm): uses(vm) for vm in (*present, *(vm for _job, vm in planned))}
        made = {namespaced_name(vm): created_volumes(vm) for vm in present}
        return collisions({**self._others, **vms}, made)

    def _guests_to_read(self, job: DeclareJob) -> tuple[Kind, ...]:
        """The guest to read: of a changed VM, or of an unchanged one whose guest may lack earlier changes.

        Only a task that may restart guests reads the guests for which KubeVirt asks nothing.
        """
        if _changes_spec(job):
            return () if job.key in self._known else (VMI,)
        return (VMI,) if _is_kept(job) and may_lack_changes(job.seen.live or {}, self._permitted) else ()

    def _note_unread(self, job: DeclareJob, _failure: str) -> None:
        self._unknown.add(job.key)

    def _keys_for_effect(self, job: DeclareJob, facts: Facts) -> Iterable[ObjectToRead]:
        vmi, vm = job.seen.vmi, job.goal.answer or job.seen.live
        return () if vmi is None or vm is None else keys_for_guest(vm, vmi, facts.cluster.release)

    def _note_effect(self, job: DeclareJob, facts: Facts) -> Decision:
        """Notes the effect of a planned change, and of earlier changes on the guest of an unchanged VM; None for a VM
        that is created or deleted, and for an unchanged one that needs nothing.
        """
        is_unknown = job.key in self._unknown
        self._unknown.discard(job.key)
        admission, job.goal.admission = job.goal.admission, None
        if _changes_spec(job):
            future = self._future(job, admission, facts.cluster)
            if is_unknown:
                job.goal.effect = GuestEffect(UNKNOWN)
                return None
            self._known.add(job.key)
            cluster = facts.cluster
            if self._plugs.get(job.key):
                cluster = cluster._replace(kubevirt=replace(cluster.kubevirt, requests_plugs=True))
            job.goal.effect = admitted_effect(job.before.live or {}, future, job.seen.vmi, cluster)
            return None
        if _is_kept(job):
            effect, (vm, vmi) = None, job.seen
            if vm is not None and vmi is not None:
                effect = guest_effect(vm, vm, vmi, facts.cluster)
            job.seen = Seen(vm)
            waits = effect is not None and (effect.needs == RESTART or effect.restart_superfluous)
            others = GuestEffect(NOTHING) if job.goal.action == plan.APPLY else None
            job.goal.effect = effect if waits else others
        return None

    def _future(self, job: DeclareJob, admission: AdmissionResult | None, cluster: Cluster) -> AdmissionResult:
        """The changed VM as admission leaves it; notes the volumes to plug."""
        if job.goal.answer:
            return AdmissionResult(job.goal.answer, job.goal.answer)
        live = job.seen.live or {}
        future = admission or admit(plan.merged(job.goal.plan, live), live, cluster)
        if future.admitted is not None:
            self._plugs[job.key] = plug_requests(future.admitted, live, cluster.kubevirt)
        return future

    def _forecast(self, job: DeclareJob, facts: Facts) -> Decision:
        if self._permitted:
            forecast_restart(job, facts, check_mode=self._check_mode)
        return None

    def _plug(self, job: DeclareJob, _facts: Facts) -> Decision:
        """Plugs volumes into the running guest and takes them away, before the VM is written."""

        def act(volume: str, options: Manifest) -> Act:
            plugging = partial(plug_write, job.key.namespace, job.key.name, volume, options)
            return Act(
                (plugging(dry_run=False),),
                (plugging(dry_run=True),),
                took_effect=lambda now: now.live is not None and is_requested(now.live, volume, options),
                may_be_found=True,
            )

        return [act(*request) for request in self._plugs.get(job.key, {}).items()] or None

    def _until_plugged(self, job: DeclareJob) -> Probe | None:
        return partial(_plug_progress, self._plugs[job.key]) if PLUG in job.done else None

    def _note_plugged(self, job: DeclareJob, _facts: Facts) -> Decision:
        """Has the write take the declared lists over from virt-controller, which owns lists that it has changed.

        Otherwise, a volume that the task no longer declares would stay, because virt-controller owns it.
        """
        if PLUG not in job.done or self._check_mode:
            return None
        planned = job.goal.plan
        job.before = job.before._replace(live=job.seen.live)
        lists = {path: value_at(planned.manifest, path) for path in _LISTS}
        declared = {path: value for path, value in lists.items() if value is not None}
        job.goal.plan = planned._replace(
            taken_from=(*planned.taken_from, CONTROLLER), fields={**planned.fields, **declared}
        )
        return None


def _plan_vm(job: DeclareJob, ownership: Ownership) -> Plan:
    goal, live = job.goal, job.seen.live
    if goal.state == "absent":
        return plan_object(job, ownership)
    planned, plugged = virtual_machine.plan_vm(goal.manifest, live, *ownership)
    job.warnings += plugged_warnings(plugged, live)
    refused = planned.refusal or (planned.conflict and not ownership.force)
    if live is not None and not refused and (warning := loss(planned, live)):
        job.warn(warning)
        goal.of_change.append(warning)
    return planned


def _rest_of_vm(manifest: Manifest, live: Manifest, manager: str) -> Plan:
    return virtual_machine.plan_vm(manifest, live, manager)[0]


def _state(live: Manifest | None, before: Manifest | None) -> Progress:
    progress = readiness(live)._replace(warning=unfinished_change(live) or "" if live is not None else "")
    unseen = live is not None and before is not None and same_status(live, before)
    return progress.with_grace() if unseen else progress


def _warn_of_sizes(jobs: Sequence[DeclareJob], facts: Facts) -> None:
    """Warns of VMs whose matchers the cluster has replaced, and that have another size than is declared."""
    expanded = [job for job in jobs if _is_expanded(job)]
    if not expanded:
        return
    cluster = facts.cluster
    vms = (vm for job in expanded for vm in (job.goal.manifest, job.seen.live or {}))
    facts.gather(key for vm in vms for key in keys_for_admission(vm, cluster.release))
    for job in expanded:
        mismatch = virtual_machine.size_mismatch(job.goal.manifest, job.seen.live or {}, cluster)
        job.warnings += [mismatch] if mismatch else []


def _note_retained(job: DeclareJob, facts: Facts) -> Decision:
    """Notes the claims of the volumes of a VM to be deleted that outlive it.

    A claim goes with the VM if the VM owns it, directly or through a DataVolume. If the task may not read claims, it
    assumes that the VM owns the DataVolumes of its templates.
    """
    vm = job.seen.live if job.goal.action == plan.DELETE else None
    names = [] if vm is None else [name for name in claim_names(vm) if _outlives(vm, name, facts)]
    job.goal.retained = [{"kind": "PersistentVolumeClaim", "name": name} for name in names]
    return None


def _outlives(vm: Manifest, claim_name: str, lookup: Lookup) -> bool:
    namespace, uid = vm["metadata"]["namespace"], vm["metadata"]["uid"]
    try:
        claim = lookup.get("PersistentVolumeClaim", namespace, claim_name)
        if claim is None or sole_owner(claim) == uid:
            return False
        volume = lookup.get("DataVolume", namespace, claim_name)
    except KubeVirtError:
        return claim_name not in created_volumes(vm)
    return volume is None or (sole_owner(claim), sole_owner(volume)) != (volume["metadata"]["uid"], uid)


def _plug_progress(requests: PlugRequests, vm: Manifest | None) -> Progress:
    if vm is None:
        return Progress(failed="the VM was deleted while the task waited for its volumes")
    waits = [name for name, options in requests.items() if not is_carried_out(vm, name, options)]
    return Progress(not waits, pending=f"virt-controller to plug or unplug the volumes {', '.join(waits)}")


def _is_kept(job: DeclareJob) -> bool:
    """Whether the VM is in the cluster and is not deleted."""
    return job.seen.live is not None and job.goal.action != plan.DELETE


def _is_expanded(job: DeclareJob) -> bool:
    """Whether the cluster has replaced the matchers of a VM that stays."""
    return _is_kept(job) and virtual_machine.expanded(job.goal.manifest, job.seen.live or {})


def _changes_spec(job: DeclareJob) -> bool:
    planned = job.goal.plan
    return planned.action == plan.APPLY and bool(planned.before.get("spec") or planned.after.get("spec"))
