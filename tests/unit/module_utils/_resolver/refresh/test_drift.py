"""Drift of VMs from what they captured."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find import revision
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import (
    Objects,
    Problem,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import KubeVirt
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.configuration import (
    Configuration,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.refresh import drift

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
    return drift.drift(vm, Objects([*([made] if keep else []), *others]), KubeVirt(NEWEST))


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
    assert (found.effect.guest_before["vcpus"], found.effect.guest_before["memory"]) == (2, "4Gi")
    assert (found.effect.guest_after["vcpus"], found.effect.guest_after["memory"]) == (4, "8Gi")
    assert found.effect.changes == (
        {"field": "domain.cpu.sockets", "before": 2, "after": 4},
        {"field": "domain.memory.guest", "before": "4Gi", "after": "8Gi"},
    )


def test_a_deleted_instancetype() -> None:
    found = captured(instancetype(2, "4Gi", 1))
    assert found.instancetype is not None
    assert (found.instancetype.state, found.drifted, found.effect.guest_before["vcpus"]) == (drift.GONE, False, 2)


def test_a_recreated_instancetype() -> None:
    found = captured(instancetype(2, "4Gi", 1), instancetype(2, "4Gi", 1, uid="other"))
    assert found.instancetype is not None
    assert (found.instancetype.state, found.instancetype.recreated) == (drift.CURRENT, True)


def test_a_lost_revision() -> None:
    found = captured(instancetype(2, "4Gi", 1), instancetype(2, "4Gi", 1), keep=False)
    assert found.instancetype is not None
    assert found.instancetype.state == drift.REVISION_LOST


@pytest.mark.parametrize("hidden", ["ControllerRevision", "VirtualMachineInstancetype"])
def test_what_may_not_be_read_is_unknown_and_says_why(hidden: str) -> None:
    class Hidden(Objects):
        def get(self, kind: str, namespace: str, name: str) -> Any:
            return Problem("no", "Forbidden", 403) if kind == hidden else super().get(kind, namespace, name)

    live = instancetype(2, "4Gi", 1)
    made = {**revision.controller_revision(VM, live), "kind": "ControllerRevision"}
    reference = {"name": "big", "controllerRevisionRef": {"name": made["metadata"]["name"]}}
    found = drift.drift({**VM, "status": {"instancetypeRef": reference}}, Hidden([made, live]), KubeVirt(NEWEST))
    assert found.instancetype is not None
    assert (found.instancetype.state, found.instancetype.problem) == (drift.UNKNOWN, "no")


def test_a_revision_of_an_older_api_version_can_be_compared() -> None:
    old = {**revision.controller_revision(VM, instancetype(2, "4Gi", 1)), "kind": "ControllerRevision"}
    old["data"] = {**old["data"], "apiVersion": "instancetype.kubevirt.io/v1alpha2"}
    reference = {"name": "big", "controllerRevisionRef": {"name": old["metadata"]["name"]}}
    found = drift.drift(
        {**VM, "status": {"instancetypeRef": reference}}, Objects([old, instancetype(4, "4Gi", 2)]), KubeVirt(NEWEST)
    )
    assert found.instancetype is not None
    assert found.instancetype.state == drift.DRIFTED
    assert (found.effect.guest_before["vcpus"], found.effect.guest_after["vcpus"]) == (2, 4)


def test_a_refresh_that_would_be_refused_says_why() -> None:
    now = instancetype(2, "4Gi", 2)
    now["spec"]["cpu"]["model"] = "EPYC"
    vm = {
        **VM,
        "spec": {**VM["spec"], "template": {"spec": {"domain": {"devices": {}, "cpu": {"model": "host-model"}}}}},
    }
    made = {**revision.controller_revision(vm, instancetype(2, "4Gi", 1)), "kind": "ControllerRevision"}
    vm["status"] = {"instancetypeRef": {"name": "big", "controllerRevisionRef": {"name": made["metadata"]["name"]}}}
    found = drift.drift(vm, Objects([made, now]), KubeVirt(NEWEST))
    assert found.drifted
    assert found.effect.refusal == (
        "VM field(s) spec.template.spec.domain.cpu.model conflicts with selected instance type"
    )
    assert found.effect.changes == ()


def test_a_vm_without_matchers() -> None:
    vm = {**VM, "spec": {"template": {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}}}}
    found = drift.drift(vm, Objects([]), KubeVirt(NEWEST))
    assert (found.instancetype, found.preference, found.drifted) == (None, None, False)
    assert found.effect.guest_before == {"vcpus": 1, "sockets": 1, "cores": 1, "threads": 1, "memory": "1Gi"}


def test_when_it_was_captured_and_the_object_changed() -> None:
    made = {**revision.controller_revision(VM, instancetype(2, "4Gi", 1)), "kind": "ControllerRevision"}
    made["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    live = instancetype(4, "8Gi", 2)
    live["metadata"]["managedFields"] = [{"manager": "kubectl", "time": "2026-03-01T00:00:00Z"}]
    name = made["metadata"]["name"]
    vm = {**VM, "status": {"instancetypeRef": {"name": "big", "controllerRevisionRef": {"name": name}}}}
    part = drift.drift(vm, Objects([made, live]), KubeVirt(NEWEST)).instancetype
    assert part is not None
    assert (part.captured_at, part.changed_at) == ("2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z")
    gone = drift.drift(VM, Objects([]), KubeVirt(NEWEST)).instancetype
    assert gone is not None
    assert (gone.captured_at, gone.changed_at) == ("", "")


def test_a_vm_without_instancetype_is_judged_with_the_defaults_of_the_cluster() -> None:
    preference: dict[str, Any] = {
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "p"},
        "spec": {"requirements": {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}}},
    }
    domain = {"devices": {}, "resources": {"requests": {"memory": "2Gi"}}}
    vm = {
        "metadata": {"name": "db", "namespace": "shop"},
        "spec": {"preference": {"name": "p"}, "template": {"spec": {"domain": domain}}},
    }
    assert drift.drift(vm, Objects([preference]), KubeVirt(NEWEST)).effect.refusal is None
    preference["spec"]["requirements"]["cpu"]["guest"] = 2
    assert drift.drift(vm, Objects([preference]), KubeVirt(NEWEST)).effect.refusal == (
        "insufficient CPU resources of 1 vCPU provided by VirtualMachine,"
        " preference requires 2 vCPU provided as sockets"
    )


def test_what_the_refresh_would_be_refused_for_comes_in_the_order_of_kubevirt() -> None:
    def refused(preference: dict[str, Any], **domain: Any) -> str | None:
        spec = {"template": {"spec": {"domain": {"devices": {}, **domain}}}}
        after = drift.Specs({"cpu": {"guest": 3}, "memory": {"guest": "1Gi"}}, preference)
        return drift.effect({"metadata": {}, "spec": spec}, drift.Specs(None, None), after, KubeVirt(NEWEST)).refusal

    spread: dict[str, Any] = {"cpu": {"preferredCPUTopology": "spread"}, "requirements": {"cpu": {"guest": 8}}}
    assert str(refused(spread, cpu={"cores": 2})).startswith("3 vCPUs provided by the instance type are not divisible")
    spread["cpu"]["spreadOptions"] = {"ratio": 0}
    assert refused(spread, cpu={"cores": 2}) == "a spread ratio of 0 divides by zero"
    spread["cpu"]["spreadOptions"] = {"ratio": 3}
    assert refused(spread, cpu={"cores": 2}) == (
        "VM field(s) spec.template.spec.domain.cpu.cores conflicts with selected instance type"
    )
    assert str(refused(spread)).startswith("insufficient CPU resources of 3 vCPU provided by instance type")
    assert refused({"cpu": {"preferredCPUTopology": "cores"}}) is None


@pytest.mark.parametrize(
    ("devices", "field", "after"),
    [
        ({"preferredDiskBus": "scsi"}, "domain.devices.disks", [{"name": "root", "disk": {"bus": "scsi"}}]),
        (
            {"preferredInterfaceModel": "e1000"},
            "domain.devices.interfaces",
            [{"name": "default", "bridge": {}, "model": "e1000"}],
        ),
    ],
)
def test_a_preference_applies_to_disks_and_interfaces_that_the_vm_does_not_list(
    devices: dict[str, Any], field: str, after: list[dict[str, Any]]
) -> None:
    vm = {
        **VM,
        "spec": {
            "template": {
                "spec": {
                    "domain": {"devices": {}},
                    "volumes": [{"name": "root", "containerDisk": {"image": "a:1"}}],
                }
            }
        },
    }
    found = drift.effect(vm, drift.Specs(None, {}), drift.Specs(None, {"devices": devices}), KubeVirt(NEWEST))
    assert [(change["field"], change["after"]) for change in found.changes] == [(field, after)]
    # KubeVirt asks for no restart, and yet the guest has it only after one.
    assert drift.needs(found) == "restart"
    assert drift.needs(drift.effect(vm, drift.Specs(None, {}), drift.Specs(None, {}), KubeVirt(NEWEST))) == "nothing"


def test_the_interface_is_the_one_that_the_cluster_adds() -> None:
    vm = {**VM, "spec": {"template": {"spec": {"domain": {"devices": {}}}}}}
    masquerade = KubeVirt(NEWEST, Configuration(network_interface="masquerade"))
    specs = drift.Specs(None, {}), drift.Specs(None, {"devices": {"preferredInterfaceModel": "e1000"}})
    (change,) = drift.effect(vm, *specs, masquerade).changes
    assert change["after"] == [{"name": "default", "masquerade": {}, "model": "e1000"}]
