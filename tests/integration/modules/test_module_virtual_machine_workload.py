"""virtual_machine with a workload and a size: chosen once, kept whatever becomes of the catalog, resized on request."""

from collections.abc import Callable
from typing import Any

import pytest
from waiting import wait_until

Run = Callable[..., dict[str, Any]]

KIND = "VirtualMachinePreference"
CDI = "cdi.kubevirt.io/v1beta1"


@pytest.fixture
def workload(run: Run, shop: str, api: Any) -> dict[str, Any]:
    """The options of a VM with a workload and a class that no other test has."""
    made = [(f"{shop}.{size}", memory) for size, memory in (("tiny", "1Gi"), ("small", "2Gi"), ("large", "4Gi"))]
    types = [sized(shop, name, memory) for name, memory in made]
    assert run("instancetype", namespace=shop, instancetypes=types)["changed"]
    needs = {"memory": {"guest": "2Gi"}}
    assert run("preference", namespace=shop, name=f"{shop}-os", requirements=needs)["changed"]
    labels = {f"instancetype.kubevirt.io/default-preference{end}": value for end, value in defaults(shop)}
    body = {
        "apiVersion": CDI,
        "kind": "DataSource",
        "metadata": {"name": "image", "labels": labels},
        "spec": {"source": {"pvc": {"name": "image", "namespace": shop}}},
    }
    api.resources.get(api_version=CDI, kind="DataSource").create(namespace=shop, body=body)
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


def instancetype_state(run: Run, shop: str) -> str:
    [web] = run("virtual_machine_info", namespace=shop)["virtual_machines"]
    state: str = web["instancetype"]["state"]
    return state


def live(api: Any, shop: str) -> dict[str, Any]:
    resource = api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")
    spec: dict[str, Any] = resource.get(name="web", namespace=shop).to_dict()["spec"]
    return spec


def test_new_vm_has_the_chosen_types_and_disk(run: Run, shop: str, api: Any, workload: dict[str, Any]) -> None:
    choice = run("virtual_machine", **workload)["result"]["choice"]
    assert choice["boot"] == {"data_source": f"{shop}/image"}
    assert choice["others"]["instancetype"] == [f"{shop}.large (kind VirtualMachineInstancetype)"]
    assert f"{shop}.tiny" in next(iter(choice["rejected"]))
    spec = live(api, shop)
    assert (spec["instancetype"]["name"], spec["preference"]["name"]) == (f"{shop}.small", f"{shop}-os")
    assert spec["dataVolumeTemplates"][0]["spec"]["sourceRef"]["name"] == "image"


def test_default_label_settles_an_ambiguous_size(run: Run, shop: str, api: Any, workload: dict[str, Any]) -> None:
    company = sized(shop, f"{shop}2.small", "3Gi")
    assert run("instancetype", namespace=shop, instancetypes=[company])["changed"]
    options = {**workload, "size": {"name": "small", "performance": shop}}
    assert "means several instancetypes" in run("virtual_machine", **options)["msg"]
    company["labels"]["instancetypes.virtshape.io/default"] = "true"
    assert run("instancetype", namespace=shop, instancetypes=[company])["changed"]
    assert run("virtual_machine", **options)["changed"]
    assert live(api, shop)["instancetype"]["name"] == f"{shop}2.small"


def test_second_run_changes_nothing_after_catalog_has_changed(run: Run, shop: str, workload: dict[str, Any]) -> None:
    assert run("virtual_machine", **workload)["changed"]
    more = [sized(shop, f"{shop}.smaller", "2000Mi"), sized(shop, f"{shop}.other", "2Gi")]
    assert run("instancetype", namespace=shop, instancetypes=more)["changed"]
    assert run("preference", namespace=shop, name=f"{shop}-os", state="absent", force=True)["changed"]
    for check in (True, False):
        again = run("virtual_machine", check=check, **workload)
        assert not again["changed"] and not again.get("failed"), again
        assert again["result"]["choice"]["reasons"][0] == "the VM keeps what was chosen for it"


def test_another_size_changes_only_the_instancetype(run: Run, shop: str, api: Any, workload: dict[str, Any]) -> None:
    assert run("virtual_machine", **workload)["changed"]
    before = live(api, shop)
    larger = {**workload, "size": {"name": "large", "performance": shop}}
    changed = run("virtual_machine", **larger)
    assert changed["result"]["action"] == "apply", changed
    after = live(api, shop)
    assert after["instancetype"]["name"] == f"{shop}.large"
    assert (after["preference"]["name"], after["dataVolumeTemplates"]) == (
        before["preference"]["name"],
        before["dataVolumeTemplates"],
    )
    assert not run("virtual_machine", **larger)["changed"]


def test_changed_instancetype_is_drift_and_not_another_choice(run: Run, shop: str, workload: dict[str, Any]) -> None:
    assert run("virtual_machine", **workload)["changed"]
    wait_until(lambda: instancetype_state(run, shop) == "current")
    assert run("instancetype", namespace=shop, **sized(shop, f"{shop}.small", "3Gi"))["changed"]
    again = run("virtual_machine", **workload)
    assert not again["changed"] and again["result"]["choice"]["instancetype"]["name"] == f"{shop}.small", again
    assert instancetype_state(run, shop) == "drifted"


def test_ambiguity_is_refused_with_the_choices(run: Run, shop: str, workload: dict[str, Any]) -> None:
    assert run("instancetype", namespace=shop, **sized(shop, f"{shop}.equal", "2Gi"))["changed"]
    refused = run("virtual_machine", **workload)
    assert refused["failed"] and "are equally small" in refused["msg"], refused
    assert run("virtual_machine_info", namespace=shop)["virtual_machines"] == []
