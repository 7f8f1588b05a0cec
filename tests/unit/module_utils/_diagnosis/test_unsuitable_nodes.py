"""Nodes that are not suitable: virtualization, all that they lack, and the words of kube-scheduler."""

from typing import Any

import pytest
from diagnosed import (
    HOUR,
    UNSCHEDULABLE,
    claim,
    condition,
    data_volume,
    disk,
    event,
    node,
    of,
    pod,
    starting,
    vm,
)
from remedies import command, patch, steps

from plugins.module_utils._diagnosis.offline import diagnoses
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt

Manifest = dict[str, Any]

KVM, TUN = "devices.kubevirt.io/kvm", "devices.kubevirt.io/tun"
RULE = {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname"}]}
AFFINITY = {"podAntiAffinity": RULE, "podAffinity": RULE, "nodeAffinity": {"required": {}}}
SPREAD = [{"topologyKey": "zone", "maxSkew": 1}]


def without(name: str, *nodes: Manifest) -> Manifest:
    return of(*starting(pod(node="", conditions=[UNSCHEDULABLE], **{name: "1"}), *nodes))


def test_nodes_without_kvm_need_virtualization() -> None:
    found = without(KVM, node())
    assert found["link"] == "device" and "none of 1 nodes has KVM" in found["problem"]
    assert patch(found)["spec"]["configuration"]["developerConfiguration"] == {"useEmulation": True}


def silent() -> Manifest:
    found = node()
    found["metadata"] = {"name": "node01", "annotations": {"kubevirt.io/heartbeat": "2026-03-01T08:00:00Z"}}
    return found


@pytest.mark.parametrize(("name", "of_node"), [(KVM, node(**{KVM: "1k"})), (TUN, node()), (KVM, silent())])
def test_a_broken_handler_offers_no_devices(name: str, of_node: Manifest) -> None:
    found = without(name, of_node)
    assert f"{name}, which virt-handler offers" in found["problem"]
    assert command(found)[2:] == ["delete", "pod", "--selector", "kubevirt.io=virt-handler"]


def kept_off(*groups: list[str], **spec: Any) -> Manifest:
    """The diagnosis of a VM that the nodes a, b, ... do not take."""
    listed = [{"reasons": reasons, "node_count": 1, "nodes": [name]} for name, reasons in zip("abc", groups)]
    objects = starting(pod(node="", conditions=[UNSCHEDULABLE]), node(), **spec)
    [result] = diagnoses(objects, KubeVirt(NEWEST), HOUR, lambda _nodes, _pods: lambda _pod: listed)
    diagnosis: Manifest = result["diagnosis"]
    return diagnosis


def test_all_that_a_node_lacks_is_mended() -> None:
    taints = ["has the taint team=a:NoSchedule", "has the taint gpu:NoExecute"]
    cordon = "has the taint node.kubernetes.io/unschedulable:NoSchedule"
    labels = ["lacks the label tier=web", "lacks the label disk=ssd"]
    found = kept_off(
        [*labels, "lacks 2Gi of memory"], [*labels, *taints, cordon], [*labels, *taints, cordon, "lacks the label a=b"]
    )
    uncordon, label, tolerate = steps(found)[:3]
    assert uncordon["ansible.builtin.command"]["cmd"] == "kubectl uncordon b"
    assert label["ansible.builtin.command"]["cmd"] == "kubectl label node b tier=web disk=ssd"
    assert [item["key"] for item in patch({"task": tolerate["block"][0]})[0]["value"]] == ["team", "gpu"]
    assert "lacks the label tier=web, lacks the label disk=ssd" in found["problem"]


@pytest.mark.parametrize(
    ("ours", "schedulers", "remedy", "words"),
    [
        ("lacks distance from other pods", "1 node(s) didn't match pod anti-affinity rules", "podAntiAffinity",
         "affinity/podAntiAffinity"),
        ("lacks pods that it must run beside", "1 node(s) didn't match pod affinity rules", "podAffinity",
         "affinity/podAffinity"),
        ("lacks pods that do not avoid it", "1 node(s) didn't satisfy existing pods anti-affinity rules",
         "stop a pod that does not want", "placement"),
        ("lacks room to spread by zone", "1 node(s) didn't match pod topology spread constraints",
         "topologySpreadConstraints", "spec/topologySpreadConstraints"),
        ("is not in its node affinity", "1 node(s) didn't match Pod's node affinity/selector", "nodeAffinity",
         "affinity/nodeAffinity"),
        ("does not reach the volume of its claim data", "1 node(s) had volume node affinity conflict",
         "where its volumes are", "kubectl get pv"),
        ("", "1 node(s) didn't match PersistentVolume's node affinity", "where its volumes are", "kubectl get pv"),
        ("", "1 node(s) exceed max volume count", "attach no more", "placement"),
        ("lacks the label cpu-model.node.kubevirt.io/Epyc=true", "", "a CPU model", "domain/cpu/model"),
        ("lacks the label machine-type.node.kubevirt.io/pc=true", "", "a machine type", "domain/machine"),
        ("lacks the label cpu-feature.node.kubevirt.io/avx=true", "", "features", "placement"),
        ("lacks the label kubevirt.io/schedulable=true", "", "virt-handler", "kubevirt.io=virt-handler"),
        ("lacks 1 devices.kubevirt.io/kvm", "1 Insufficient devices.kubevirt.io/kvm", "emulate", "useEmulation"),
        ("lacks 2Gi of memory", "1 Insufficient memory", "free a node", "placement"),
    ],
)  # fmt: skip
def test_the_obstacle_is_explained(ours: str, schedulers: str, remedy: str, words: str) -> None:
    domain = {"cpu": {"model": "Epyc"}, "machine": {"type": "pc"}, "devices": {}, "memory": {"guest": "1Gi"}}
    spec = {"affinity": AFFINITY, "topologySpreadConstraints": SPREAD, "domain": domain}
    if ours:
        found = kept_off([ours], **spec)
        assert remedy in found["remedy"] and words in str(found["task"]), found
    if schedulers:
        waiting = condition("PodScheduled", "False", "Unschedulable", f"0/1 nodes are available: {schedulers}.")
        found = of(*starting(pod(node="", conditions=[waiting]), **spec))
        assert found["link"] == "scheduling" and remedy in found["remedy"] and words in str(found["task"]), found


def test_the_node_that_lacks_least_is_explained() -> None:
    elsewhere = [
        "lacks the label kubernetes.io/hostname=a",
        "has the taint node.kubernetes.io/unschedulable:NoSchedule",
    ]
    assert kept_off(elsewhere, ["lacks 2Ti of memory"])["remedy"].startswith("free a node, add one")
    # A node of the control plane lacks one thing only, and stays one.
    plane = ["has the taint node-role.kubernetes.io/control-plane:NoSchedule"]
    machine = ["lacks the label machine-type.node.kubevirt.io/pc=true", "lacks 2Ti of memory"]
    assert "a machine type" in kept_off(plane, machine)["remedy"]


def test_a_toleration_precedes_a_label() -> None:
    found = kept_off(["lacks the label tier=web"], ["has the taint team:NoSchedule"])
    assert patch(found)[0]["path"] == "/spec/template/spec/tolerations"


def test_a_scheduler_that_does_not_run_is_replaced() -> None:
    waiting = {**pod(node=""), "metadata": {**pod()["metadata"], "creationTimestamp": "2026-03-01T08:00:00Z"}}
    assert command(of(*starting(waiting)))[-2:] == ["get", "pods"]
    [change] = patch(of(*starting(waiting, schedulerName="nowhere")))
    assert (change["path"], change["value"]) == ("/spec/template/spec/schedulerName", "default-scheduler")


def test_a_rule_of_somebody_else_stays() -> None:
    assert "capacity_info" in str(kept_off(["lacks distance from other pods"])["task"])


def test_a_profile_without_access_modes_is_named() -> None:
    machine = vm("Provisioning", volumes=[{"name": "data", "dataVolume": {"name": "data"}}])
    volume = {"kind": "DataVolume", "metadata": {"name": "data", "namespace": "shop"}, "status": {"phase": "Pending"}}
    for words in (
        "Spec is missing accessMode and volumeMode, cannot get access mode from StorageProfile slow",
        "no accessMode specified in StorageProfile slow",
        "no matching accessMode specified in StorageProfile slow",
    ):
        found = of(machine, volume, event("DataVolume", "data", "ErrClaimNotValid", words))
        assert found["link"] == "storage_class" and "the StorageProfile slow knows none" in found["problem"]
        assert command(found)[:3] == ["patch", "storageprofile", "slow"]
    bound = {"type": "Bound", "status": "False", "reason": "ErrClaimNotValid", "message": words}
    said = {**volume, "status": {"phase": "Pending", "conditions": [bound]}}
    assert of(machine, said)["evidence"][0]["source"] == "condition"


@pytest.mark.parametrize(
    ("volumes", "verb"), [(disk(), "delete"), (disk("data", "persistentVolumeClaim", "claimName"), "describe")]
)
def test_only_a_claim_that_comes_again_is_deleted(volumes: list[Manifest], verb: str) -> None:
    objects = [*starting(volumes=volumes), claim("data", "Lost")]
    objects += [data_volume("Succeeded")] if verb == "delete" else []
    assert command(of(*objects))[2:] == [verb, "pvc", "data"]
