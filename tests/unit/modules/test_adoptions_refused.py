"""Adoption over a connection that is cut, and of many VMs that no instancetype fits."""

from halted_vms import TYPES, store, vm

from scripted_server import Run, Store


def test_a_connection_that_is_cut(run: Run) -> None:
    cut = run("virtual_machine_adopt", Store({}, {("GET", "/virtualmachines"): None}), namespace="shop")
    assert cut["msg"].startswith("cannot reach the API server http://127.0.0.1:")


def test_five_refused_adoptions_have_their_nearest_match(run: Run) -> None:
    many = store(*(vm(name) for name in "abcdefg"))
    small = {"metadata": {"name": "small"}, "spec": {"cpu": {"guest": 1}, "memory": {"guest": "4Gi"}}}
    many.lists[f"{TYPES}/virtualmachineclusterinstancetypes"] = [small]
    planned = run("virtual_machine_adopt", many, check=True, namespace="shop")
    assert planned["msg"].endswith("7 cannot be adopted")
    refused = run("virtual_machine_adopt", many, namespace="shop")
    assert refused["msg"].startswith("7 of 7 virtual machines failed: shop/a, shop/b, ")
    assert " and 2 more: no instancetype has " in refused["msg"]
    assert refused["msg"].count("the nearest match is small: differs in ") == 1
    assert many.writes == []
