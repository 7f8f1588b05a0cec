"""virtual_machine with state absent takes names, label selectors and what virtual_machine_info returns."""

from typing import Any

import pytest

from scripted_server import NAMESPACES, VMS, Manifest, Run, Store, status

CLAIMS = "/api/v1/namespaces/shop/persistentvolumeclaims"
NAMES = ("a", "b", "c")
EMPTY = "label_selectors: an empty list would select all virtual machines; set names or a label selector"


def vm(name: str) -> Manifest:
    metadata = {"name": name, "namespace": "shop", "uid": name, "generation": 1, "resourceVersion": "1"}
    spec = {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}}}}}
    return {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": metadata, "spec": spec}


def shop(*names: str) -> Store:
    return Store(
        {VMS: [vm(name) for name in names], CLAIMS: [], "/apis/apps/v1/namespaces/shop/controllerrevisions": []}
    )


def deleted(store: Store) -> list[str]:
    return sorted(path.rpartition("/")[2] for method, path in store.asked if method == "DELETE")


def test_names_are_deleted(run: Run) -> None:
    store = shop(*NAMES)
    result = run("virtual_machine", store, state="absent", namespace="shop", names=["a", "b", "gone"])
    assert result["msg"] == "3 virtual machines: 2 deleted, 1 unchanged"
    assert deleted(store) == ["a", "b"]


def test_vms_matching_label_selectors_are_deleted(run: Run) -> None:
    store = shop(*NAMES)
    result = run("virtual_machine", store, state="absent", namespace="shop", label_selectors=["tier=web"])
    assert result["msg"] == "3 virtual machines: 3 deleted"
    narrowed = shop(*NAMES)
    run("virtual_machine", narrowed, state="absent", namespace="shop", label_selectors=["tier=web"], names=["b"])
    assert (deleted(store), deleted(narrowed)) == (list(NAMES), ["b"])


def test_selector_without_a_match_is_a_warning(run: Run) -> None:
    result = run("virtual_machine", shop(), state="absent", namespace="shop", label_selectors=["tier=web"])
    assert (result["changed"], result["msg"]) == (False, "0 virtual machines")
    assert result["warnings"] == ["label_selectors: no virtual machine in shop matches tier=web"]


def test_a_namespace_that_does_not_exist(run: Run) -> None:
    store = Store({VMS: [], NAMESPACES: [{"metadata": {"name": "store"}}]})
    result = run("virtual_machine", store, state="absent", namespace="shop", label_selectors=["tier=web"])
    assert result["msg"].startswith("namespace: shop does not exist; ")


def test_results_of_info_can_be_deleted(run: Run) -> None:
    store = shop(*NAMES)
    info = run("virtual_machine_info", store, namespace="shop")["virtual_machines"]
    assert {"status", "ready"} <= set(info[0])
    result = run("virtual_machine", store, state="absent", virtual_machines=info[1:])
    assert result["msg"] == "2 virtual machines: 2 deleted"
    assert deleted(store) == ["b", "c"]
    result = run("virtual_machine", store, virtual_machines=info)
    assert "unknown option" in result["msg"]


@pytest.mark.parametrize("selectors", [[], [""], ["", " "]])
@pytest.mark.parametrize("where", [{}, {"namespace": "shop"}])
def test_an_empty_selector_deletes_nothing(run: Run, selectors: list[str], where: Any) -> None:
    store = shop(*NAMES)
    assert run("virtual_machine", store, state="absent", label_selectors=selectors, **where)["msg"] == EMPTY
    assert store.asked == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a"], "namespace": "shop"}, "names: only valid with state absent; "),
        ({"label_selectors": ["a=b"], "namespace": "shop"}, "label_selectors: only valid with state absent; "),
        ({"names": ["a"], "state": "absent"}, "namespace: required with names"),
        ({"names": ["a"], "name": "a", "state": "absent"}, "parameters are mutually exclusive: name|names"),
    ],
)
def test_invalid_option_combinations_are_refused(run: Run, options: Any, message: str) -> None:
    store = shop(*NAMES)
    assert run("virtual_machine", store, **options)["msg"].startswith(message)
    assert store.asked == []


def test_failure_reports_the_number_deleted(run: Run) -> None:
    store = shop(*NAMES)
    store.answers["DELETE", "/b"] = status(422, "a webhook says no", "Invalid")
    result = run("virtual_machine", store, state="absent", namespace="shop", names=list(NAMES))
    assert result["msg"] == "1 of 3 virtual machines failed: shop/b: a webhook says no; 2 deleted"
