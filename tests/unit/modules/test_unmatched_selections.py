"""A misspelt namespace, name or label selector is not taken for "nothing to do"."""

from pathlib import Path
from typing import Any

import pytest

from scripted_server import NAMESPACES, Manifest, Run, Store, forbidden

TYPES = "/apis/instancetype.kubevirt.io/v1beta1"
KUBEVIRT = "/apis/kubevirt.io/v1"
SHOPP = {"namespace": "shopp"}
NO_SHOPP = "namespace: shopp does not exist; did you mean shop?"
NO_LABEL = "label_selectors: no virtual machine in shop matches tier=wbe"
BY_LABEL = {"namespace": "shop", "label_selectors": ["tier=wbe"]}
# A module of a capability is only there with it.
READERS: dict[str, Any] = {
    "virtual_machine_info": {},
    "virtual_machine_adopt": {},
    "controller_revision": {},
    "upgrade_info": {},
    "capacity_info": {"checks": ["quota"]},
}
MODULES = [name for name in READERS if (Path(__file__).parents[3] / "plugins/modules" / f"{name}.py").exists()]


def named(name: str) -> Manifest:
    return {"metadata": {"name": name}}


def store(*, readable: bool = True) -> Store:
    lists: dict[str, list[Any]] = {NAMESPACES: [named("shop"), named("office")]}
    for namespace in ("shop", "shopp"):
        for plural in ("virtualmachines", "virtualmachineinstances"):
            lists[f"{KUBEVIRT}/namespaces/{namespace}/{plural}"] = lists[f"{KUBEVIRT}/{plural}"] = []
        lists[f"/apis/apps/v1/namespaces/{namespace}/controllerrevisions"] = []
        for plural in ("virtualmachineinstancetypes", "virtualmachinepreferences"):
            lists[f"{TYPES}/namespaces/{namespace}/{plural}"] = lists[f"{TYPES}/{plural}"] = []
        for plural in ("resourcequotas", "limitranges", "pods"):
            lists[f"/api/v1/namespaces/{namespace}/{plural}"] = lists[f"/api/v1/{plural}"] = []
    for plural in ("virtualmachineclusterinstancetypes", "virtualmachineclusterpreferences"):
        lists[f"{TYPES}/{plural}"] = [{**named("small"), "kind": "VirtualMachineClusterInstancetype", "spec": {}}]
    lists["/api/v1/nodes"] = lists["/api/v1/pods"] = []
    refused = {} if readable else {("GET", path): forbidden("namespaces") for path in (NAMESPACES, "namespaces/shopp")}
    return Store(lists, refused)


def namespaces_asked(server: Store) -> int:
    return sum(path.startswith(NAMESPACES) and path.count("/") <= 4 for _method, path in server.asked)


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize(("options", "expected"), [(SHOPP, NO_SHOPP), (BY_LABEL, NO_LABEL)])
def test_selection_without_vms_is_a_warning(run: Run, module: str, options: Any, expected: str) -> None:
    result = run(module, store(), **options, **READERS[module])
    assert not result.get("failed"), result
    assert expected in result["warnings"]


@pytest.mark.parametrize("module", MODULES)
def test_empty_namespace_gives_no_warning(run: Run, module: str) -> None:
    assert not [
        text for text in run(module, store(), namespace="shop", **READERS[module])["warnings"] if "shop" in text
    ]


def test_unmatched_selection_is_returned(run: Run) -> None:
    assert run("virtual_machine_info", store(), **SHOPP)["unmatched"] == NO_SHOPP
    assert run("virtual_machine_info", store(), namespace="shop")["unmatched"] == ""


def test_missing_names_are_a_warning(run: Run) -> None:
    warnings = run("virtual_machine_info", store(), namespace="shop", names=["web-1", "web-2"])["warnings"]
    assert warnings == ["names: no such virtual machine in shop: web-1, web-2"]
    assert run("virtual_machine_info", store(), names=["web-1"], **SHOPP)["warnings"] == [NO_SHOPP]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (SHOPP, [NO_SHOPP]),
        ({"namespace": "shop"}, []),
        ({"names": ["small", "smal"]}, ["names: no such instancetype or preference: smal"]),
        (
            {"namespace": "shop", "scope": "namespaced", "label_selectors": ["team=x"]},
            ["label_selectors: no instancetype or preference matches team=x"],
        ),
        (
            {"namespace": "shop", "scope": "namespaced", "catalog": "acme"},
            ["catalog: no instancetype or preference belongs to acme"],
        ),
    ],
)
def test_instancetypes_and_preferences(run: Run, options: dict[str, Any], expected: list[str]) -> None:
    server = store()
    for kind in ("Instancetype", "Preference"):
        small = {**named("small"), "kind": f"VirtualMachineCluster{kind}", "spec": {}}
        server.lists[f"{TYPES}/virtualmachinecluster{kind.lower()}s"] = [small]
    assert run("catalog_info", server, **options)["warnings"] == expected


@pytest.mark.parametrize(("options", "expected"), [(SHOPP, NO_SHOPP), (BY_LABEL, NO_LABEL)])
@pytest.mark.parametrize(
    ("module", "more"),
    [
        ("controller_revision", {"restart": "if_required"}),
        ("virtual_machine_power", {"state": "restarted"}),
    ],
)
def test_unmatched_selection_fails_restarting_modules(
    run: Run, module: str, more: Any, options: Any, expected: str
) -> None:
    if module == "virtual_machine_power":
        options = {"label_selectors": ["tier=wbe"], **options}
    assert run(module, store(), **options, **more)["msg"] == expected


@pytest.mark.parametrize(
    ("module", "options"),
    [
        ("virtual_machine", {"name": "web", "state": "absent"}),
        ("virtual_machine", {"virtual_machines": [{"name": "a"}, {"name": "b"}], "state": "absent"}),
        ("instancetype", {"name": "small", "state": "absent"}),
        ("controller_revision", {"state": "pruned"}),
    ],
)
def test_missing_namespace_fails_deleting_modules(run: Run, module: str, options: Any) -> None:
    result = run(module, store(), **SHOPP, **options)
    assert result["failed"] and NO_SHOPP in result["msg"], result
    result = run(module, store(), namespace="shop", **options)
    assert not result.get("failed"), result


def test_an_earlier_task_may_create_the_namespace(run: Run) -> None:
    result = run("virtual_machine", store(), check=True, name="web", state="absent", **SHOPP)
    assert not result.get("failed") and NO_SHOPP in result["warnings"][0]


def test_unreadable_namespaces_are_no_problem(run: Run) -> None:
    assert run("virtual_machine_info", store(readable=False), **SHOPP)["warnings"] == []
    assert not run("virtual_machine", store(readable=False), name="web", state="absent", **SHOPP).get("failed")


def test_matching_selection_reads_no_namespaces(run: Run) -> None:
    server = store()
    vm = {**named("web"), "kind": "VirtualMachine", "spec": {"template": {"spec": {"domain": {"devices": {}}}}}}
    vm["metadata"].update(namespace="shop", uid="1", resourceVersion="1")
    server.lists[f"{KUBEVIRT}/namespaces/shop/virtualmachines"] = [vm]
    run("virtual_machine_info", server, namespace="shop", label_selectors=["tier=web"])
    run("virtual_machine", server, namespace="shop", name="web", state="absent", preflight="strict")
    assert namespaces_asked(server) == 0
    run("virtual_machine_info", server, **SHOPP)
    assert namespaces_asked(server) == 2
