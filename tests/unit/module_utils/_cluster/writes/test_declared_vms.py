"""A declaration judges the VMs of a task with few requests, and admits each VM once."""

import copy
from typing import Any

import pytest

from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes.declare import declare
from plugins.module_utils._cluster.writes.declared_vms import vm_kind
from plugins.module_utils._cluster.writes.vm_extension import VMTask
from plugins.module_utils._governance.cluster.vm_extension import Governance
from plugins.module_utils._governance.language import Limit
from plugins.module_utils._governance.policy import policies
from plugins.module_utils._resolver.change.declared import DeclareJob, manifest_job
from plugins.module_utils._resolver.change.step import REQUEST
from plugins.module_utils._resolver.change.vm_restarts import waits_for_restart
from plugins.module_utils._resolver.guest.effect import LIVE, NOTHING, RESTART, GuestEffect
from plugins.module_utils._resolver.kubevirt.admission import mutate
from scripted_server import KUBEVIRTS, REVISIONS, VMIS, VMS, Manifest, Store, session_with

NUMBERS = range(6)
TYPES = "/apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterinstancetypes"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
KUBEVIRT = {"metadata": {"name": "kubevirt", "namespace": "kubevirt"}, "status": {"observedKubeVirtVersion": "v1.9.0"}}
SMALL = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "small"},
    "spec": {"cpu": {"guest": 2}, "memory": {"guest": "2Gi"}},
}


