"""virtual_machine_info: requests that it does without."""

from listed_vms import store, vm

from scripted_server import Run


def test_no_further_requests_without_matching_vms(run: Run) -> None:
    cluster = store(vm("a"))
    assert run("virtual_machine_info", cluster, namespace="shop", instancetype="small")["virtual_machines"] == []
    assert not any(path.endswith("virtualmachineinstances") for _method, path in cluster.asked)
