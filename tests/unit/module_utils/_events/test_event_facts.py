"""The states of a VM whose beginning is an event."""

from typing import Any

import pytest

from plugins.module_utils._events import facts
from plugins.module_utils._events.facts import VMFacts, facts_of
from plugins.module_utils._resolver.api.errors import KubeVirtError, Panic
from plugins.module_utils._resolver.api.keys import REPLACEMENT_ANNOTATION
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.api.state import DEPRECATED_LABEL
from plugins.module_utils._resolver.change.drift import Drift, drift
from plugins.module_utils._resolver.guest.effect import RESTART, UNREAD_VMI, MaybeVMI
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype import revision_store
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

Manifest = dict[str, Any]
KIND = "VirtualMachineInstancetype"
OLD, NEW = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"


def instancetype(generation: int = 1, memory: str = "1Gi", **metadata: Any) -> Manifest:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": KIND,
        "metadata": {"name": "small", "namespace": "shop", "uid": "it", "generation": generation, **metadata},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": memory}},
    }


def virtual_machine(status: Manifest | None = None, **spec: Any) -> Manifest:
    template = {"spec": {"domain": {"devices": {}}}}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "db", "namespace": "shop", "uid": "vm", "generation": 3},
        "spec": {"runStrategy": "Always", "template": template, **spec},
        "status": status or {},
    }


SIZED = virtual_machine(instancetype={"name": "small", "kind": KIND})
REVISION = {**revision_store.controller_revision(SIZED, instancetype()), "kind": "ControllerRevision"}
CAPTURED = virtual_machine(
    {"instancetypeRef": {"name": "small", "controllerRevisionRef": {"name": REVISION["metadata"]["name"]}}},
    instancetype={"name": "small", "kind": KIND},
)


def instance(phase: str = "Running", *conditions: Manifest, **metadata: Any) -> Manifest:
    return {
        "kind": "VirtualMachineInstance",
        "metadata": {"name": "db", "namespace": "shop", "uid": "guest", **metadata},
        "spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}, "cpu": {"sockets": 1}}},
        "status": {"phase": phase, "conditions": list(conditions)},
    }


class Unreadable:
    """A lookup that may not read one kind."""

    def __init__(self, kind: str, *objects: Manifest) -> None:
        self._kind, self._others = kind, Objects(objects)

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        if kind == self._kind:
            raise KubeVirtError("forbidden", "Forbidden", 403)
        return self._others.get(kind, namespace, name)


def judged(vm: Manifest, *objects: Manifest, vmi: MaybeVMI = None, kubevirt: KubeVirt | None = None) -> Drift:
    return drift(vm, vmi, Cluster(Objects(objects), kubevirt or KubeVirt(NEWEST)))


def found(vm: Manifest, *objects: Manifest, vmi: MaybeVMI = None) -> VMFacts:
    return facts_of(judged(vm, *objects, vmi=vmi))


def test_nothing_holds_of_a_stopped_vm() -> None:
    halted = {**CAPTURED, "spec": {**CAPTURED["spec"], "runStrategy": "Halted"}}
    assert found(halted, REVISION, instancetype()) == VMFacts({}, frozenset())


def test_drift_names_the_generations() -> None:
    fact = found(CAPTURED, REVISION, instancetype(2, "2Gi")).held[facts.DRIFTED]
    assert fact.text == f"{KIND} small is generation 2, the VM has captured generation 1"
    assert fact.what != found(CAPTURED, REVISION, instancetype(3, "3Gi")).held[facts.DRIFTED].what
    again = found(CAPTURED, REVISION, instancetype(2, "2Gi", uid="other")).held[facts.DRIFTED]
    assert again.what != fact.what and "another object of this name" in again.text


def test_a_lost_revision() -> None:
    held = found(CAPTURED, instancetype()).held
    assert held[facts.REVISION_LOST].text == f"the captured revision {REVISION['metadata']['name']} was deleted"
    assert facts.REFUSED not in held


