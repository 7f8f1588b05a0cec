"""Nodes that a pod fits on, beyond the verdicts of kube-scheduler in `tests/placement`."""

from collections.abc import Callable
from typing import Any

import pytest
from placement_samples import node_of, pod_of, state_of

from growth import growth
from plugins.module_utils._capacity.placement.fit import eligible
from plugins.module_utils._capacity.placement.pod_placer import PodPlacer
from plugins.module_utils._capacity.placement.reasons import problem
from plugins.module_utils._capacity.placement.scheduler_view import (
    Node,
    Storage,
    claim_names,
    from_manifest,
    with_volume_affinity,
)

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
HOSTNAME = "kubernetes.io/hostname"


def fits(node: Node, **pod: Any) -> bool:
    return bool(PodPlacer(state_of(node)).fitting(pod_of(**pod)))


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        ({"requests": {"cpu": "4", "memory": "8Gi", "strange": "1"}}, True),
        ({"requests": {"cpu": "4000.1m"}}, False),
        ({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}}, False),
        ({"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{}]}}}}, False),
    ],
)
def test_edges_of_resources_and_affinity(pod: dict[str, Any], expected: bool) -> None:
    assert fits(node_of(), **pod) is expected


def test_unknown_operator_tolerates_nothing() -> None:
    tainted = node_of(taints=[{"key": "k", "effect": "NoSchedule"}])
    assert not fits(tainted, tolerations=[{"key": "k", "operator": "Strange"}])


def test_running_pods_take_room() -> None:
    state = state_of(node_of(pods="2", gpu="1"), pods=[pod_of("a", {"cpu": "3", "example.com/gpu": "1"}, "n")])
    assert PodPlacer(state).fitting(pod_of(requests={"cpu": "1"})) == [0]
    assert PodPlacer(state).fitting(pod_of(requests={"cpu": "1100m"})) == []
    more = {"cpu": "2", "memory": "9Gi", "example.com/gpu": "1"}
    assert problem(state, pod_of(requests=more)) == "n lacks 1 of cpu and 1Gi of memory and 1 example.com/gpu"
    full = state_of(node_of(pods="1"), pods=[pod_of("a", {}, "n"), pod_of("b", {}, "elsewhere")])
    assert PodPlacer(full).fitting(pod_of(requests={})) == []
    assert problem(full, pod_of(requests={})) == "n lacks room for another pod"


def test_pod_level_requests_count_beside_the_overhead() -> None:
    limited = {"resources": {"limits": {"memory": "1Gi"}}}
    spec = {"containers": [limited], "resources": {"requests": {"cpu": "3"}}, "overhead": {"cpu": "100m"}}
    assert from_manifest({"spec": spec}).requests == {"cpu": 3100, "memory": 2**30, "pods": 1}


def test_owner_and_end_of_a_pod() -> None:
    labels = {"kubevirt.io": "virt-launcher", "kubevirt.io/created-by": "u"}
    assert pod_of(labels=labels).owner == "u"
    assert pod_of(labels={"kubevirt.io/created-by": "u"}).owner == ""
    for phase, ended in (("Failed", True), ("Succeeded", True), ("Running", False), (None, False)):
        assert from_manifest({"status": {"phase": phase}}).ended is ended


def term(app: str, key: str = HOSTNAME, **more: Any) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key, **more}


def apart(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"podAntiAffinity": {REQUIRED: list(terms)}}


def beside(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"podAffinity": {REQUIRED: list(terms)}}


NODES = (node_of("a", {"zone": "1"}), node_of("b", {"zone": "1"}), node_of("c", {"zone": "2"}), node_of("d"))


def where(pod: Any, *pods: Any, **more: Any) -> str:
    state = state_of(*NODES, pods=pods, **more)
    return "".join(state.nodes[number].name for number in PodPlacer(state).fitting(pod))


@pytest.mark.parametrize("rule", [apart, beside])
def test_pod_affinity_scales_with_the_number_of_pods(rule: Callable[..., dict[str, Any]]) -> None:
    def work(count: int) -> Callable[[], None]:
        names = [f"vm-{number}" for number in range(count)]
        pods = [pod_of(name, node="a", labels={"app": name}, affinity=rule(term(name))) for name in names]

        def place() -> None:
            large = {"cpu": "1000", "memory": "1Ti", "pods": "1000"}
            batch = PodPlacer(state_of(node_of("a", **large), node_of("b", **large), pods=pods))
            assert {batch.place(pod) for pod in pods} == {1 if rule is apart else 0}

        return place

    assert growth(work) < 5


def test_affinity_selects_namespaces_by_labels() -> None:
    web = pod_of("web", node="a", labels={"app": "web"}, namespace="office")
    selected = apart(term("web", namespaceSelector={"matchLabels": {"team": "x"}}))
    assert where(pod_of(affinity=selected), web, namespaces={"office": {"team": "x"}}) == "bcd"
    assert where(pod_of(affinity=selected), web) == "abcd"


def spread(**more: Any) -> dict[str, Any]:
    labels = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "zone", "maxSkew": 1}
    return {**labels, "whenUnsatisfiable": "DoNotSchedule", **more}


def spread_over(constraint: dict[str, Any], *pods: Any, **pod: Any) -> str:
    return where(pod_of(labels={"app": "web"}, topologySpreadConstraints=[constraint], **pod), *pods)


def test_spread_counts_pods_with_the_same_labels() -> None:
    web = pod_of("web", node="a", labels={"app": "web"})
    assert spread_over(spread(labelSelector=None), web) == "abc"
    assert spread_over(spread(matchLabelKeys=["app", "none"]), web) == "c"
    assert spread_over(spread(labelSelector={}, matchLabelKeys=["app"]), web) == "c"


def test_spread_counts_nodes_of_the_affinity_by_default() -> None:
    webs = [pod_of("web", node=name, labels={"app": "web"}) for name in "ab"]
    constraint = spread(topologyKey=HOSTNAME)
    assert spread_over(constraint, *webs, nodeSelector={"zone": "1"}) == "ab"
    assert spread_over({**constraint, "nodeAffinityPolicy": "Ignore"}, *webs, nodeSelector={"zone": "1"}) == ""


def test_spread_counts_nodes_until_they_are_tainted() -> None:
    webs = [pod_of("web", node=name, labels={"app": "web"}) for name in "ab"]
    constraint = spread(topologyKey=HOSTNAME, nodeTaintsPolicy="Honor")
    pod = pod_of(labels={"app": "web"}, topologySpreadConstraints=[constraint])
    # A node that is marked as unschedulable counts until it has the taint, as drained nodes have.
    marked, drained = node_of("c")._replace(unschedulable=True), node_of("c", cordoned=True)
    assert PodPlacer(state_of(*NODES[:2], marked, pods=webs)).fitting(pod) == []
    assert PodPlacer(state_of(*NODES[:2], drained, pods=webs)).fitting(pod) == [0, 1]


# The nodes from which claims can be reached, beyond the recorded verdicts of kube-scheduler.


LATER = {"volumeBindingMode": "WaitForFirstConsumer", "provisioner": "x/disks"}


def claim(name: str = "disk", bound: bool = False, **spec: Any) -> dict[str, Any]:
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if bound else {}
    return {"metadata": {"name": name, "namespace": "shop", "annotations": annotations}, "spec": spec}


def kind(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **LATER, **more}


def pod_with(*claims: dict[str, Any], names: tuple[str, ...] = ("disk",), **more: Any) -> Any:
    objects = Storage(claims, more.get("volumes", ()), more.get("classes", ()))
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
