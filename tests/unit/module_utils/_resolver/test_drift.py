"""Drift of VMs from what they captured."""

from __future__ import annotations

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver import drift, revision
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.find import Objects

VM: dict[str, Any] = {
    "kind": "VirtualMachine",
    "metadata": {"name": "db", "namespace": "shop", "uid": "vm"},
    "spec": {
        "instancetype": {"name": "big", "kind": "VirtualMachineInstancetype"},
        "template": {"spec": {"domain": {"devices": {}}}},
    },
}


def instancetype(guest: int, memory: str, generation: int, uid: str = "it") -> dict[str, Any]:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "big", "namespace": "shop", "uid": uid, "generation": generation},
        "spec": {"cpu": {"guest": guest}, "memory": {"guest": memory}},
    }


def captured(kept: dict[str, Any], *others: dict[str, Any], keep: bool = True) -> drift.Drift:
    made = {**revision.controller_revision(VM, kept), "kind": "ControllerRevision", "apiVersion": "apps/v1"}
    vm = {
        **VM,
        "status": {"instancetypeRef": {"name": "big", "controllerRevisionRef": {"name": made["metadata"]["name"]}}},
    }
    return drift.drift(vm, Objects([*([made] if keep else []), *others]))


def test_no_drift() -> None:
    found = captured(instancetype(2, "4Gi", 1), instancetype(2, "4096Mi", 2))
    assert found.instancetype is not None
    assert (found.instancetype.state, found.drifted, found.effect.changes) == (drift.CURRENT, False, ())
    assert (found.instancetype.generation, found.instancetype.current_generation) == (1, 2)


def test_drift_and_what_it_means_for_the_guest() -> None:
    found = captured(instancetype(2, "4Gi", 1), instancetype(4, "8Gi", 2))
    assert found.drifted
    assert found.instancetype is not None
    assert [change["field"] for change in found.instancetype.changes] == ["cpu.guest", "memory.guest"]
    assert (found.effect.guest["vcpus"], found.effect.guest["memory"]) == (2, "4Gi")
    assert (found.effect.guest_after["vcpus"], found.effect.guest_after["memory"]) == (4, "8Gi")
    assert found.effect.changes == (
        {"field": "domain.cpu.sockets", "before": 2, "after": 4},
        {"field": "domain.memory.guest", "before": "4Gi", "after": "8Gi"},
    )


def test_a_deleted_instancetype() -> None:
    found = captured(instancetype(2, "4Gi", 1))
    assert found.instancetype is not None
    assert (found.instancetype.state, found.drifted, found.effect.guest["vcpus"]) == (drift.GONE, False, 2)


def test_a_recreated_instancetype() -> None:
    found = captured(instancetype(2, "4Gi", 1), instancetype(2, "4Gi", 1, uid="other"))
    assert found.instancetype is not None
    assert (found.instancetype.state, found.instancetype.recreated) == (drift.CURRENT, True)


def test_a_lost_revision() -> None:
    found = captured(instancetype(2, "4Gi", 1), instancetype(2, "4Gi", 1), keep=False)
    assert found.instancetype is not None
    assert found.instancetype.state == drift.LOST


def test_a_revision_of_an_older_api_version_can_be_compared() -> None:
    old = {**revision.controller_revision(VM, instancetype(2, "4Gi", 1)), "kind": "ControllerRevision"}
    old["data"] = {**old["data"], "apiVersion": "instancetype.kubevirt.io/v1alpha2"}
    reference = {"name": "big", "controllerRevisionRef": {"name": old["metadata"]["name"]}}
    found = drift.drift({**VM, "status": {"instancetypeRef": reference}}, Objects([old, instancetype(4, "4Gi", 2)]))
    assert found.instancetype is not None
    assert found.instancetype.state == drift.DRIFTED
    assert (found.effect.guest["vcpus"], found.effect.guest_after["vcpus"]) == (2, 4)


def test_a_refresh_that_would_be_refused_says_why() -> None:
    now = instancetype(2, "4Gi", 2)
    now["spec"]["cpu"]["model"] = "EPYC"
    vm = {
        **VM,
        "spec": {**VM["spec"], "template": {"spec": {"domain": {"devices": {}, "cpu": {"model": "host-model"}}}}},
    }
    made = {**revision.controller_revision(vm, instancetype(2, "4Gi", 1)), "kind": "ControllerRevision"}
    vm["status"] = {"instancetypeRef": {"name": "big", "controllerRevisionRef": {"name": made["metadata"]["name"]}}}
    found = drift.drift(vm, Objects([made, now]))
    assert found.drifted
    assert found.effect.refusal == (
        "VM field(s) spec.template.spec.domain.cpu.model conflicts with selected instance type"
    )
    assert found.effect.changes == ()


def test_a_vm_without_matchers() -> None:
    vm = {**VM, "spec": {"template": {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}}}}
    found = drift.drift(vm, Objects([]))
    assert (found.instancetype, found.preference, found.drifted) == (None, None, False)
    assert found.effect.guest == {"vcpus": 1, "sockets": 1, "cores": 1, "threads": 1, "memory": "1Gi"}