@pytest.mark.parametrize(("successor", "text"), [({}, ""), ({REPLACEMENT_ANNOTATION: "medium"}, "; use medium")])
def test_a_deprecated_instancetype(successor: dict[str, str], text: str) -> None:
    old = instancetype(labels={DEPRECATED_LABEL: "true"}, annotations=successor)
    assert found(CAPTURED, REVISION, old).held[facts.DEPRECATED_IN_USE].text == f"{KIND} small is deprecated{text}"


def test_unreadable_revisions_decide_nothing() -> None:
    lookup = Unreadable("ControllerRevision", instancetype(2, "2Gi"))
    unknown = facts_of(drift(CAPTURED, None, Cluster(lookup, KubeVirt(NEWEST))))
    assert unknown.held == {}
    assert {facts.DRIFTED, facts.REVISION_LOST, facts.REFUSED} <= unknown.unknown


@pytest.mark.parametrize("reason", ["another CPU model", ""])
@pytest.mark.parametrize("vmi", [instance(), UNREAD_VMI, None])
def test_only_the_judgement_requires_a_restart(reason: str, vmi: MaybeVMI) -> None:
    calm = judged(CAPTURED, REVISION, instancetype(), vmi=vmi)
    pending = calm.pending._replace(needs=RESTART, reason=reason, outstanding=("domain.cpu.model",))
    fact = facts_of(calm._replace(pending=pending)).held[facts.RESTART_REQUIRED]
    uid = "guest" if isinstance(vmi, dict) else ""
    assert fact == facts.Fact(f"{uid}:domain.cpu.model", reason or "the guest lacks domain.cpu.model", "3")
    asked = {"type": "RestartRequired", "status": "True", "message": "spec changed"}
    in_vain = {**CAPTURED, "status": {**CAPTURED["status"], "conditions": [asked]}}
    assert facts.RESTART_REQUIRED not in found(in_vain, REVISION, instancetype()).held


def test_a_vm_that_cannot_start_is_refused() -> None:
    fact = found(SIZED).held[facts.REFUSED]
    assert fact.text.endswith('"small" not found') and fact.cause == "3"
    unknown = found(SIZED, vmi=instance()).unknown
    assert facts.RESTART_REQUIRED in unknown
    conflict = virtual_machine(instancetype={"name": "small", "kind": KIND})
    conflict["spec"]["template"]["spec"]["domain"]["cpu"] = {"sockets": 4}
    assert "conflicts" in found(conflict, instancetype()).held[facts.REFUSED].text


def test_a_panic_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def panic(*_arguments: Any) -> Any:
        raise Panic("integer divide by zero")

    monkeypatch.setattr(facts.validate, "virtual_machine", panic)
    assert "integer divide by zero" in found(SIZED, instancetype()).held[facts.REFUSED].text


def test_an_unknown_configuration_refuses_nothing() -> None:
    assumed = facts_of(judged(SIZED, kubevirt=KubeVirt(NEWEST, assumption="cannot read")))
    assert assumed.held == {} and {facts.REFUSED, facts.RESTART_REQUIRED} <= assumed.unknown


PLAIN = virtual_machine()
PLAIN["spec"]["template"]["spec"]["domain"]["memory"] = {"guest": "1Gi"}


def test_a_guest_that_runs() -> None:
    assert found(PLAIN, vmi=instance()).held[facts.RUNNING] == facts.Fact("guest", "the guest runs on a node")


def test_a_pod_that_no_node_takes() -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes\n fit"}
    held = found(PLAIN, vmi=instance("Scheduling", condition)).held
    assert held == {facts.UNSCHEDULABLE: facts.Fact("guest", "0/1 nodes fit")}


