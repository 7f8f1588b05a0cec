"""The life of an instancetype from active to obsolete, as its catalog, its VMs and their owners see it."""

import json
from typing import Any

from modules_support import Task, objects, vm, warned

PREFIX = "instancetypes.virtshape.io"
DEPRECATED = {"replacement": "m.large", "obsolete_from": "2027-03-31"}


def catalog(**state: Any) -> dict[str, Any]:
    sizes = {"small": {"cpu": 1, "memory": "2Gi", **state}, "large": {"cpu": 2, "memory": "4Gi"}}
    return {
        "series": {"m": {"sizes": sizes}},
        "families": {"f": {"preferences": {"any": {"requires": {"cpu": 1}}}}},
    }


def test_the_life_of_an_instancetype(task: Task, shop: str, api: Any) -> None:
    def deploy(**state: Any) -> dict[str, Any]:
        definitions = [catalog(**state)]
        return task("catalog", source="definitions", definitions=definitions, namespaces=[shop], catalog=shop)

    def declare(name: str, instancetype: str = "m.small", **options: Any) -> dict[str, Any]:
        machine = {**vm(name, instancetype), "run_strategy": "Halted", **options}
        return task.outcome("virtual_machine", **machine)

    kind = objects(api, "VirtualMachineInstancetype")
    made = deploy()
    assert (made["deprecated_objects"], warned(made)) == ([], [])
    assert warned(declare("first")) == []

    # Deprecated: every VM may have it still, and its owner hears what comes instead.
    [state] = deploy(deprecated=DEPRECATED)["deprecated_objects"]
    assert (state["name"], state["state"], state["problems"]) == ("m.small", "deprecated", [])
    assert {"field": "domain.memory.guest", "before": "2Gi", "after": "4Gi"} in state["changes"]
    metadata = kind.get("m.small", shop).to_dict()["metadata"]
    assert metadata["labels"]["instancetype.kubevirt.io/deprecated"] == "true"
    assert metadata["labels"][f"{PREFIX}/state"] == "deprecated"
    assert metadata["annotations"][f"{PREFIX}/replacement"] == "m.large"
    assert metadata["annotations"][f"{PREFIX}/obsolete-from"] == "2027-03-31"
    assert deploy(deprecated=DEPRECATED)["changed"] is False
    two = [{**vm(name, "m.small"), "run_strategy": "Halted"} for name in ("second", "third")]
    both = task("virtual_machine", virtual_machines=two)
    [warning] = warned(both)
    assert warning.endswith("spec.instancetype.name: m.small is deprecated (obsolete from 2027-03-31); use m.large")
    assert ("second" in warning, "third" in warning, both["changed"]) == (True, True, True)
    assert warned(task("virtual_machine", virtual_machines=two)) == []

    # Obsolete: no other VM gets it.
    [state] = deploy(obsolete={"replacement": "m.large"})["deprecated_objects"]
    assert (state["state"], state["obsolete_from"]) == ("obsolete", "")
    assert f"{PREFIX}/obsolete-from" not in kind.get("m.small", shop).to_dict()["metadata"]["annotations"]
    refused = declare("fourth")
    text = "m.small is obsolete, so only VMs that already have it may use it; use m.large"
    assert f"spec.instancetype.name: {text}" in refused["msg"]
    assert text in task.refused("virtual_machine", check=True, **vm("fourth", "m.small"))["msg"]
    machines = objects(api, "VirtualMachine")
    assert [item.metadata.name for item in machines.get(namespace=shop).items] == ["first", "second", "third"]
    assert text in str(warned(declare("fourth", preflight="warn")))
    # The VMs that have it keep it, also when something else of them changes.
    kept = declare("first", labels={"team": "a"})
    assert (kept["changed"], warned(kept)) == (True, [])
    assert declare("third", "m.large")["changed"] is True
    assert text in declare("third")["msg"]
    matches = task("virtual_machine_info")["virtual_machines"]
    states = {entry["name"]: entry["instancetype"]["object_state"] for entry in matches}
    assert states == {"first": "obsolete", "second": "obsolete", "third": "active", "fourth": "obsolete"}
    read = {"namespace": shop, "scope": "namespaced", "names": ["m.small"], "used_by": True}
    [small] = task("catalog_info", **read)["instancetypes"]
    assert (small["state"], small["replacement"], small["deprecated"]) == ("obsolete", "m.large", True)
    assert sorted(small["used_by"]) == [f"{shop}/{name}" for name in ("first", "fourth", "second")]

    # Active again: nothing of a state remains.
    assert deploy()["deprecated_objects"] == []
    metadata = kind.get("m.small", shop).to_dict()["metadata"]
    assert "deprecated" not in json.dumps(metadata["labels"]) and PREFIX not in json.dumps(metadata.get("annotations"))
    assert declare("fifth").get("failed") is not True


def test_a_missing_replacement_is_a_warning(task: Task, shop: str) -> None:
    options = {"source": "definitions", "namespaces": [shop], "catalog": shop}
    made = task("catalog", definitions=[catalog(deprecated={"replacement": "m.huge"})], **options)
    [warning] = warned(made)
    assert warning == "instancetype m.small: the replacement m.huge does not exist; add it, or name another object"
    # One of the cluster does.
    made = task("catalog", definitions=[catalog(deprecated={"replacement": "medium"})], **options)
    assert (warned(made), made["deprecated_objects"][0]["problems"]) == ([], [])


def test_a_module_declares_a_state(task: Task, shop: str) -> None:
    size = {"cpu": {"guest": 1}, "memory": {"guest": "512Mi"}, "name": "tiny", "namespace": shop}
    state = {"replacement": "small", "obsolete_from": "2027-03-31"}
    assert task("instancetype", deprecated=state, **size)["changed"] is True
    assert task("instancetype", deprecated=state, **size)["changed"] is False
    [tiny] = task("catalog_info", scope="namespaced", names=["tiny"])["instancetypes"]
    assert {key: tiny[key] for key in ("state", *state)} == {"state": "deprecated", **state}
    # An entry's own state replaces that of the task.
    size.pop("name")
    listed = [{"name": "tiny", "obsolete": {}}]
    assert task("instancetype", deprecated=state, instancetypes=listed, **size)["changed"] is True
    [tiny] = task("catalog_info", scope="namespaced", names=["tiny"])["instancetypes"]
    assert (tiny["state"], tiny["replacement"]) == ("obsolete", "")
    wrong = task.refused("preference", name="linux", deprecated={"obsolete_from": "tomorrow"})
    assert "deprecated.obsolete_from: 'tomorrow' is not a date; write a day such as 2027-03-31" in wrong["msg"]
