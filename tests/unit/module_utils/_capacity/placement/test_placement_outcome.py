"""VMs and guests of drained nodes placed one after the other, how many more fit, and what is missing."""

from typing import Any

import pytest
from placement_samples import node_of, pod_of, state_of

from plugins.module_utils._capacity.placement.pod_placer import PodPlacer
from plugins.module_utils._capacity.placement.reasons import problem
from plugins.module_utils._capacity.placement.simulation import (
    PlacementRequest,
    migration_target,
    simulate,
)

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
LAUNCHER = {"kubevirt.io": "virt-launcher"}
NOWHERE = {REQUIRED: {"nodeSelectorTerms": []}}
BIG = {"cpu": "3", "memory": "3Gi"}


def guest(name: str, node: str, requests: Any = None, **spec: Any) -> Any:
    labels = {**LAUNCHER, "kubevirt.io/created-by": f"uid-{name}", "vmi.kubevirt.io/id": name}
    return pod_of(f"virt-launcher-{name}", requests or BIG, node, labels, **spec)


def test_pods_go_to_the_emptiest_node() -> None:
    batch = PodPlacer(state_of(node_of("a"), node_of("b"), pods=[pod_of("x", node="a")]))
    assert [batch.place(pod_of(requests=BIG)) for _number in range(3)] == [1, 0, None]


def test_pods_with_anti_affinity_are_kept_apart() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    alone = pod_of(labels={"app": "db"}, affinity={"podAntiAffinity": {REQUIRED: [term]}})
    batch = PodPlacer(state_of(node_of("a"), node_of("b")))
    assert [batch.place(alone) for _number in range(3)] == [0, 1, None]
    # It tolerates others, but they do not tolerate it.
    assert batch.place(pod_of(labels={"app": "db"})) is None
    assert problem(batch.state, alone) == "a lacks distance from other pods"


def test_number_of_further_pods_that_fit() -> None:
    batch = PodPlacer(
        state_of(node_of("a"), node_of("b", pods="3"), node_of("c", cordoned=True), node_of("d", cpu="0"))
    )
    assert batch.remaining_pods(pod_of()) == 4 + 3
    assert batch.remaining_pods(pod_of(requests={"example.com/gpu": "1"})) == 0
    assert batch.remaining_pods(pod_of(requests={})) == 10 + 3 + 10
    assert PodPlacer(state_of(node_of("a", cpu="0"))).place(pod_of(requests={"memory": "1"})) == 0


@pytest.mark.parametrize(
    ("requests", "spec", "expected"),
    [
        ({"memory": "9Gi"}, {}, "a lacks 1Gi of memory"),
        ({"cpu": "5500m", "memory": "9Gi"}, {}, "b lacks 1.5 of cpu and 1Gi of memory"),
        ({"example.com/gpu": "3"}, {}, "1 of 2 nodes has example.com/gpu; b lacks 1 example.com/gpu"),
        ({"hugepages-2Mi": "4Mi"}, {}, "0 of 2 nodes have hugepages-2Mi; a lacks 4Mi of hugepages-2Mi"),
        ({}, {"nodeSelector": {"zone": "x"}}, "2 of 2 nodes lack the label zone=x"),
        ({}, {"affinity": {"nodeAffinity": NOWHERE}}, "2 of 2 nodes are not in its node affinity"),
    ],
)
def test_problem_names_what_nodes_lack(requests: dict[str, str], spec: dict[str, Any], expected: str) -> None:
    state = state_of(node_of("a", cpu="2"), node_of("b", gpu="2"))
    assert problem(state, pod_of(requests=requests, **spec)) == expected


def test_problem_of_taints_and_full_nodes() -> None:
    taint = [{"key": "k", "value": "v", "effect": "NoSchedule"}]
    state = state_of(node_of("a", taints=taint), node_of("b", pods="0"), node_of("c", cordoned=True))
    assert problem(state, pod_of()) == (
        "1 of 3 nodes has the taint k=v:NoSchedule;"
        " 1 of 3 nodes has the taint node.kubernetes.io/unschedulable:NoSchedule; b lacks room for another pod"
    )
    assert problem(state_of(), pod_of()) == "there are no nodes"
    # A node that runs more pods than it may is farther away.
    nodes, running = [node_of("a", pods="1"), node_of("b", pods="1")], [pod_of("x", {}, name) for name in "aab"]
    assert problem(state_of(*nodes, pods=running), pod_of()) == "b lacks room for another pod"