def test_quotas_block_pods_and_disks() -> None:
    message = 'pods "x" is forbidden: exceeded quota: small'
    of_pod = {"type": "Synchronized", "status": "False", "message": message, "lastTransitionTime": NEW}
    fact = facts.Fact("guest", message, NEW)
    assert found(PLAIN, vmi=instance("Pending", of_pod)).held == {facts.QUOTA_BLOCKED: fact}
    of_disk = {"type": "Failure", "status": "True", "message": message}
    assert found({**PLAIN, "status": {"conditions": [of_disk]}}).held[facts.QUOTA_BLOCKED].what == ""


@pytest.mark.parametrize(
    ("phase", "metadata", "stopped"),
    [
        ("Failed", {}, True),
        ("Succeeded", {}, True),
        ("Failed", {"deletionTimestamp": NEW}, False),
        ("Running", {}, False),
    ],
)
def test_guests_that_end_by_themselves(phase: str, metadata: Manifest, stopped: bool) -> None:
    assert (facts.STOPPED in found(PLAIN, vmi=instance(phase, **metadata)).held) is stopped


def test_a_failed_start_is_the_same_end() -> None:
    later = {**PLAIN, "status": {"startFailure": {"lastFailedVMIUID": "guest"}}}
    assert found(later).held[facts.STOPPED] == found(PLAIN, vmi=instance("Failed")).held[facts.STOPPED]
    once = virtual_machine(runStrategy="Once")
    assert facts.STOPPED not in found(once, vmi=instance("Succeeded")).held


@pytest.mark.parametrize(
    ("vmi", "stopped"),
    [
        (instance("Failed"), True),
        (instance("Succeeded"), True),
        (instance("Running"), False),
        (instance("Failed", deletionTimestamp=NEW), False),
    ],
)
def test_guest_that_was_replaced_has_ended(vmi: Manifest, stopped: bool) -> None:
    known = facts.with_ended_guest(PLAIN, found(PLAIN, vmi=instance(uid="next")), facts.ended_guest(vmi))
    assert (facts.STOPPED in known.held) is stopped and facts.RUNNING in known.held
    if stopped:
        assert known.held[facts.STOPPED] == found(PLAIN, vmi=vmi).held[facts.STOPPED]
        assert facts.with_ended_guest(PLAIN, known, facts.ended_guest(instance("Failed", uid="other"))) is known
    unread = found(PLAIN, vmi=UNREAD_VMI)
    assert facts.with_ended_guest(PLAIN, unread, facts.ended_guest(instance("Failed"))) is unread


def test_guest_of_a_deleted_vm_was_to_end() -> None:
    deleted = {**PLAIN, "metadata": {**PLAIN["metadata"], "deletionTimestamp": NEW}}
    known = found(deleted, vmi=instance("Failed"))
    assert facts.STOPPED not in known.held and facts.STOPPED in known.unknown


def test_an_unreadable_instance_decides_nothing() -> None:
    assert {facts.RUNNING, facts.STOPPED, facts.UNSCHEDULABLE} <= found(PLAIN, vmi=UNREAD_VMI).unknown


def disk(**spec: Any) -> Manifest:
    vm = virtual_machine(dataVolumeTemplates=[{"metadata": {"name": "root"}, "spec": spec}])
    vm["spec"]["template"]["spec"]["domain"]["memory"] = {"guest": "1Gi"}
    return vm


def made(kind: str, name: str, created: str, namespace: str = "shop", **more: Any) -> Manifest:
    return {"kind": kind, "metadata": {"name": name, "namespace": namespace, "creationTimestamp": created}, **more}


FROM_SOURCE = disk(sourceRef={"kind": "DataSource", "name": "fedora", "namespace": "golden"})
SOURCE = made("DataSource", "fedora", OLD, "golden", spec={"source": {"pvc": {"name": "new", "namespace": "golden"}}})
ROOT = made("PersistentVolumeClaim", "root", OLD)


def test_a_disk_older_than_its_source() -> None:
    image = made("PersistentVolumeClaim", "new", NEW, "golden")
    fact = found(FROM_SOURCE, SOURCE, ROOT, image).held[facts.OUTDATED]
    assert fact == facts.Fact("root:new", "the DataSource golden/fedora has a newer image than the disk root")
    image["metadata"]["creationTimestamp"] = OLD
    assert facts.OUTDATED not in found(FROM_SOURCE, SOURCE, ROOT, image).held


