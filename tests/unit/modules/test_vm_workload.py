"""The options workload and size of virtual_machine: what is chosen, kept, and refused."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from workload_cluster import PREFERENCES, SOURCES, TYPES, VMS, data_source, declared, named, store

from scripted_server import forbidden

Run = Callable[..., dict[str, Any]]
Manifest = dict[str, Any]

ANNOTATION = "instancetypes.virtshape.io/workload"
FEDORA = {"name": "fedora", "kind": "VirtualMachineClusterPreference"}


def existing(**size: Any) -> Manifest:
    record = {
        "workload": "fedora",
        "size": size,
        "boot": {"data_source": "golden/fedora"},
        "preference": FEDORA,
        "instancetype": named("u1.small"),
        "reasons": ["it was the smallest"],
        "others": {"instancetype": ["u1.large"]},
    }
    return {
        "metadata": {"name": "web", "namespace": "shop", "uid": "1", "annotations": {ANNOTATION: json.dumps(record)}},
        "spec": {"runStrategy": "Always", "template": {"spec": {"domain": {"devices": {}}}}},
    }


def test_many_vms_read_the_cluster_once(run: Run) -> None:
    cluster = store()
    entries = [{"name": "a"}, {"name": "b"}, {"name": "c", "size": "large"}, {"name": "d", "instancetype": "u1.x"}]
    options = {"namespace": "shop", "preflight": "off", "workload": "fedora"}
    result = run("virtual_machine", cluster, **options, virtual_machines=entries)
    sizes = [item.get("choice", {}).get("instancetype", {}).get("name") for item in result["results"]]
    assert sizes == ["u1.small", "u1.small", "u1.large", None]
    assert [cluster.asked.count(("GET", path)) for path in (TYPES, PREFERENCES, SOURCES)] == [1, 1, 1]


def test_own_disk_needs_no_data_sources(run: Run) -> None:
    cluster = store(**{SOURCES: []})
    result = declared(run, cluster, workload="fedora", boot={"container_disk": "quay.io/fedora"})
    assert "boot" not in result["result"]["choice"] and not result["warnings"]
    assert ("GET", SOURCES) not in cluster.asked


@pytest.mark.parametrize("options", [{}, {"size": "small"}], ids=str)
def test_existing_vm_keeps_choice_without_catalog_reads(run: Run, options: Manifest) -> None:
    cluster = store(existing(name="small"), **{TYPES: [], PREFERENCES: [], SOURCES: []})
    choice = declared(run, cluster, workload="fedora", **options)["result"]["choice"]
    assert choice["instancetype"] == named("u1.small") and choice["others"] == {"instancetype": ["u1.large"]}
    assert choice["reasons"] == ["the VM keeps what was chosen for it", "it was the smallest"]
    assert ("GET", TYPES) not in cluster.asked


def test_live_vms_are_read_once(run: Run) -> None:
    cluster = store(existing())
    declared(run, cluster, check=True, workload="fedora", server_dry_run=False)
    assert cluster.asked.count(("GET", f"{VMS}/web")) == 1
    entries = [{"name": "web", "workload": "fedora"}, {"name": "other", "instancetype": "u1.small"}, {"name": "third"}]
    cluster = store(existing())
    options = {"namespace": "shop", "preflight": "off", "server_dry_run": False, "virtual_machines": entries}
    run("virtual_machine", cluster, check=True, **options)
    assert cluster.asked.count(("GET", VMS)) == 1


def test_without_rights_for_all_data_sources(run: Run) -> None:
    cluster = store(
        **{"/apis/cdi.kubevirt.io/v1beta1/namespaces/shop/datasources": [data_source("shop", "my", "fedora")]}
    )
    cluster.answers["GET", "v1beta1/datasources"] = forbidden("datasources")
    choice = declared(run, cluster, workload="fedora")["result"]["choice"]
    assert choice["boot"] == {"data_source": "shop/my"}
    assert choice["reasons"][-1] == (
        "only the DataSources of the VM's namespace count, because you may not list the others"
    )


@pytest.mark.parametrize(
    ("live", "options", "error"),
    [
        ([], {"workload": "fedroa"}, "workload: no preference and no DataSource is named 'fedroa'"),
        ([], {"workload": "rhel.9"}, "boot: no DataSource has the default preference rhel.9; there are golden/fedora"),
        ([], {"workload": "fedora", "size": "huge"}, "size: the class general.purpose has no size 'huge'"),
        ([], {"size": "huge"}, "size: requires workload"),
        ([existing()], {"workload": "rhel.9"}, "workload: the VM was created for fedora, and keeps its disk"),
        (
            [{**existing(), "metadata": {"name": "web", "namespace": "shop"}}],
            {"workload": "fedora"},
            "workload: the VM exists, and was not declared with a workload",
        ),
        (
            [{**existing(), "metadata": {"name": "web", "annotations": {ANNOTATION: "[]"}}}],
            {"workload": "fedora"},
            f"metadata.annotations[{ANNOTATION}]: is not what this collection wrote",
        ),
        ([], {"workload": "fedora", "instancetype": "u1.small"}, "mutually exclusive: workload|instancetype"),
        ([], {"workload": "fedora", "preference": "fedora"}, "mutually exclusive: workload|preference"),
        ([], {"workload": "fedora", "memory": "1Gi"}, "mutually exclusive: workload|memory"),
    ],
)
def test_refusals_send_nothing(run: Run, live: list[Manifest], options: Manifest, error: str) -> None:
    cluster = store(*live)
    result = declared(run, cluster, **options)
    assert result["failed"] and error in result["msg"] and not cluster.writes


def test_refusal_stops_the_whole_task(run: Run) -> None:
    live = {**existing(), "status": {"printableStatus": "Running"}}
    other = {**live, "metadata": {"name": "other", "namespace": "shop", "uid": "2"}}
    cluster = store(live, other)
    entries = [{"name": "web", "workload": "rhel.9"}, {"name": "other", "run_strategy": "Halted"}]
    result = run(
        "virtual_machine",
        cluster,
        namespace="shop",
        virtual_machines=entries,
        results_on_failure="all",
        preflight="off",
    )
    refused, skipped = result["results"]
    assert "the VM was created for fedora" in refused["msg"] and not cluster.writes
    assert result["msg"].endswith("; 1 not sent")
    assert skipped["skip_reason"] == "not sent because other entries are invalid"
    assert not {"status", "restart_required"} & {*refused, *skipped}


def test_check_mode_warns_of_a_missing_preference(run: Run) -> None:
    cluster = store(**{PREFERENCES: [], SOURCES: []})
    result = declared(run, cluster, check=True, workload="fedora", server_dry_run=False)
    assert result["changed"] and "choice" not in result["result"]
    assert any(text.startswith("shop/web: workload: no preference") for text in result["warnings"])
    result = declared(run, store(), check=True, workload="fedora", size="huge")
    assert result["failed"]
