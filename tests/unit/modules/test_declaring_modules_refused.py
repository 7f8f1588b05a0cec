"""Modules that declare many objects: how many mistakes a message spells out, and what is said where VMs are unknown."""

from scripted_server import VMIS, VMS, Manifest, Run, Store, forbidden, status

TYPES = "/apis/instancetype.kubevirt.io/v1beta1/namespaces/shop"
SIZES = f"{TYPES}/virtualmachineinstancetypes"
RULE = '{apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], verbs: ["list"]}'
RIGHT = f"grant {RULE} in a Role of the namespace shop"
ENTRY = {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}}


def size(name: str, guest: int = 1) -> Manifest:
    owned = {"f:spec": {"f:cpu": {"f:guest": {}}, "f:memory": {"f:guest": {}}}}
    ours = {"manager": "virtshape", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": owned}
    metadata = {"name": name, "namespace": "shop", "uid": name, "generation": 3, "managedFields": [ours]}
    spec = {"cpu": {"guest": guest}, "memory": {"guest": "4Gi"}}
    return {"kind": "VirtualMachineInstancetype", "metadata": metadata, "spec": spec}


def user(name: str) -> Manifest:
    matcher = {"name": "small", "kind": "VirtualMachineInstancetype"}
    metadata = {"name": name, "namespace": "shop", "uid": name, "generation": 1}
    return {
        "metadata": metadata,
        "spec": {"instancetype": matcher, "runStrategy": "Halted", "template": {"spec": {}}},
        "status": {},
    }


def test_a_message_names_five_invalid_entries(run: Run) -> None:
    store = Store({})
    wrong = [{"name": f"n{number}", "namespace": "shop", "cpus": 2} for number in range(7)]
    refused = run("instancetype", store, instancetypes=wrong)
    result = refused["msg"].split("; instancetypes[")
    assert result[0].startswith("instancetypes[0] (shop/n0): cpus: unknown option; did you mean cpu.guest?")
    assert (len(result), store.asked) == (5, []) and result[-1].endswith("; and 2 more")


def test_a_message_names_five_failures(run: Run) -> None:
    store = Store({SIZES: []}, {("PATCH", ""): status(422, "not today", "Invalid")})
    refused = run("instancetype", store, namespace="shop", instancetypes=[{"name": n, **ENTRY} for n in "abcdefg"])
    assert refused["msg"].startswith("7 of 7 instancetypes failed: shop/a, shop/b, ")
    assert refused["msg"].endswith("shop/e and 2 more: not today")


def test_duplicate_name_and_missing_namespace_are_refused(run: Run) -> None:
    entries = [{"name": "a", "namespace": "shop"}, {"name": "a", "namespace": "shop"}, {"name": "b"}]
    refused = run("virtual_machine", Store({}), virtual_machines=entries)
    assert "shop/a: name: entries 0 and 1 of virtual_machines" in refused["msg"]
    assert "b: namespace: required; set the namespace of the object" in refused["msg"]


def test_users_of_an_object_are_unknown(run: Run) -> None:
    store = Store({SIZES: [size("small")]})
    store.answers["GET", "/virtualmachines"] = forbidden("virtualmachines")
    output = run("instancetype", store, namespace="shop", name="small", check=True, **ENTRY)
    [warned] = output["result"]["warnings"]
    assert warned.startswith("cannot tell which virtual machines use the object: virtualmachines is forbidden")
    assert warned.endswith(RIGHT)


def test_deletion_needs_to_know_the_users(run: Run) -> None:
    store = Store({SIZES: [size("small")]})
    gone = {"namespace": "shop", "name": "small", "state": "absent"}
    store.answers["GET", "/virtualmachines"] = forbidden("virtualmachines")
    refused = run("instancetype", store, **gone)
    assert refused["msg"].startswith("shop/small: cannot tell whether virtual machines use the object: ")
    assert refused["msg"].endswith(f"{RIGHT}; set force to delete it anyway")
    assert store.writes == []
    assert run("instancetype", store, **gone, force=True)["changed"]
    assert store.writes == [("DELETE", f"{SIZES}/small")]


def test_needs_is_unknown_if_guests_are_unreadable(run: Run) -> None:
    entry = {"name": "a", "namespace": "shop", "run_strategy": "Always", "preflight": "off"}
    store = Store({VMS: [user("a")], SIZES: [size("small")], VMIS: []})
    existing = run("virtual_machine", store, check=True, **entry)
    assert existing["result"]["needs"] != "unknown"
    store.answers["GET", "/virtualmachineinstances/a"] = forbidden("virtualmachineinstances")
    unknown = run("virtual_machine", store, check=True, **entry)
    assert (unknown["result"]["needs"], unknown["result"]["changes"]) == ("unknown", [])
    assert not unknown.get("failed")