def declared(number: int, **selector: str) -> Manifest:
    template = {"metadata": {}, "spec": {"domain": {"devices": {}}, "nodeSelector": selector}}
    spec = {"instancetype": {"name": "small"}, "runStrategy": "Always", "template": template}
    metadata = {"name": f"vm{number}", "namespace": "shop"}
    return {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": metadata, "spec": spec}


def running(number: int) -> Manifest:
    vm = declared(number)
    vm["metadata"].update(uid=f"u{number}", generation=1)
    vm["status"] = {
        "created": True,
        "printableStatus": "Running",
        "instancetypeRef": {"name": "small", "controllerRevisionRef": {"name": f"kept{number}"}},
    }
    return vm


def revision(name: str, data: Manifest) -> Manifest:
    labels = {"instancetype.kubevirt.io/object-name": "small", "instancetype.kubevirt.io/object-version": "v1beta1"}
    return {"metadata": {"name": name, "namespace": "shop", "labels": labels}, "data": data}


def revisions(number: int) -> list[Manifest]:
    """The revisions that a VM has captured, and those of its guest's start."""
    started = declared(number)["spec"]
    started["instancetype"]["revisionName"] = f"kept{number}"
    return [
        revision(f"kept{number}", copy.deepcopy(SMALL)),
        revision(f"revision-start-vm-u{number}-1", {"spec": started}),
    ]


def instance(number: int) -> Manifest:
    domain = {"devices": {}, "cpu": {"sockets": 2, "cores": 1, "threads": 1}, "memory": {"guest": "2Gi"}}
    status = {"phase": "Running", "virtualMachineRevisionName": f"revision-start-vm-u{number}-1"}
    return {"metadata": {"name": f"vm{number}", "namespace": "shop"}, "spec": {"domain": domain}, "status": status}


def change(store: Store, *wanted: Manifest, restart: str = "never") -> list[DeclareJob]:
    """Declares VMs; by default NUMBERS, with another node selector."""
    options = {
        "field_manager": "virtshape",
        "force_conflicts": False,
        "restart": restart,
        "concurrency": 16,
        "wait": False,
        "preflight_quota": "off",
        "preflight_placement": "off",
    }
    entries = [manifest_job(vm, "present") for vm in wanted or [declared(item, disk="ssd") for item in NUMBERS]]
    task = Task(check_mode=True, server_dry_run=False)
    with session_with(store) as session:
        return declare(session, vm_kind(VMTask(options, session, task, (Governance,))), entries, task)


@pytest.fixture
def admitted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the VMs that were admitted, each time that they were."""
    inspected: list[str] = []
    own = mutate.mutate

    def noted(vm: Manifest, *arguments: Any, **options: Any) -> Manifest:
        inspected.append(vm["metadata"]["name"])
        return own(vm, *arguments, **options)

    monkeypatch.setattr(mutate, "mutate", noted)
    return inspected


def test_running_vms_are_listed_and_admitted_once(admitted: list[str]) -> None:
    store = Store(
        {
            VMS: [running(item) for item in NUMBERS],
            VMIS: [instance(item) for item in NUMBERS],
            REVISIONS: [retained for item in NUMBERS for retained in revisions(item)],
            TYPES: [SMALL],
            KUBEVIRTS: [KUBEVIRT],
        }
    )
    results = change(store)
    assert {result.goal.effect.needs for result in results if result.goal.effect is not None} == {LIVE}
    # The guests' starts are found in the list of revisions, and no VM refers to the object itself any more.
    assert sorted(path for _method, path in store.asked) == sorted([VMS, VMIS, REVISIONS, KUBEVIRTS, POLICIES])
    assert sorted(admitted) == [f"vm{item}" for item in NUMBERS]


@pytest.mark.parametrize(("sockets", "needs"), [(3, RESTART), (2, NOTHING)])
def test_hot_plug_delays_an_unchanged_vm(sockets: int, needs: str) -> None:
    under_way = {"type": "HotVCPUChange", "status": "True"}
    vm, guest = running(0), instance(0)
    for item in (vm, guest):
        item["status"]["conditions"] = [under_way]
    # Changed, and changed back.
    vm["metadata"]["generation"] = vm["metadata"].get("generation", 1) + 2
    guest["spec"]["domain"]["cpu"]["sockets"] = sockets
    store = Store({VMS: [vm], VMIS: [guest], REVISIONS: revisions(0), TYPES: [SMALL], KUBEVIRTS: [KUBEVIRT]})
    unchanged = declared(0)
    (result,) = change(store, unchanged)
    assert (result.goal.effect or GuestEffect(NOTHING)).needs == needs
    assert waits_for_restart(result) is (needs == RESTART)


@pytest.mark.parametrize("lost", [False, True])
def test_vm_without_its_revision_is_not_restarted(lost: bool) -> None:
    medium = copy.deepcopy(SMALL)
    medium["metadata"]["name"], medium["spec"]["cpu"]["guest"] = "medium", 1
    wanted = declared(0)
    wanted["spec"]["instancetype"]["name"] = "medium"
    there, types = revisions(0)[lost:], [SMALL, medium]
    store = Store({VMS: [running(0)], VMIS: [instance(0)], REVISIONS: there, TYPES: types, KUBEVIRTS: [KUBEVIRT]})
    (result,) = change(store, wanted, restart="if_required")
    assert (result.failed, result.changed, REQUEST in result.done) == (None, True, not lost)


def test_equal_new_vms_are_checked_once(admitted: list[str]) -> None:
    store = Store({VMS: [], TYPES: [SMALL], KUBEVIRTS: [KUBEVIRT]})
    assert [result.failed for result in change(store)] == [None] * len(NUMBERS)
    assert sorted(path for _method, path in store.asked) == sorted([VMS, TYPES, KUBEVIRTS, POLICIES])
    assert admitted == ["vm0"]


def test_different_new_vms_are_checked_separately(admitted: list[str]) -> None:
    requested = [declared(item, disk="hdd" if item in (1, 2) else "ssd") for item in NUMBERS]
    for vm in requested[4:]:
        vm["spec"]["instancetype"]["name"] = "smal"
    outcome = [" ".join(result.warnings) for result in change(Store({VMS: [], TYPES: [SMALL]}), *requested)]
    assert outcome[:4] == [""] * 4
    assert '"smal" not found' in outcome[4]
    assert outcome[5] == outcome[4]
    assert admitted == ["vm0", "vm1", "vm4"]


def labelled(number: int) -> Manifest:
    vm = declared(number)
    vm["metadata"]["labels"] = {"tier": "two"}
    return vm


def test_vms_with_equal_revisions_are_checked_once(admitted: list[str]) -> None:
    retained = [item for number in NUMBERS for item in revisions(number)]
    store = Store({VMS: [running(item) for item in NUMBERS], VMIS: [], REVISIONS: retained, TYPES: [SMALL]})
    assert [result.failed for result in change(store, *map(labelled, NUMBERS))] == [None] * len(NUMBERS)
    assert admitted == ["vm0"]


def test_vms_with_different_revisions_are_checked_separately(admitted: list[str]) -> None:
    retained = [item for number in NUMBERS for item in revisions(number)]
    larger = next(item for item in retained if item["metadata"]["name"] == "kept3")
    larger["data"]["spec"]["cpu"]["guest"] = 4
    broken = next(item for item in retained if item["metadata"]["name"] == "kept4")
    broken["data"]["kind"] = "VirtualMachine"
    # The revision of the last one is gone.
    there = [item for item in retained if item["metadata"]["name"] != "kept5"]
    store = Store({VMS: [running(item) for item in NUMBERS], VMIS: [], REVISIONS: there, TYPES: [SMALL]})
    outcome = [[result.failed or "", *result.warnings] for result in change(store, *map(labelled, NUMBERS))]
    assert outcome[:4] == [[""]] * 4
    assert "failed to decode" in " ".join(outcome[4])
    assert "kept5" in " ".join(outcome[5])
    assert admitted == ["vm0", "vm3", "vm4", "vm5"]


def test_limits_are_read_once_for_all_namespaces(admitted: list[str]) -> None:
    limit = Limit("lean", namespace_labels={"tier": "lean"}, instancetypes=["tiny"])
    [policy, _binding] = policies(limit, "common", "x")
    namespace = "/api/v1/namespaces"
    shop = {"metadata": {"name": "shop", "labels": {"tier": "lean"}}}
    store = Store({VMS: [], TYPES: [SMALL], KUBEVIRTS: [KUBEVIRT], POLICIES: [policy], namespace: [shop]})
    assert {result.failed for result in change(store)} == {
        "spec.instancetype.name: small is not permitted here; choose from tiny, or an instancetype of the namespace"
        " (limit lean)"
    }
    paths = [path for _method, path in store.asked]
    assert (paths.count(POLICIES), paths.count(f"{namespace}/shop"), admitted) == (1, 1, ["vm0"])


def test_limit_with_unreadable_namespace_labels_is_not_judged() -> None:
    limit = Limit("lean", namespace_labels={"tier": "lean"}, instancetypes=["tiny"])
    [policy, _binding] = policies(limit, "common", "x")
    store = Store({VMS: [], TYPES: [SMALL], KUBEVIRTS: [KUBEVIRT], POLICIES: [policy]})
    assert {result.failed for result in change(store)} == {None}
