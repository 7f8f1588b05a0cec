"""virtual_machine with a workload and a size: chosen once, kept whatever becomes of the catalog, resized on request."""

from typing import Any

import pytest
from waiting import wait_until

from modules_support import Task, live, manifest, objects

KIND = "VirtualMachinePreference"
CDI = "cdi.kubevirt.io/v1beta1"


@pytest.fixture
def workload(task: Task, shop: str, api: Any) -> dict[str, Any]:
    """The options of a VM with a workload and a class that no other test has."""
    made = [(f"{shop}.{size}", memory) for size, memory in (("tiny", "1Gi"), ("small", "2Gi"), ("large", "4Gi"))]
    types = [sized(shop, name, memory) for name, memory in made]
    assert task("instancetype", instancetypes=types)["changed"]
    needs = {"memory": {"guest": "2Gi"}}
    assert task("preference", name=f"{shop}-os", requirements=needs)["changed"]
    labels = {f"instancetype.kubevirt.io/default-preference{end}": value for end, value in defaults(shop)}
    body = manifest("DataSource", "image", {"source": {"pvc": {"name": "image", "namespace": shop}}}, labels=labels)
    objects(api, "DataSource").create(namespace=shop, body=body)
    return {"name": "web", "namespace": shop, "workload": f"{shop}-os", "size": {"performance": shop}}


def defaults(shop: str) -> list[tuple[str, str]]:
    return [("", f"{shop}-os"), ("-kind", KIND)]


def sized(shop: str, name: str, memory: str) -> dict[str, Any]:
    return {
        "name": name,
        "cpu": {"guest": 1},
        "memory": {"guest": memory},
        "labels": {"instancetype.kubevirt.io/class": shop},
    }


def instancetype_state(task: Task, shop: str) -> str:
    [web] = task("virtual_machine_info")["virtual_machines"]
    state: str = web["instancetype"]["state"]
    return state


def test_new_vm_has_the_chosen_types_and_disk(task: Task, shop: str, api: Any, workload: dict[str, Any]) -> None:
    choice = task("virtual_machine", **workload)["result"]["choice"]
    assert choice["boot"] == {"data_source": f"{shop}/image"}
    assert choice["others"]["instancetype"] == [f"{shop}.large (kind VirtualMachineInstancetype)"]
    assert f"{shop}.tiny" in next(iter(choice["rejected"]))
    spec = live(api, shop)["spec"]
    assert (spec["instancetype"]["name"], spec["preference"]["name"]) == (f"{shop}.small", f"{shop}-os")
    assert spec["dataVolumeTemplates"][0]["spec"]["sourceRef"]["name"] == "image"


def test_default_label_settles_an_ambiguous_size(task: Task, shop: str, api: Any, workload: dict[str, Any]) -> None:
    company = sized(shop, f"{shop}2.small", "3Gi")
    assert task("instancetype", instancetypes=[company])["changed"]
    options = {**workload, "size": {"name": "small", "performance": shop}}
    assert "means several instancetypes" in task.refused("virtual_machine", **options)["msg"]
    company["labels"]["instancetypes.virtshape.io/default"] = "true"
    assert task("instancetype", instancetypes=[company])["changed"]
    assert task("virtual_machine", **options)["changed"]
    assert live(api, shop)["spec"]["instancetype"]["name"] == f"{shop}2.small"


def test_second_run_changes_nothing_after_catalog_has_changed(task: Task, shop: str, workload: dict[str, Any]) -> None:
    assert task("virtual_machine", **workload)["changed"]
    more = [sized(shop, f"{shop}.smaller", "2000Mi"), sized(shop, f"{shop}.other", "2Gi")]
    assert task("instancetype", instancetypes=more)["changed"]
    assert task("preference", name=f"{shop}-os", state="absent", force=True)["changed"]
    for check in (True, False):
        again = task("virtual_machine", check=check, **workload)
        assert not again["changed"], again
        assert again["result"]["choice"]["reasons"][0] == "the VM keeps what was chosen for it"


def test_another_size_changes_only_the_instancetype(task: Task, shop: str, api: Any, workload: dict[str, Any]) -> None:
    assert task("virtual_machine", **workload)["changed"]
    before = live(api, shop)["spec"]
    larger = {**workload, "size": {"name": "large", "performance": shop}}
    changed = task("virtual_machine", **larger)
    assert changed["result"]["action"] == "apply", changed
    after = live(api, shop)["spec"]
    assert after["instancetype"]["name"] == f"{shop}.large"
    assert (after["preference"]["name"], after["dataVolumeTemplates"]) == (
        before["preference"]["name"],
        before["dataVolumeTemplates"],
    )
    assert not task("virtual_machine", **larger)["changed"]


def test_changed_instancetype_is_drift_and_not_another_choice(task: Task, shop: str, workload: dict[str, Any]) -> None:
    assert task("virtual_machine", **workload)["changed"]
    wait_until(lambda: instancetype_state(task, shop) == "current")
    assert task("instancetype", **sized(shop, f"{shop}.small", "3Gi"))["changed"]
    again = task("virtual_machine", **workload)
    assert not again["changed"] and again["result"]["choice"]["instancetype"]["name"] == f"{shop}.small", again
    assert instancetype_state(task, shop) == "drifted"


def test_ambiguity_is_refused_with_the_choices(task: Task, shop: str, workload: dict[str, Any]) -> None:
    assert task("instancetype", **sized(shop, f"{shop}.equal", "2Gi"))["changed"]
    refused = task.refused("virtual_machine", **workload)
    assert "are equally small" in refused["msg"], refused
    assert task("virtual_machine_info")["virtual_machines"] == []
