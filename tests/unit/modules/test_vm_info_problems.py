"""virtual_machine_info: which VMs are returned, and why the resources of one are unknown."""

from typing import Any

from listed_vms import sized, store, vm

from scripted_server import Manifest, Run, Store


def message(run: Run, cluster: Store, **options: Any) -> list[str]:
    return [
        item["name"] for item in run("virtual_machine_info", cluster, namespace="shop", **options)["virtual_machines"]
    ]


def test_filters_can_be_combined(run: Run) -> None:
    running = vm("b", None, "RestartRequired")
    running["spec"]["runStrategy"], running["status"]["created"] = "Always", True
    started: Manifest = {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}
    instance = {
        "metadata": {"name": "b", "namespace": "shop", "uid": "b"},
        "spec": started,
        "status": {"phase": "Running"},
    }
    cluster = store(vm("a", sized("small"), "RestartRequired"), running, vm("c"), instances=[instance])
    assert message(run, cluster) == ["a", "b", "c"]
    assert message(run, cluster, instancetype="small") == ["a"]
    assert message(run, cluster, instancetype="small", preference="linux") == []
    assert message(run, cluster, restart_required=True) == ["b"]
    assert message(run, cluster, restart_required=False, drifted=False) == ["a", "c"]


def test_no_further_requests_without_matching_vms(run: Run) -> None:
    cluster = store(vm("a"))
    assert message(run, cluster, instancetype="small") == []
    assert not any(path.endswith("virtualmachineinstances") for _method, path in cluster.asked)
