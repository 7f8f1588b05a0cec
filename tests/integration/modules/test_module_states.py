"""The life of an instancetype from active to obsolete, as its catalog, its VMs and their owners see it."""

import json
from collections.abc import Callable
from typing import Any

from modules_support import vm, warned

Run = Callable[..., dict[str, Any]]

PREFIX = "instancetypes.virtshape.io"
DEPRECATED = {"replacement": "m.large", "obsolete_from": "2027-03-31"}


def catalog(**state: Any) -> dict[str, Any]:
    sizes = {"small": {"cpu": 1, "memory": "2Gi", **state}, "large": {"cpu": 2, "memory": "4Gi"}}
    return {
        "series": {"m": {"sizes": sizes}},
        "families": {"f": {"preferences": {"any": {"requires": {"cpu": 1}}}}},
    }


def test_the_life_of_an_instancetype(run: Run, shop: str, api: Any) -> None:
    def deploy(**state: Any) -> dict[str, Any]:
        definitions = [catalog(**state)]
        result = run("catalog", source="definitions", definitions=definitions, namespaces=[shop], catalog=shop)
        assert not result.get("failed"), result["msg"]
        return result

    def declare(name: str, instancetype: str = "m.small", **options: Any) -> dict[str, Any]:
        machine = {**vm(name, instancetype), "run_strategy": "Halted", **options}
        return run("virtual_machine", namespace=shop, **machine)

    objects = api.resources.get(api_version="instancetype.kubevirt.io/v1beta1", kind="VirtualMachineInstancetype")
    made = deploy()
    assert (made["states"], warned(made)) == ([], [])
    assert warned(declare("first")) == []

    # Deprecated: every VM may have it still, and its owner hears what comes instead.
    [state] = deploy(deprecated=DEPRECATED)["states"]
    assert (state["name"], state["state"], state["problems"]) == ("m.small", "deprecated", [])
    assert {"field": "domain.memory.guest", "before": "2Gi", "after": "4Gi"} in state["changes"]
    metadata = objects.get("m.small", shop).to_dict()["metadata"]
    assert metadata["labels"]["instancetype.kubevirt.io/deprecated"] == "true"
    assert metadata["labels"][f"{PREFIX}/state"] == "deprecated"
    assert metadata["annotations"][f"{PREFIX}/replacement"] == "m.large"
    assert metadata["annotations"][f"{PREFIX}/obsolete-from"] == "2027-03-31"
    assert deploy(deprecated=DEPRECATED)["changed"] is False
    two = [{**vm(name, "m.small"), "run_strategy": "Halted"} for name in ("second", "third")]
    both = run("virtual_machine", namespace=shop, virtual_machines=two)
    [warning] = warned(both)
    assert warning.endswith("spec.instancetype.name: m.small is deprecated (obsolete from 2027-03-31); use m.large")
    assert ("second" in warning, "third" in warning, both["changed"]) == (True, True, True)
    assert warned(run("virtual_machine", namespace=shop, virtual_machines=two)) == []

    # Obsolete: no other VM gets it.
    [state] = deploy(obsolete={"replacement": "m.large"})["states"]
    assert (state["state"], state["obsolete_from"]) == ("obsolete", "")
    assert f"{PREFIX}/obsolete-from" not in objects.get("m.small", shop).to_dict()["metadata"]["annotations"]
    refused = declare("fourth")
    text = "m.small is obsolete, so only VMs that already have it may use it; use m.large"
    assert f"spec.instancetype.name: {text}" in refused["msg"]
    assert text in run("virtual_machine", namespace=shop, check=True, **vm("fourth", "m.small"))["msg"]
    machines = api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")
    assert [item.metadata.name for item in machines.get(namespace=shop).items] == ["first", "second", "third"]
    assert text in str(warned(declare("fourth", preflight="warn")))
    # The VMs that have it keep it, also when something else of them changes.
    kept = declare("first", labels={"team": "a"})
    assert (kept["changed"], warned(kept)) == (True, [])
    assert declare("third", "m.large")["changed"] is True
    assert text in declare("third")["msg"]
    matches = run("virtual_machine_info", namespace=shop)["virtual_machines"]
    states = {entry["name"]: entry["instancetype"]["object_state"] for entry in matches}
    assert states == {"first": "obsolete", "second": "obsolete", "third": "active", "fourth": "obsolete"}
    read = {"namespace": shop, "scope": "namespaced", "names": ["m.small"], "used_by": True}
    [small] = run("catalog_info", **read)["instancetypes"]
    assert (small["state"], small["replacement"], small["deprecated"]) == ("obsolete", "m.large", True)
    assert sorted(small["used_by"]) == [f"{shop}/{name}" for name in ("first", "fourth", "second")]

    # Active again: nothing of a state remains.
    assert deploy()["states"] == []
    metadata = objects.get("m.small", shop).to_dict()["metadata"]
    assert "deprecated" not in json.dumps(metadata["labels"]) and PREFIX not in json.dumps(metadata.get("annotations"))
    assert declare("fifth").get("failed") is not True


def test_a_missing_replacement_is_a_warning(run: Run, shop: str) -> None:
    options = {"source": "definitions", "namespaces": [shop], "catalog": shop}
    made = run("catalog", definitions=[catalog(deprecated={"replacement": "m.huge"})], **options)
    [warning] = warned(made)
    assert warning == "instancetype m.small: the replacement m.huge does not exist; add it, or name another object"
    # One of the cluster does.
    made = run("catalog", definitions=[catalog(deprecated={"replacement": "medium"})], **options)
    assert (warned(made), made["states"][0]["problems"]) == ([], [])


def test_a_module_declares_a_state(run: Run, shop: str) -> None:
    size = {"cpu": {"guest": 1}, "memory": {"guest": "512Mi"}, "name": "tiny", "namespace": shop}
    state = {"replacement": "small", "obsolete_from": "2027-03-31"}
    assert run("instancetype", deprecated=state, **size)["changed"] is True
    assert run("instancetype", deprecated=state, **size)["changed"] is False
    [tiny] = run("catalog_info", namespace=shop, scope="namespaced", names=["tiny"])["instancetypes"]
    assert {key: tiny[key] for key in ("state", *state)} == {"state": "deprecated", **state}
    # An entry's own state replaces that of the task.
    size.pop("name")
    listed = [{"name": "tiny", "obsolete": {}}]
    assert run("instancetype", deprecated=state, instancetypes=listed, **size)["changed"] is True
    [tiny] = run("catalog_info", namespace=shop, scope="namespaced", names=["tiny"])["instancetypes"]
    assert (tiny["state"], tiny["replacement"]) == ("obsolete", "")
    wrong = run("preference", name="linux", namespace=shop, deprecated={"obsolete_from": "tomorrow"})
    assert "deprecated.obsolete_from: 'tomorrow' is not a date; write a day such as 2027-03-31" in wrong["msg"]
