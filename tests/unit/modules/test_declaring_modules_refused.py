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


def user(name: str, captured: str = "") -> Manifest:
    kind = "VirtualMachineInstancetype"
    spec: Manifest = {
        "instancetype": {"name": "small", "kind": kind},
        "runStrategy": "Halted",
        "template": {"spec": {}},
    }
    status = {"instancetypeRef": {"name": "small", "kind": kind, "controllerRevisionRef": {"name": captured}}}
    metadata = {"name": name, "namespace": "shop", "uid": name, "generation": 1}
    return {"metadata": metadata, "spec": spec, "status": status if captured else {}}


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


def test_warnings_name_the_vms_that_will_drift(run: Run) -> None:
    store = Store({SIZES: [size("small")], VMS: [user("a"), user("b", "b-small-1")]})
    output = run("instancetype", store, namespace="shop", name="small", check=True, **ENTRY)
    assert output["result"]["warnings"] == [
        "1 virtual machine (shop/b) will drift: they keep their captured revision until they are refreshed"
    ]
    store.lists[VMS] = [user("a")]
    assert "warnings" not in run("instancetype", store, namespace="shop", name="small", check=True, **ENTRY)["result"]
    store.answers["GET", "/virtualmachines"] = forbidden("virtualmachines")
    output = run("instancetype", store, namespace="shop", name="small", check=True, **ENTRY)
    [warned] = output["result"]["warnings"]
    assert warned.startswith("cannot tell which virtual machines use the object: virtualmachines is forbidden")
    assert warned.endswith(RIGHT)


def test_objects_of_a_catalog_have_a_warning(run: Run) -> None:
    small = size("small")
    small["metadata"]["labels"] = {"instancetypes.virtshape.io/catalog": "ours"}
    store = Store({SIZES: [small], VMS: []})
    output = run("instancetype", store, namespace="shop", name="small", check=True, **ENTRY)
    text = "the object belongs to the catalog ours, whose next task changes it back; declare another name"
    assert output["result"]["warnings"] == [text]


def test_used_objects_are_deleted_by_force_only(run: Run) -> None:
    store = Store({SIZES: [size("small")], VMS: [user("a")]})
    gone = {"namespace": "shop", "name": "small", "state": "absent"}
    used = (
        "in use by 1 virtual machine (shop/a); move them to another object first, or set force to delete the object"
        " anyway"
    )
    assert run("instancetype", store, **gone)["msg"] == f"shop/small: {used}"
    store.answers["GET", "/virtualmachines"] = forbidden("virtualmachines")
    refused = run("instancetype", store, **gone)
    assert refused["msg"].startswith("shop/small: cannot tell whether virtual machines use the object: ")
    assert refused["msg"].endswith(f"{RIGHT}; set force to delete it anyway")
    assert store.writes == []
    assert run("instancetype", store, **gone, force=True)["changed"]
    assert store.writes == [("DELETE", f"{SIZES}/small")]


def test_deletion_skips_missing_and_foreign_objects(run: Run) -> None:
    store = Store({SIZES: [{**size("small"), "metadata": {"name": "small", "namespace": "shop", "generation": 1}}]})
    assert run("instancetype", store, namespace="shop", name="none", state="absent")["msg"].endswith("1 unchanged")
    output = run("instancetype", store, namespace="shop", name="small", existing="keep", **ENTRY)
    assert output["result"]["skip_reason"] == "the object exists and was not declared by this collection"
    assert (output["changed"], store.writes) == (False, [])


def test_needs_is_unknown_if_guests_are_unreadable(run: Run) -> None:
    entry = {"name": "a", "namespace": "shop", "run_strategy": "Always", "preflight": "off"}
    store = Store({VMS: [user("a")], SIZES: [size("small")], VMIS: []})
    existing = run("virtual_machine", store, check=True, **entry)
    assert existing["result"]["needs"] != "unknown"
    store.answers["GET", "/virtualmachineinstances/a"] = forbidden("virtualmachineinstances")
    unknown = run("virtual_machine", store, check=True, **entry)
    assert (unknown["result"]["needs"], unknown["result"]["changes"]) == ("unknown", [])
    assert not unknown.get("failed")
