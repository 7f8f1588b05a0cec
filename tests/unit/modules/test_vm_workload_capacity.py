"""A workload gets the smallest instancetype that runs."""

from capacity_cluster import SPACE, VMIS, Manifest, Run, node, placement_lists
from workload_cluster import TYPES, declared, instancetype, named, store

from scripted_server import Store


def capacity() -> Store:
    """A node with 16Gi, and a namespace with a quota of 1Gi; the smallest instancetype wants another node."""
    picky = instancetype("u1.small", 1, "2Gi")
    picky["spec"]["nodeSelector"] = {"disk": "fast"}
    quota: Manifest = {"metadata": {"name": "team", "namespace": "shop"}, "spec": {"hard": {"requests.memory": "1Gi"}}}
    lists = {
        **{path: [] for path in (f"{SPACE}/limitranges", f"{SPACE}/pods", VMIS)},
        f"{SPACE}/resourcequotas": [quota],
        TYPES: [picky, instancetype("u1.large", 2, "8Gi")],
        **placement_lists(node(memory="16Gi")),
    }
    return store(**lists)


def test_smallest_instancetype_that_some_node_lets_run(run: Run) -> None:
    options = {"workload": "fedora", "preflight_placement": "strict"}
    result = declared(run, capacity(), **options)["result"]
    assert result["choice"]["instancetype"] == named("u1.large") and result["will_run"]["fits"]
    assert "node" in result["choice"]["rejected"]["u1.small"]
    assert declared(run, capacity(), workload="fedora")["result"]["choice"]["instancetype"] == named("u1.small")


def test_quota_that_lets_none_run(run: Run) -> None:
    cluster = capacity()
    result = declared(run, cluster, workload="fedora", preflight_quota="strict")
    assert result["failed"] and not cluster.writes
    assert result["msg"].startswith("preflight_quota: shop/web: ResourceQuota team")
    result = declared(run, capacity(), workload="fedora", preflight_quota="warn")
    assert result["changed"] and result["result"]["choice"]["instancetype"] == named("u1.small")
