"""The nodes from which claims can be reached, beyond the recorded verdicts of kube-scheduler."""

from __future__ import annotations

from typing import Any

from placement_samples import node_of, pod_of, state_of

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubernetes.placement.fit import (
    eligible,
    problem,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubernetes.placement.objects import (
    claim_names,
    storage,
    with_volume_affinity,
)

LATER = {"volumeBindingMode": "WaitForFirstConsumer", "provisioner": "x/disks"}


def claim(name: str = "disk", bound: bool = False, **spec: Any) -> dict[str, Any]:
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if bound else {}
    return {"metadata": {"name": name, "namespace": "shop", "annotations": annotations}, "spec": spec}


def kind(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **LATER, **more}


def pod_with(*claims: dict[str, Any], names: tuple[str, ...] = ("disk",), **more: Any) -> Any:
    objects = storage(claims, more.get("volumes", ()), more.get("classes", ()))
    return with_volume_affinity(pod_of()._replace(claims=names, namespace="shop"), objects)


def test_hotplugged_volumes_are_no_claims_of_a_pod() -> None:
    volumes = [
        {"name": "a", "dataVolume": {"name": "dv"}},
        {"name": "b", "persistentVolumeClaim": {"claimName": "pvc"}},
        {"name": "c", "ephemeral": {"persistentVolumeClaim": {"claimName": "base"}}},
        {"name": "d", "persistentVolumeClaim": {"claimName": "plugged", "hotpluggable": True}},
        {"name": "e", "dataVolume": {"name": "plugged-too", "hotpluggable": True}},
        {"name": "f", "containerDisk": {"image": "x"}},
    ]
    assert claim_names(volumes) == ("dv", "pvc", "base")


def test_claims_without_node_affinity_exclude_no_node() -> None:
    assert pod_with(names=("new",)).volume_affinity == ()
    # A volume that may not be read.
    assert pod_with(claim(bound=True, volumeName="pv")).volume_affinity == ()
    local = kind("local", provisioner="kubernetes.io/no-provisioner")
    assert pod_with(claim(storageClassName="local"), classes=[local]) == pod_with()
    assert pod_with(claim(storageClassName="later"), classes=[kind("later")]) == pod_with()


def test_unreachable_and_unbound_claims_have_a_problem() -> None:
    nodes = [node_of("x", labels={"zone": "a"}), node_of("y", labels={"zone": "b"})]
    state = state_of(*nodes)
    topologies = [{"matchLabelExpressions": [{"key": "zone", "values": ["b"]}]}]
    zoned = pod_with(claim(storageClassName="zoned"), classes=[kind("zoned", allowedTopologies=topologies)])
    assert eligible(state, zoned) == [1]
    nowhere = pod_with(
        claim(storageClassName="zoned"),
        classes=[kind("zoned", allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["c"]}]}])],
    )
    assert problem(state, nowhere) == "2 of 2 nodes do not reach the volume of its claim disk"
    waits = pod_with(claim(storageClassName="none"))
    assert (eligible(state, waits), problem(state, waits)) == ([], "its claim disk is not bound")


def test_volumes_without_a_claim() -> None:
    assert pod_of(volumes=[{"name": "a", "emptyDir": {}}]).claims == ()
