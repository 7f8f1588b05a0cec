"""The options preflight_quota and preflight_placement of virtual_machine: what fails a task before anything is sent."""

from typing import Any

import capacity_cluster
import pytest
from capacity_cluster import SPACE, Manifest, Run

from scripted_server import Store, forbidden

QUOTAS, NODES = f"{SPACE}/resourcequotas", "/api/v1/nodes"
VMS = "/apis/kubevirt.io/v1/namespaces/shop/virtualmachines"


def store(quota: str = "100Gi") -> Store:
    """A namespace with a quota of memory, and a node of 10Gi."""
    team = {"metadata": {"name": "team", "namespace": "shop"}, "spec": {"hard": {"requests.memory": quota}}}
    return capacity_cluster.store(nodes="x", quotas=[team])


def declared(run: Run, cluster: Store, *vms: Manifest, **options: Any) -> Manifest:
    return run("virtual_machine", cluster, namespace="shop", virtual_machines=list(vms), **options)


def vm(name: str, memory: str = "2Gi", **more: Any) -> Manifest:
    return {"name": name, "memory": memory, **more}


@pytest.mark.parametrize("options", [{}, {"preflight_quota": "off"}, {"preflight_placement": "off"}], ids=str)
def test_checks_are_off_by_default(run: Run, options: Manifest) -> None:
    cluster = store("1Gi")
    result = declared(run, cluster, vm("a"), **options)
    assert result["changed"] and "will_run" not in result["results"][0]
    assert not {("GET", QUOTAS), ("GET", NODES)} & set(cluster.asked)


def test_strict_fails_before_anything_is_sent(run: Run) -> None:
    cluster = store("1Gi")
    vms = [*map(vm, "abcdefg"), vm("off", run_strategy="Halted")]
    result = declared(run, cluster, *vms, preflight_quota="strict")
    assert result["failed"] and not result["changed"] and not cluster.writes + cluster.dry_runs
    assert result["msg"].startswith("preflight_quota: shop/a: ")
    assert result["msg"].endswith("; and 2 more. Nothing was sent")
    assert [(item["name"], item["action"], item["failed"]) for item in result["results"]] == [
        (name, "none", True) for name in "abcdefg"
    ]
    assert result["results"][0]["msg"] == result["results"][0]["will_run"]["problem"] != ""


def test_warn_reports_and_declares(run: Run) -> None:
    result = declared(run, store("1Gi"), vm("a", "20Gi"), preflight_quota="warn", preflight_placement="warn")
    quota, placement = result["warnings"][:2]
    assert quota.startswith("preflight_quota: shop/a: ") and placement.startswith("preflight_placement: shop/a: ")
    (item,) = result["results"]
    assert result["changed"] and (item["will_run"]["evaluated"], item["will_run"]["fits"]) == (True, False)
    # Both checks say why.
    assert "team" in item["will_run"]["problem"] and "; " in item["will_run"]["problem"]


def test_result_of_a_failed_vm_has_the_verdict(run: Run) -> None:
    cluster = store("1Gi")
    cluster.answers["PATCH", f"{VMS}/a"] = forbidden("virtualmachines")
    result = declared(run, cluster, vm("a", "20Gi"), preflight_quota="warn")
    (item,) = result["results"]
    assert result["failed"] and item["failed"] and not item["will_run"]["fits"]


def test_only_vms_that_will_run_are_judged(run: Run) -> None:
    cluster = store("3Gi")
    halted, absent = vm("halted", "20Gi", run_strategy="Halted"), {"name": "gone", "state": "absent"}
    result = declared(run, cluster, vm("a"), halted, absent, preflight_quota="strict", preflight_placement="strict")
    assert "failed" not in result
    assert [item["name"] for item in result["results"] if item.get("will_run", {}).get("fits")] == ["a"]


def test_vm_that_cannot_be_judged_gives_warning(run: Run) -> None:
    result = declared(run, store(), {"name": "a", "instancetype": "none"}, preflight_quota="strict", preflight="off")
    assert any(text.startswith("preflight_quota: shop/a: ") for text in result["warnings"])
    assert "Nothing was sent" not in result["msg"]


def test_strict_placement_check_fails_without_node_access(run: Run) -> None:
    cluster = store()
    cluster.answers["GET", NODES] = forbidden("nodes")
    result = declared(run, cluster, vm("a"), preflight_placement="strict")
    assert result["failed"] and not cluster.writes
    assert result["msg"].startswith("preflight_placement: ") and "nodes" in result["msg"]
    result = declared(run, cluster, vm("a"), preflight_placement="warn")
    assert result["changed"] and any("nodes" in text for text in result["warnings"])
