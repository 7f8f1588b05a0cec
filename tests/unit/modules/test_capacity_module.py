"""capacity_info on a scripted cluster: what quotas and nodes say together."""

from capacity_cluster import SPACE, Manifest, Run, launcher, store, vm

from scripted_server import forbidden

TEAM: Manifest = {"metadata": {"name": "team", "namespace": "shop"}, "spec": {"hard": {"requests.memory": "6Gi"}}}


def test_vm_fits_if_quotas_and_nodes_permit(run: Run) -> None:
    result = run("capacity_info", store(vm("a"), vm("b"), vm("c"), nodes="x", quotas=[TEAM]), namespace="shop")
    assert (result["changed"], result["fits"], result["warnings"]) == (False, False, [])
    first, second, third = result["virtual_machines"]
    assert (first["fits"], first["problem"], first["placement"]["node"]) == (True, "", "x")
    assert second["placement"]["fits"] and not second["quota"]["fits"]
    assert (second["evaluated"], second["fits"], second["problem"]) == (True, False, second["quota"]["problem"])
    assert third["problem"] == f"{third['quota']['problem']}; {third['placement']['problem']}"
    assert (result["quotas"][0]["name"], result["drained"], result["instancetypes"]) == ("team", [], [])


def test_only_objects_of_requested_checks_are_read(run: Run) -> None:
    cluster = store(vm("a"), nodes="x")
    cluster.answers["GET", "/api/v1/nodes"] = forbidden("nodes")
    (item,) = run("capacity_info", cluster, namespace="shop", checks=["quota"])["virtual_machines"]
    assert item["fits"] and "placement" not in item
    cluster = store(vm("a"), nodes="x")
    cluster.answers["GET", f"{SPACE}/limitranges"] = forbidden("limitranges")
    (item,) = run("capacity_info", cluster, namespace="shop", checks=["placement"])["virtual_machines"]
    assert item["fits"] and "quota" not in item
    assert run("capacity_info", cluster, checks=[])["msg"] == "checks: is empty; name quota, placement or both"


def test_running_option_decides_the_needed_room(run: Run) -> None:
    fitting = {("keep", "x"): True, ("migrate", "x"): False, ("migrate", "xy"): True, ("restart", "x"): True}
    for (running, nodes), fits in fitting.items():
        cluster = store(vm("a"), nodes=nodes, pods=[launcher("a")])
        result = run("capacity_info", cluster, namespace="shop", running=running)
        (item,) = result["virtual_machines"]
        assert (result["fits"], item["fits"], item["evaluated"]) == (fits, fits, True), running
        assert bool(item["problem"]) is not fits
        assert ("migration" in item["placement"]) is (running != "restart")