def test_problem_of_affinity_and_spread() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    lonely = pod_of(affinity={"podAffinity": {REQUIRED: [term]}})
    state = state_of(node_of("a"), node_of("b"), pods=[pod_of("w", node="a", labels={"app": "web"})])
    assert problem(state, lonely) == "a lacks pods that it must run beside"
    spread = {"labelSelector": {"matchLabels": {"app": "web"}}, "maxSkew": 1, "topologyKey": "zone"}
    assert problem(state, pod_of(topologySpreadConstraints=[spread])) == "a lacks the label zone of its topology spread"
    crowded = pod_of(
        requests={"cpu": "4"},
        labels={"app": "web"},
        topologySpreadConstraints=[{**spread, "topologyKey": "kubernetes.io/hostname"}],
    )
    held = state_of(node_of("a"), node_of("b", cpu="1"), pods=[pod_of("w", {}, "a", {"app": "web"})])
    assert problem(held, crowded) == "a lacks room to spread by kubernetes.io/hostname"


def test_new_vms_are_placed_in_order() -> None:
    requests = [PlacementRequest(name, "shop", pod_of(name, BIG)) for name in ("a", "b", "c")]
    result = simulate(
        [node_of("x"), node_of("y")],
        [],
        requests,
        samples=[PlacementRequest("small", "", pod_of()), PlacementRequest("none", "", "why")],
    )
    common = {"namespace": "shop", "evaluated": True}
    assert result["virtual_machines"] == [
        {"name": "a", **common, "fits": True, "node_count": 2, "nodes": ["x", "y"], "node": "x"},
        {"name": "b", **common, "fits": True, "node_count": 1, "nodes": ["y"], "node": "y"},
        {"name": "c", **common, "fits": False, "node_count": 0, "nodes": [], "problem": "x lacks 2 of cpu"},
    ]
    assert [(entry["name"], entry["fits"], entry["additional_vms"]) for entry in result["instancetypes"]] == [
        ("small", True, 2),
        ("none", False, 0),
    ]
    assert result["instancetypes"][1]["problem"] == "why"
    assert result["drained"] == []


def test_running_vms_have_a_migration_target() -> None:
    pods = [guest("web", "x"), guest("gone", "x")._replace(terminating=True), pod_of("other", node="y")]
    nodes = [node_of("x"), node_of("y")]
    for requests, fits in ((BIG, True), ({"cpu": "4"}, False)):
        moving = migration_target(guest("web", "x", requests), {})
        (result,) = simulate(nodes, pods, [PlacementRequest("web", "shop", moving, "x")])["virtual_machines"]
        assert (result["fits"], result["node"], result["migration"]["fits"]) == (True, "x", fits)
        assert result["migration"]["nodes"] == (["y"] if fits else [])
        assert ("problem" in result["migration"]) is not fits


def test_guests_of_a_drained_node_move_first() -> None:
    pods = [guest("web", "x"), guest("db", "x"), pod_of("plain", node="x"), guest("far", "z", {"cpu": "1"})]
    nodes = [node_of("x", cordoned=True, cpu="16"), node_of("y"), node_of("z")]
    result = simulate(nodes, pods, [PlacementRequest("new", "shop", pod_of("new", BIG))], drained=["x"])
    common = {"namespace": "shop", "node": "x", "fits": True}
    assert result["drained"] == [
        {"name": "web", **common, "node_count": 2, "nodes": ["y", "z"], "target": "y"},
        {"name": "db", **common, "node_count": 1, "nodes": ["z"], "target": "z"},
    ]
    assert result["virtual_machines"][0]["fits"] is False
    more = simulate(nodes, [*pods, guest("third", "x")], [], drained=["x"])["drained"][2]
    assert (more["fits"], more["problem"]) == (
        False,
        "1 of 3 nodes has the taint node.kubernetes.io/unschedulable:NoSchedule; y lacks 2 of cpu",
    )


def test_problem_names_another_node_than_the_source() -> None:
    running = guest("web", "x")
    moving = PlacementRequest("web", "shop", migration_target(running, {}), "x")
    # The source has room, were it not for the guest itself; the other one lacks all of the request.
    nodes = [node_of("x", cpu="16"), node_of("y", cpu="0", memory="0")]
    result = simulate(nodes, [running], [moving], drained=["x"])
    lacks = "y lacks 3 of cpu and 3Gi of memory"
    assert [result["drained"][0]["problem"], result["virtual_machines"][0]["migration"]["problem"]] == [lacks, lacks]
    (alone,) = simulate(nodes[:1], [running], [moving])["virtual_machines"]
    assert alone["migration"]["problem"] == "x lacks distance from other pods"


def test_guest_migrates_to_a_matching_cpu() -> None:
    labels = {"cpu-vendor.node.kubevirt.io/AMD": "true", "host-model-cpu.node.kubevirt.io/EPYC": "true"}
    obsolete = {"key": "node-labeller.kubevirt.io/obsolete-host-model", "operator": "DoesNotExist"}
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [obsolete]}]}}}
    moved = migration_target(guest("web", "x", affinity=affinity), labels)
    assert moved.node_selector == {
        "cpu-vendor.node.kubevirt.io/AMD": "true",
        "cpu-model-migration.node.kubevirt.io/EPYC": "true",
    }
    assert migration_target(guest("web", "x"), labels).node_selector == {"cpu-vendor.node.kubevirt.io/AMD": "true"}
    assert moved.node == ""
