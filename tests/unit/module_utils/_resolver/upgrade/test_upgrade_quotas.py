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
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.upgrade.machine import rehearse, side
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.upgrade.quotas import (
    Admission,
    Admissions,
    admissions,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.upgrade.steps import steps

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


def asked(vms: list[Manifest], *quotas: Manifest, **room: Any) -> Admissions:
    around = QuotaObjects(quotas=quotas, vms=vms, **room)
    sides = [side(Cluster(Objects([]), kubevirt), vms, around) for kubevirt in (OLD, NEW)]
    return admissions(vms, *sides, around)


def test_the_pods_have_these_amounts() -> None:
    around = [side(Cluster(Objects([]), kubevirt)) for kubevirt in (OLD, NEW)]
    found = rehearse(vm("a"), None, *around)
    assert [one.pod["requests"]["memory"] for one in (found.before, found.after)] == [str(BEFORE), str(AFTER)]


def test_a_halted_vm_that_fits_no_more() -> None:
    machines = [vm("a"), vm("b")]
    free = asked(machines, quota({"requests.memory": "1Ti"}, {}))
    assert set(free.vms.values()) == {Admission()}
    # Room for two pods of the old release.
    found = asked(machines, quota({"requests.memory": str(2 * BEFORE)}, {}))
    assert found.vms["shop", "a"] == Admission()
    assert found.vms["shop", "b"] == Admission(
        "", "ResourceQuota team lacks 28Mi of requests.memory (1.29Gi wanted, 1.27Gi left)"
    )
    around = [side(Cluster(Objects([]), kubevirt)) for kubevirt in (OLD, NEW)]
    known = [rehearse(machine, None, *around) for machine in machines]
    todo = [one for one in steps(known, [], OLD, NEW, (), found) if "quotas" in one.text]
    assert [(one.when, one.virtual_machines) for one in todo] == [("before", ("shop/b",))]


def pod(name: str, memory: int) -> Manifest:
    """The pod of a running VM."""
    labels = {"kubevirt.io": "virt-launcher", "kubevirt.io/created-by": f"uid-{name}", "vmi.kubevirt.io/id": name}
    metadata = {"name": f"virt-launcher-{name}", "namespace": "shop", "labels": labels}
    compute = {"name": "compute", "resources": {"requests": {"memory": str(memory)}}}
    return {"metadata": metadata, "spec": {"containers": [compute]}, "status": {"phase": "Running"}}


def test_running_vms_need_what_their_pods_grow_by() -> None:
    machines = [vm("a", runs=True), vm("b", runs=True), vm("c")]
    around = {"pods": [pod("a", BEFORE), pod("b", BEFORE)]}
    used = {"requests.memory": str(2 * BEFORE)}
    found = asked(machines, quota({"requests.memory": str(3 * BEFORE)}, used), **around)
    # Both restart; what they take of the rest, the third lacks.
    assert [one.after != "" for one in found.vms.values()] == [False, False, True]
    (line,) = found.quotas
    assert (line["fits_before"], line["fits"]) == (True, True)
    assert line["resources"]["requests.memory"]["wanted"] == str(2 * (AFTER - BEFORE))
    tight = asked(machines, quota({"requests.memory": str(2 * BEFORE)}, used), **around)
    assert [one.before != "" for one in tight.vms.values()] == [False, False, True]
    assert [one.after != "" for one in tight.vms.values()] == [True, True, True]
    assert [one["fits"] for one in tight.quotas] == [False]


def test_a_vm_without_a_pod_is_no_matter_of_quotas() -> None:
    lost = vm("a")
    lost["spec"]["instancetype"] = {"name": "gone"}
    assert asked([lost], quota({"requests.memory": "1"}, {})).vms == {("shop", "a"): Admission()}


def test_a_quota_makes_limits() -> None:
    """KubeVirt gives pods limits where a quota asks for them."""
    hard = quota({"limits.memory": "1Ti"}, {})
    around = QuotaObjects(quotas=[hard], vms=[vm("a")])
    sides = [side(Cluster(Objects([]), kubevirt), [vm("a")], around) for kubevirt in (OLD, NEW)]
    free = [side(Cluster(Objects([]), kubevirt)) for kubevirt in (OLD, NEW)]
    limited, other = rehearse(vm("a"), None, *sides), rehearse(vm("a"), None, *free)
    assert limited.after.pod["limits"]["memory"] != other.after.pod["limits"]["memory"]
