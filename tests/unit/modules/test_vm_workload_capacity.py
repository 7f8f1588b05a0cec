"""A workload gets the smallest instancetype that runs."""

from collections.abc import Callable
from typing import Any

from workload_cluster import TYPES, declared, instancetype, named, store

from scripted_server import Store

Run = Callable[..., dict[str, Any]]

Manifest = dict[str, Any]


def capacity(**lists: Any) -> Store:
    """A node with 16Gi, and a namespace with a quota of 1Gi; the smallest instancetype wants another node."""
    picky = instancetype("u1.small", 1, "2Gi")
    picky["spec"]["nodeSelector"] = {"disk": "fast"}
    labels = {"kubernetes.io/arch": "amd64", "kubevirt.io/schedulable": "true"}
    machine = {"machine-type.node.kubevirt.io/q35": "true"}
    devices = {f"devices.kubevirt.io/{name}": "1k" for name in ("kvm", "tun", "vhost-net")}
    amounts = {"cpu": "8", "memory": "16Gi", "ephemeral-storage": "100G", "pods": "110", **devices}
    node = {"metadata": {"name": "x", "labels": {**labels, **machine}}, "status": {"allocatable": amounts}}
    quota = {
        "metadata": {"name": "team", "namespace": "shop"},
        "spec": {"hard": {"requests.memory": "1Gi"}},
        "status": {},
    }
    empty = (
        "/api/v1/pods",
        "/api/v1/persistentvolumeclaims",
        "/api/v1/persistentvolumes",
        "/apis/storage.k8s.io/v1/storageclasses",
        "/api/v1/namespaces/shop/limitranges",
        "/api/v1/namespaces/shop/pods",
        "/apis/kubevirt.io/v1/namespaces/shop/virtualmachineinstances",
    )
    return store(
        **{
            **{path: [] for path in empty},
            TYPES: [picky, instancetype("u1.large", 2, "8Gi")],
            "/api/v1/namespaces": [{"metadata": {"name": "shop"}}],
            "/api/v1/namespaces/shop/resourcequotas": [quota],
            "/api/v1/nodes": [node],
            **lists,
        }
    )


def test_smallest_instancetype_that_some_node_lets_run(run: Run) -> None:
    options = {"workload": "fedora", "preflight_placement": "strict"}
    result = declared(run, capacity(), **options)["result"]
    assert result["choice"]["instancetype"] == named("u1.large") and result["will_run"]["fits"]
    assert "node" in result["choice"]["rejected"]["u1.small"]
    assert declared(run, capacity(), workload="fedora")["result"]["choice"]["instancetype"] == named("u1.small")


def test_quota_that_lets_none_run(run: Run) -> None:
    cluster = capacity()
    result = declared(run, cluster, workload="fedora", preflight_quota="strict")
    assert (
        result["failed"]
        and result["msg"].startswith("preflight_quota: shop/web: ResourceQuota team")
        and not cluster.writes
    )
    result = declared(run, capacity(), workload="fedora", preflight_quota="warn")
    assert result["changed"] and result["result"]["choice"]["instancetype"] == named("u1.small")