def test_a_snapshot_at_the_end_of_a_chain() -> None:
    chain = {**SOURCE, "status": {"source": {"snapshot": {"name": "snap"}}}}
    snapshot = made("VolumeSnapshot", "snap", NEW, "golden")
    assert facts.OUTDATED in found(FROM_SOURCE, chain, ROOT, snapshot).held


@pytest.mark.parametrize(
    ("vm", "objects"),
    [
        (FROM_SOURCE, [ROOT]),
        (FROM_SOURCE, [ROOT, {**SOURCE, "spec": {"source": {}}}]),
        (FROM_SOURCE, [SOURCE, ROOT]),
        (FROM_SOURCE, [SOURCE, made("PersistentVolumeClaim", "new", NEW, "golden")]),
        (disk(source={"blank": {}}), []),
    ],
)
def test_without_a_newer_image_none_is_outdated(vm: Manifest, objects: list[Manifest]) -> None:
    assert facts.OUTDATED not in found(vm, *objects).held


@pytest.mark.parametrize("kind", ["PersistentVolumeClaim", "DataSource"])
def test_unreadable_disks_decide_nothing(kind: str) -> None:
    cluster = Cluster(Unreadable(kind, SOURCE, ROOT), KubeVirt(NEWEST))
    assert facts.OUTDATED in facts_of(drift(FROM_SOURCE, None, cluster)).unknown


READY = {"conditions": [{"type": "Ready", "status": "True"}]}
FAILED = {"conditions": [{"type": "Failure", "status": "True"}]}
PAUSED = {"type": "Paused", "status": "True", "reason": "PausedByUser"}


@pytest.mark.parametrize(
    ("vm", "vmi", "settled"),
    [
        (virtual_machine(READY), instance(), True),
        (virtual_machine(READY), UNREAD_VMI, True),
        (virtual_machine(), instance("Running", PAUSED), True),
        (virtual_machine(runStrategy="Halted"), None, True),
        (virtual_machine(runStrategy="Halted"), instance(), False),
        (virtual_machine(FAILED, runStrategy="Halted"), None, False),
        (virtual_machine(), None, False),
        (virtual_machine(), instance("Scheduling"), False),
        (
            {**virtual_machine(READY), "metadata": {"name": "db", "namespace": "shop", "deletionTimestamp": OLD}},
            None,
            False,
        ),
    ],
)
def test_only_its_diagnosis_says_why_a_vm_waits(vm: Manifest, vmi: MaybeVMI, settled: bool) -> None:
    assert (facts.BROKEN not in found(vm, vmi=vmi).unknown) == settled


def diagnosis(state: str, link: str = "claim") -> Manifest:
    evidence = [{"time": OLD}, {"time": NEW}]
    return {
        "state": state,
        **({"link": link, "problem": "no claim", "evidence": evidence} if state == "broken" else {}),
    }


@pytest.mark.parametrize(
    ("diagnosed", "fact"),
    [
        (diagnosis("broken"), facts.Fact("claim", "claim: no claim", OLD)),
        ({**diagnosis("broken"), "evidence": []}, facts.Fact("claim", "claim: no claim", "")),
        (diagnosis("broken", "restart"), None),
        (diagnosis("running"), None),
    ],
)
def test_a_broken_link_is_a_fact(diagnosed: Manifest, fact: facts.Fact | None) -> None:
    judged_facts = facts.facts_of_diagnosis(diagnosed)
    assert judged_facts.held == ({facts.BROKEN: fact} if fact else {})
    assert judged_facts.unknown == set(facts.TRANSITIONS) - {facts.BROKEN}


def test_a_vm_on_its_way_is_not_judged() -> None:
    assert facts.facts_of_diagnosis(diagnosis("pending")) == VMFacts({}, frozenset(facts.TRANSITIONS))
