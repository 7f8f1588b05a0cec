"""Whether quotas admit the pods of the VMs' next starts, before and after an upgrade."""

from __future__ import annotations

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubernetes.quota.admission import (
    QuotaObjects,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import (
    Cluster,
    kubevirt_of,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.upgrade.steps import steps
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.upgrade.vm import (
    Admission,
    Admissions,
    admissions,
    upgrade_side,
    vm_change,
)

Manifest = dict[str, Any]

OLD, NEW = kubevirt_of({}, "1.5.3"), kubevirt_of({}, "1.9.0")
# What a pod of `vm` requests.
BEFORE, AFTER = 1375080128, 1389760192


def vm(name: str, runs: bool = False) -> Manifest:
    return {
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "runStrategy": "Always" if runs else "Halted",
            "template": {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}},
        },
        "status": {"created": True} if runs else {},
    }


def quota(hard: Manifest, used: Manifest) -> Manifest:
    metadata = {"name": "team", "namespace": "shop"}
    return {"metadata": metadata, "spec": {"hard": hard}, "status": {"hard": hard, "used": used}}


def checked(vms: list[Manifest], *quotas: Manifest, **objects: Any) -> Admissions:
    limits = QuotaObjects(quotas=quotas, vms=vms, **objects)
    sides = [upgrade_side(Cluster(Objects([]), kubevirt), vms, limits) for kubevirt in (OLD, NEW)]
    return admissions(vms, *sides, limits)


def test_pods_request_these_amounts() -> None:
    sides = [upgrade_side(Cluster(Objects([]), kubevirt)) for kubevirt in (OLD, NEW)]
    change = vm_change(vm("a"), None, *sides)
    assert [start.pod["requests"]["memory"] for start in (change.before, change.after)] == [str(BEFORE), str(AFTER)]


def test_larger_pod_of_a_halted_vm_is_rejected() -> None:
    machines = [vm("a"), vm("b")]
    free = checked(machines, quota({"requests.memory": "1Ti"}, {}))
    assert set(free.vms.values()) == {Admission()}
    # Room for two pods of the old release.
    tight = checked(machines, quota({"requests.memory": str(2 * BEFORE)}, {}))
    assert tight.vms["shop", "a"] == Admission()
    assert tight.vms["shop", "b"] == Admission(
        "", "ResourceQuota team lacks 28Mi of requests.memory (1.29Gi wanted, 1.27Gi left)"
    )
    sides = [upgrade_side(Cluster(Objects([]), kubevirt)) for kubevirt in (OLD, NEW)]
    changes = [vm_change(machine, None, *sides) for machine in machines]
    todo = [step for step in steps(changes, [], OLD, NEW, (), tight) if "quotas" in step.text]
    assert [(step.when, step.virtual_machines) for step in todo] == [("before", ("shop/b",))]


def pod(name: str, memory: int) -> Manifest:
    """The pod of a running VM."""
    labels = {"kubevirt.io": "virt-launcher", "kubevirt.io/created-by": f"uid-{name}", "vmi.kubevirt.io/id": name}
    metadata = {"name": f"virt-launcher-{name}", "namespace": "shop", "labels": labels}
    compute = {"name": "compute", "resources": {"requests": {"memory": str(memory)}}}
    return {"metadata": metadata, "spec": {"containers": [compute]}, "status": {"phase": "Running"}}


def test_running_vms_need_the_growth_of_their_pods() -> None:
    machines = [vm("a", runs=True), vm("b", runs=True), vm("c")]
    cluster = {"pods": [pod("a", BEFORE), pod("b", BEFORE)]}
    used = {"requests.memory": str(2 * BEFORE)}
    roomy = checked(machines, quota({"requests.memory": str(3 * BEFORE)}, used), **cluster)
    # Both restart; what they take of the rest, the third lacks.
    assert [admission.after != "" for admission in roomy.vms.values()] == [False, False, True]
    (line,) = roomy.quotas
    assert (line["fits_before"], line["fits"]) == (True, True)
    assert line["resources"]["requests.memory"]["wanted"] == str(2 * (AFTER - BEFORE))
    tight = checked(machines, quota({"requests.memory": str(2 * BEFORE)}, used), **cluster)
    assert [admission.before != "" for admission in tight.vms.values()] == [False, False, True]
    assert [admission.after != "" for admission in tight.vms.values()] == [True, True, True]
    assert [quota["fits"] for quota in tight.quotas] == [False]


def test_quotas_ignore_a_vm_without_a_pod() -> None:
    lost = vm("a")
    lost["spec"]["instancetype"] = {"name": "gone"}
    assert checked([lost], quota({"requests.memory": "1"}, {})).vms == {("shop", "a"): Admission()}


def test_a_quota_of_limits_adds_limits_to_pods() -> None:
    """KubeVirt gives pods limits where a quota asks for them."""
    hard = quota({"limits.memory": "1Ti"}, {})
    objects = QuotaObjects(quotas=[hard], vms=[vm("a")])
    sides = [upgrade_side(Cluster(Objects([]), kubevirt), [vm("a")], objects) for kubevirt in (OLD, NEW)]
    free = [upgrade_side(Cluster(Objects([]), kubevirt)) for kubevirt in (OLD, NEW)]
    limited, other = vm_change(vm("a"), None, *sides), vm_change(vm("a"), None, *free)
    assert limited.after.pod["limits"]["memory"] != other.after.pod["limits"]["memory"]
