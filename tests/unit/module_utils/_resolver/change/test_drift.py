"""Drift of VMs from what they captured."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.change import drift
from plugins.module_utils._resolver.guest.effect import NOTHING, UNREAD_VMI, GuestEffect, MaybeVMI
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype import revision_store
from plugins.module_utils._resolver.kubevirt.instancetype.find import Specs
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Lookup, Objects

DEFAULT = KubeVirt(NEWEST)
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


def judged(vm: dict[str, Any], objects: Lookup, kubevirt: KubeVirt = DEFAULT, instance: MaybeVMI = None) -> drift.Drift:
    return drift.drift(vm, instance, Cluster(objects, kubevirt))


def changed_specs(
    vm: dict[str, Any], before: Specs, after: Specs, kubevirt: KubeVirt = DEFAULT, instance: MaybeVMI = UNREAD_VMI
) -> GuestEffect:
    """The effect of other specs on a VM."""
    without = GuestEffect(NOTHING)
    judged_by = Cluster(Objects([]), kubevirt)
    return drift.effect_of(drift.Drift(vm, instance, judged_by, {}, dict(before), {}, without, without), {**vm}, after)


def captured(manifest: dict[str, Any], *others: dict[str, Any], lost: bool = False) -> drift.Drift:
    stored = {**revision_store.controller_revision(VM, manifest), "kind": "ControllerRevision", "apiVersion": "apps/v1"}
    vm = {
        **VM,
        "status": {"instancetypeRef": {"name": "big", "controllerRevisionRef": {"name": stored["metadata"]["name"]}}},
    }
    return judged(vm, Objects([*([] if lost else [stored]), *others]))


def test_no_drift() -> None:
    result = captured(instancetype(2, "4Gi", 1), instancetype(2, "4096Mi", 2))
    assert (result.parts[INSTANCETYPE].state, result.drifted, result.effect.changes) == (drift.CURRENT, False, ())
    assert (result.parts[INSTANCETYPE].generation, result.parts[INSTANCETYPE].current_generation) == (1, 2)


def test_a_deleted_instancetype() -> None:
    result = captured(instancetype(2, "4Gi", 1))
    assert (result.parts[INSTANCETYPE].state, result.drifted, result.effect.guest_before["vcpus"]) == (
        drift.GONE,
        False,
        2,
    )


def test_a_recreated_instancetype() -> None:
    result = captured(instancetype(2, "4Gi", 1), instancetype(2, "4Gi", 1, uid="other"))
    assert (result.parts[INSTANCETYPE].state, result.parts[INSTANCETYPE].recreated) == (drift.CURRENT, True)


def test_a_lost_revision() -> None:
    result = captured(instancetype(2, "4Gi", 1), instancetype(2, "4Gi", 1), lost=True)
    assert result.parts[INSTANCETYPE].state == drift.REVISION_LOST


def test_revisions_of_older_api_versions_are_compared() -> None:
    alpha = {**revision_store.controller_revision(VM, instancetype(2, "4Gi", 1)), "kind": "ControllerRevision"}
    alpha["data"] = {**alpha["data"], "apiVersion": "instancetype.kubevirt.io/v1alpha2"}
    reference = {"name": "big", "controllerRevisionRef": {"name": alpha["metadata"]["name"]}}
    result = judged({**VM, "status": {"instancetypeRef": reference}}, Objects([alpha, instancetype(4, "4Gi", 2)]))
    assert result.parts[INSTANCETYPE].state == drift.DRIFTED
    assert (result.effect.guest_before["vcpus"], result.effect.guest_after["vcpus"]) == (2, 4)


def test_a_vm_without_matchers() -> None:
    vm = {**VM, "spec": {"template": {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}}}}
    result = judged(vm, Objects([]))
    assert (result.parts, result.drifted) == ({}, False)
    assert result.effect.guest_before == {"vcpus": 1, "sockets": 1, "cores": 1, "threads": 1, "memory": "1Gi"}


def test_vm_without_instancetype_gets_cluster_defaults() -> None:
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
    assert judged(vm, Objects([preference])).effect.refusal is None
    preference["spec"]["requirements"]["cpu"]["guest"] = 2
    assert judged(vm, Objects([preference])).effect.refusal == (
        "insufficient CPU resources of 1 vCPU provided by VirtualMachine,"
        " preference requires 2 vCPU provided as sockets"
    )


def test_refusals_come_in_the_order_of_kubevirt() -> None:
    def refused(preference: dict[str, Any], **domain: Any) -> str | None:
        spec = {"template": {"spec": {"domain": {"devices": {}, **domain}}}}
        after = {INSTANCETYPE: {"cpu": {"guest": 3}, "memory": {"guest": "1Gi"}}, PREFERENCE: preference}
        return changed_specs({"metadata": {}, "spec": spec}, {}, after).refusal

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
def test_preference_applies_to_unlisted_disks_and_interfaces(
    devices: dict[str, Any], field: str, after: list[dict[str, Any]]
) -> None:
    vm = {
        **VM,
        "spec": {
            "runStrategy": "Always",
            "template": {
                "spec": {
                    "domain": {"devices": {}},
                    "volumes": [{"name": "root", "containerDisk": {"image": "a:1"}}],
                }
            },
        },
    }
    result = changed_specs(vm, {PREFERENCE: {}}, {PREFERENCE: {"devices": devices}})
    assert [(change["field"], change["after"]) for change in result.changes] == [(field, after)]
    # KubeVirt does not ask for a restart, and yet the guest has it only after one.
    assert result.needs == "restart"
    assert changed_specs(vm, {PREFERENCE: {}}, {PREFERENCE: {}}).needs == "nothing"


def test_interface_is_that_of_the_cluster() -> None:
    vm = {**VM, "spec": {"template": {"spec": {"domain": {"devices": {}}}}}}
    masquerade = KubeVirt(NEWEST, {"network": {"defaultNetworkInterface": "masquerade"}})
    specs = {PREFERENCE: {}}, {PREFERENCE: {"devices": {"preferredInterfaceModel": "e1000"}}}
    (change,) = changed_specs(vm, *specs, masquerade).changes
    assert change["after"] == [{"name": "default", "masquerade": {}, "model": "e1000"}]
