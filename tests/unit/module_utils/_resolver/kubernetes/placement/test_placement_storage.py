"""The nodes from which claims can be reached, beyond what kube-scheduler's verdicts hold."""

from __future__ import annotations

from typing import Any

from placement_samples import node_of, pod_of, state_of

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubernetes.placement.explain import (
    problem,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubernetes.placement.fit import eligible
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubernetes.placement.storage import (
    claims_of,
    reaching,
    storage,
)

LATER = {"volumeBindingMode": "WaitForFirstConsumer", "provisioner": "x/disks"}


def claim(name: str = "disk", bound: bool = False, **spec: Any) -> dict[str, Any]:
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if bound else {}
    return {"metadata": {"name": name, "namespace": "shop", "annotations": annotations}, "spec": spec}


def kind(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **LATER, **more}


def told(*claims: dict[str, Any], names: tuple[str, ...] = ("disk",), **more: Any) -> Any:
    known = storage(claims, more.get("volumes", ()), more.get("classes", ()))
    return reaching(pod_of()._replace(claims=names, namespace="shop"), known)


def test_the_claims_of_a_pod() -> None:
    volumes = [
        {"name": "a", "dataVolume": {"name": "dv"}},
        {"name": "b", "persistentVolumeClaim": {"claimName": "pvc"}},
        {"name": "c", "ephemeral": {"persistentVolumeClaim": {"claimName": "base"}}},
        {"name": "d", "persistentVolumeClaim": {"claimName": "plugged", "hotpluggable": True}},
        {"name": "e", "dataVolume": {"name": "plugged-too", "hotpluggable": True}},
        {"name": "f", "containerDisk": {"image": "x"}},
    ]
    assert claims_of(volumes) == ("dv", "pvc", "base")


def test_claims_that_say_nothing_of_nodes() -> None:
    assert told(names=("new",)).reach == ()
    # A volume that may not be read.
    assert told(claim(bound=True, volumeName="pv")).reach == ()
    local = kind("local", provisioner="kubernetes.io/no-provisioner")
    assert told(claim(storageClassName="local"), classes=[local]) == told()
    assert told(claim(storageClassName="later"), classes=[kind("later")]) == told()


def test_what_is_missing() -> None:
    nodes = [node_of("x", labels={"zone": "a"}), node_of("y", labels={"zone": "b"})]
    state = state_of(*nodes)
    topologies = [{"matchLabelExpressions": [{"key": "zone", "values": ["b"]}]}]
    zoned = told(claim(storageClassName="zoned"), classes=[kind("zoned", allowedTopologies=topologies)])
    assert eligible(state, zoned) == [1]
    nowhere = told(
        claim(storageClassName="zoned"),
        classes=[kind("zoned", allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["c"]}]}])],
    )
    assert problem(state, nowhere) == "2 of 2 nodes do not reach the volume of its claim disk"
    waits = told(claim(storageClassName="none"))
    assert (eligible(state, waits), problem(state, waits)) == ([], "its claim disk is not bound")


def test_volumes_without_a_claim() -> None:
    assert pod_of(volumes=[{"name": "a", "emptyDir": {}}]).claims == ()
