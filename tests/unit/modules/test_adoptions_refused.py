"""Adoption of VMs that cannot be read, or that no instancetype fits."""

from halted_vms import TYPES, store, vm

from scripted_server import Run, Store, forbidden


def test_adoption_of_vms_that_may_not_be_listed(run: Run) -> None:
    denied = Store({}, {("GET", "/virtualmachines"): forbidden("virtualmachines")})
    refused = run("virtual_machine_adopt", denied, namespace="shop")
    assert 'grant {apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], verbs: ["list"]}' in refused["msg"]
    cut = run("virtual_machine_adopt", Store({}, {("GET", "/virtualmachines"): None}), namespace="shop")
    assert cut["msg"].startswith("cannot reach the API server http://127.0.0.1:")


def test_adoption_needs_a_namespace_and_existing_vms(run: Run) -> None:
    assert run("virtual_machine_adopt", store(vm("a")), names=["a"])["msg"] == "namespace: required with names"
    missing = run("virtual_machine_adopt", store(vm("a")), names=["a", "b", "c"], namespace="shop")
    assert missing["msg"] == "names: no such virtual machine in shop: b, c"


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


def test_adoption_fails_without_the_right_to_list_guests(run: Run) -> None:
    denied = store(vm("a"))
    denied.answers["GET", "/virtualmachineinstances"] = forbidden("virtualmachineinstances")
    refused = run("virtual_machine_adopt", denied, namespace="shop")
    assert 'resources: ["virtualmachineinstances"], verbs: ["list"]' in refused["msg"]
    nothing = run("virtual_machine_adopt", store(vm("a")), namespace="shop", instancetypes=["smal*"])
    message = "instancetypes: no instancetype that the namespace shop can use matches 'smal*'"
    assert (nothing["failed"], nothing["msg"]) == (True, message)
