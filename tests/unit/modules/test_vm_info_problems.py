"""virtual_machine_info: which VMs are returned, and why the resources of one are unknown."""

from typing import Any

from listed_vms import store, vm

from scripted_server import Run, Store


def message(run: Run, cluster: Store, **options: Any) -> list[str]:
    return [
        item["name"] for item in run("virtual_machine_info", cluster, namespace="shop", **options)["virtual_machines"]
    ]


def test_no_further_requests_without_matching_vms(run: Run) -> None:
    cluster = store(vm("a"))
    assert message(run, cluster, instancetype="small") == []
    assert not any(path.endswith("virtualmachineinstances") for _method, path in cluster.asked)
