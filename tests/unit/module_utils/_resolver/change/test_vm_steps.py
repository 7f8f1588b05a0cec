"""The steps of declared VMs: their effects on guests, plugged volumes, restarts and retries, without a server."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.change.declared import APPLY, PLUG, DeclareJob, Ownership, declare_job
from plugins.module_utils._resolver.change.guest import Guest
from plugins.module_utils._resolver.change.step import REQUEST, VMI, Act, Seen
from plugins.module_utils._resolver.change.vm_restart_steps import restart_steps
from plugins.module_utils._resolver.change.vm_restarts import needs_restart, note_restart, retry_act, waits_for_restart
from plugins.module_utils._resolver.change.vm_steps import VMSteps
from plugins.module_utils._resolver.declare import plan
from plugins.module_utils._resolver.declare.plan import Plan
from plugins.module_utils._resolver.guest.effect import NOTHING, RESTART, UNKNOWN, GuestEffect
from plugins.module_utils._resolver.kubevirt.admission.mutate import AdmissionResult
from plugins.module_utils._resolver.kubevirt.cluster import Cluster
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.kubevirt.vm.vmi import build

Manifest = dict[str, Any]
TEMPLATE = {"spec": {"domain": {"devices": {}, "memory": {"guest": "2Gi"}}}}


class Facts:
    """A cluster with these objects."""

    def __init__(self, *objects: Manifest) -> None:
        self.objects = Objects(list(objects))
        self.cluster = Cluster(self.objects)

    def get(self, kind: str, namespace: str, name: str) -> "Manifest | None":
        return self.objects.get(kind, namespace, name)

    def list(self, _kind: str, _namespace: str) -> "list[Manifest]":
        return []

    def gather(self, needed: Any) -> None:
        list(needed)


def vm(guest: str = "2Gi", **status: Any) -> Manifest:
    template = {"spec": {"domain": {"devices": {}, "memory": {"guest": guest}}}}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop", "uid": "vm", "generation": 1},
        "spec": {"runStrategy": "Always", "template": template},
        "status": {"created": True, "printableStatus": "Running", "desiredGeneration": 1, **status},
    }


def vmi(guest: str = "2Gi") -> Manifest:
    domain = {"devices": {}, "memory": {"guest": guest}}
    return {"metadata": {"name": "web", "namespace": "shop", "uid": "1"}, "spec": {"domain": domain}, "status": {}}


def job_of(live: "Manifest | None", wanted: "Manifest | None" = None, state: str = "present") -> DeclareJob:
    manifest = {name: part for name, part in (wanted or vm()).items() if name != "status"}
    job = declare_job(ObjectKey("VirtualMachine", "shop", "web"), state, manifest)
    job.before = job.seen = Seen(live)
    return job


def changed(guest: str = "4Gi") -> DeclareJob:
    job = job_of(vm(), vm(guest))
    memory = {"spec": {"template": {"spec": {"domain": {"memory": {"guest": guest}}}}}}
    job.goal.plan = Plan(plan.APPLY, job.goal.manifest, {}, memory)
    return job


def steps(*, permitted: bool = True, waits: bool = True, check_mode: bool = False) -> VMSteps:
    return VMSteps(Ownership(), (), permitted=permitted, waits=waits, check_mode=check_mode)


def forecast(job: DeclareJob, declared: VMSteps, facts: "Facts | None" = None) -> DeclareJob:
    facts = facts or Facts()
    for step in declared.kind.forecast:
        list(step.needs(job, facts))
        step.prepare([job], facts)
        step.decide(job, facts)
    return job


def test_deleted_vm_needs_no_findings() -> None:
    job = job_of(vm(), state="absent")
    job.goal.plan = plan.absent(vm(), vm())
    declared = steps()
    declared.kind.checks[0].prepare([job], Facts())
    assert job.goal.findings == []
    assert declared.kind.plan(job, Ownership()).action == plan.DELETE


def test_guest_that_cannot_be_read_has_an_unknown_effect() -> None:
    declared, job = steps(), changed()
    effects = declared.kind.forecast[1]
    assert effects.reads(job) == (VMI,)
    assert effects.unread(job, "forbidden") is None
    assert forecast(job, declared).goal.effect == GuestEffect(UNKNOWN)
    job.seen = Seen(vm(), vmi())
    known = forecast(job, declared).goal.effect
    assert known is not None and known.needs != UNKNOWN
    assert effects.reads(job) == ()
    job.goal.answer = vm("8Gi")
    answered = forecast(job, declared).goal.effect
    assert answered is not None and answered != known


def test_unchanged_vm_has_the_effect_of_earlier_changes() -> None:
    waits = {"type": "RestartRequired", "status": "True", "message": "a non-live-updatable field was changed"}
    for guest, restarts in ((None, True), ({**vmi(), "spec": build(vm(), Facts().cluster).spec}, False)):
        job = job_of(vm(conditions=[waits]))
        job.seen = Seen(job.seen.live, guest)
        effect = forecast(job, steps(check_mode=True)).goal.effect
        assert (effect is None, job.goal.restarts) == (restarts, restarts)
        assert bool(job.warnings) is (effect is not None and effect.restart_superfluous) is not restarts
        foreseen = steps(check_mode=True).kind.foreseen[0].decide(job, Facts())
        assert isinstance(foreseen, Act) is restarts
    other = job_of(vm())
    other.goal.plan = Plan(plan.APPLY, other.goal.manifest, {}, {"metadata": {"labels": {"a": "b"}}})
    assert forecast(other, steps(permitted=False)).goal.effect == GuestEffect(NOTHING)
    created = job_of(None)
    assert forecast(created, steps()).goal.effect is None
    refused, declared = changed(), steps()
    refused.goal.admission = AdmissionResult(vm())
    assert forecast(refused, declared).goal.effect is not None


def test_expanded_vm_of_another_size_is_a_warning() -> None:
    small = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": "small"},
        "spec": {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}},
    }
    fields = {"f:spec": {"f:template": {"f:spec": {"f:domain": {"f:memory": {"f:guest": {}}}}}}}
    for guest, count in (("2Gi", 1), ("4Gi", 0)):
        live, wanted = vm(guest), vm()
        live["spec"]["template"]["spec"]["domain"]["cpu"] = {"sockets": 2, "cores": 1, "threads": 1}
        live["metadata"]["managedFields"] = [
            {"manager": "virt-controller", "operation": "Update", "fieldsV1": fields, "apiVersion": "kubevirt.io/v1"}
        ]
        wanted["spec"] = {"instancetype": {"name": "small"}, "template": {"spec": {"domain": {"devices": {}}}}}
        job = forecast(job_of(live, wanted), steps(permitted=False), Facts(small))
        assert len(job.warnings) == count, guest


def test_plan_that_takes_all_volumes_is_a_warning() -> None:
    live = vm()
    live["spec"]["template"]["spec"]["volumes"] = [{"name": "a", "containerDisk": {"image": "x"}}]
    fields = {"f:spec": {"f:template": {"f:spec": {"f:volumes": {'k:{"name":"a"}': {".": {}, "f:name": {}}}}}}}
    fields["f:spec"]["f:template"]["f:spec"]["f:volumes"] = {}
    live["metadata"]["managedFields"] = [{"manager": "virtshape", "operation": "Apply", "fieldsV1": fields}]
    job = job_of(live)
    steps().kind.plan(job, Ownership())
    assert job.warnings == job.goal.of_change != []


def test_status_of_before_the_write_gets_time() -> None:
    state = steps().kind.probe
    broken = vm(conditions=[{"type": "Failure", "status": "True", "message": "no memory"}], ready=False)
    assert state(broken, None).failed and not state(broken, broken).failed
    assert not state(None, None).done
    assert steps().kind.rest(vm(), {**vm(), "metadata": {**vm()["metadata"]}}, "virtshape").action == plan.APPLY


def plugging() -> "tuple[VMSteps, DeclareJob]":
    declared, job = steps(), changed()
    added = {"name": "data", "persistentVolumeClaim": {"claimName": "data", "hotpluggable": True}}
    job.goal.plan.manifest["spec"]["template"]["spec"]["volumes"] = [added]
    declared._plugs[job.key] = {"data": {"name": "data", "disk": {}, "volumeSource": {}}}
    return declared, job


def test_volumes_are_plugged_before_the_write() -> None:
    declared, job = plugging()
    plug, plugged = declared.kind.before
    acts = plug.decide(job, Facts())
    assert isinstance(acts, list)
    (act,) = acts
    assert act.writes[0].path.endswith("/web/addvolume") and (act.dry_run[0].body or {})["dryRun"] == ["All"]
    asked = vm(volumeRequests=[{"addVolumeOptions": {"name": "data"}}])
    assert act.took_effect is not None
    assert [act.took_effect(Seen(live)) for live in (None, vm(), asked)] == [False, False, True]
    assert plug.until(job) is None
    plugged.decide(job, Facts())
    assert job.goal.plan.taken_from == ()
    job.done.append(PLUG)
    probe = plug.until(job)
    assert probe is not None and probe(None).failed and not probe(asked).done
    job.see(carried_out := vm("1Gi"))
    plugged.decide(job, Facts())
    assert (job.before.live, job.goal.plan.taken_from) == (carried_out, ("virt-controller",))
    job.goal.answer = carried_out
    assert forecast(job, declared).goal.effect is not None
    assert list(job.goal.plan.fields) == [("spec", "template", "spec", "volumes")]


def test_condition_of_a_new_guest_decides() -> None:
    job = job_of(vm())
    note_restart(job)
    assert job.goal.effect is None
    job.goal.effect = GuestEffect(RESTART)
    note_restart(job)
    assert job.goal.effect.requested
    assert not needs_restart(job, Guest())
    job.seen = Seen(vm(), vmi())
    assert needs_restart(job, Guest(effect=GuestEffect(UNKNOWN)))
    live = job_of(vm())
    live.seen, live.goal.effect = Seen(vm(), vmi()), GuestEffect(NOTHING)
    assert not needs_restart(live, Guest(effect=GuestEffect(NOTHING))) and live.goal.effect == GuestEffect(NOTHING)


def test_failure_of_before_is_tried_again_once() -> None:
    failed = vm(conditions=[{"type": "Failure", "status": "True", "reason": "FailedCreate", "message": "no"}])
    failed["status"].pop("created")
    job = job_of(failed)
    act = retry_act(job, "virtshape")
    assert act is not None and not act.is_change and act.on_error(OSError("no")) is None  # type: ignore[arg-type]
    job.written = True
    job.done.append(APPLY)
    assert retry_act(job, "virtshape") is None
    assert retry_act(job_of(vm()), "virtshape") is None


@pytest.mark.parametrize("action", [plan.NONE, plan.APPLY])
def test_restarted_vm_waits_for_no_restart(action: str) -> None:
    job = job_of(vm(conditions=[{"type": "RestartRequired", "status": "True"}]))
    job.goal.plan = job.goal.plan._replace(action=action)
    assert waits_for_restart(job)
    job.done.append(REQUEST)
    assert not waits_for_restart(job)


def test_vm_that_is_gone_has_no_guest_to_restart() -> None:
    note, *_others, current, _retry, _arrive = restart_steps("virtshape", permitted=True, waits=True)
    for live in (None, vm()):
        job = job_of(live)
        note.decide(job, Facts())
        assert not current.takes(job)
    assert steps(permitted=False, waits=False).kind.restart == ()
    assert [step.name for step in restart_steps("virtshape", permitted=False, waits=True)] == [
        "guest",
        "observe",
        "retry",
        "arrive",
    ]
