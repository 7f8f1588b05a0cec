"""catalog_info; what an edit and a deletion say of the VMs that use an object."""

from collections.abc import Callable
from typing import Any

import pytest

from modules_support import Task, vm


@pytest.fixture
def used(task: Task, shop: str) -> str:
    """The shop with a running VM of `small`."""
    task("virtual_machine", wait=True, **vm("web"))
    return shop


def names(found: dict[str, Any]) -> list[str]:
    return [item["name"] for plural in ("instancetypes", "preferences") for item in found[plural]]


def test_figures_and_users(task: Task, used: str) -> None:
    result = task("catalog_info", scope="namespaced", used_by=True)
    assert names(result) == ["medium", "small", "tiny", "linux"]
    users = {item["name"]: item["used_by"] for item in (*result["instancetypes"], *result["preferences"])}
    assert users == {"medium": [], "small": [f"{used}/web"], "tiny": [], "linux": [f"{used}/web"]}
    small, [linux] = result["instancetypes"][1], result["preferences"]
    assert (small["vcpus"], small["memory"], small["memory_bytes"]) == (1, "2Gi", 2 * 2**30)
    assert small["spec"]["memory"] == {"guest": "2Gi"}
    assert (linux["vcpus"], linux["memory"]) == (0, "2Gi")
    everywhere = task("catalog_info", namespace=None, used_by=True)["instancetypes"]
    assert [item["used_by"] for item in everywhere if item["namespace"] == used] == [[], [f"{used}/web"], []]


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ({"names": ["tiny", "linux", "none"]}, ["tiny", "linux"]),
        ({"name": "tiny"}, ["tiny"]),
        ({"label_selectors": ["team=x"]}, []),
        ({"label_selectors": ["team in (y, z)"]}, ["g.b"]),
        ({"catalog": "acme"}, []),
        ({"scope": "cluster", "names": ["tiny"]}, []),
    ],
)
def test_selection(task: Task, shop: str, options: dict[str, Any], chosen: list[str]) -> None:
    sized = {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}, "labels": {"team": "y"}}
    assert task("instancetype", name="g.b", **sized)["changed"]
    result = task("catalog_info", **{"namespace": shop, "scope": "namespaced", **options})
    assert names(result) == chosen
    assert set(result["matrix"]["fits"]) == {f"{shop}/{item['name']}" for item in result["instancetypes"]}


def test_without_the_right_to_list_vms(task: Task, shop: str, user_with: Callable[..., dict[str, Any]]) -> None:
    read = {"apiGroups": ["instancetype.kubevirt.io"], "resources": ["*"], "verbs": ["list"]}
    user = user_with(read)
    result = task("catalog_info", scope="namespaced", **user)
    assert names(result) == ["medium", "small", "tiny", "linux"] and "used_by" not in result["instancetypes"][0]
    refused = task.refused("catalog_info", scope="namespaced", used_by=True, **user)
    assert refused["msg"].startswith("used_by: ") and "\n" not in refused["msg"]
    assert 'resources: ["virtualmachines"]' in refused["msg"]


def test_the_matrix_of_a_cluster(task: Task, shop: str) -> None:
    result = task("catalog_info", scope="namespaced")
    assert result["catalogs"] == [{"name": "", "versions": {"": 4}, "instancetypes": 3, "preferences": 1}]
    fits = result["matrix"]["fits"]
    assert fits == {f"{shop}/tiny": [], f"{shop}/small": [f"{shop}/linux"], f"{shop}/medium": [f"{shop}/linux"]}
    [pair] = result["matrix"]["incompatible"]
    assert pair["instancetype"] == f"{shop}/tiny"
    assert "Memory" in pair["reasons"][0]


def test_edit_names_vms_that_will_drift(task: Task, used: str) -> None:
    larger = {"name": "small", "cpu": {"guest": 2}, "memory": {"guest": "2Gi"}}
    for check in (True, False):
        result = task("instancetype", check=check, **larger)
        assert result["result"]["warnings"] == [
            f"1 virtual machine ({used}/web) will drift: they keep their captured revision until they are refreshed"
        ]
    labelled = task("instancetype", labels={"a": "b"}, **larger)
    assert labelled["changed"] and "warnings" not in labelled["result"]


def test_deletion_of_used_objects_needs_force(task: Task, used: str) -> None:
    gone = {"namespace": used, "state": "absent"}
    assert task("instancetype", name="tiny", **gone)["changed"]
    for check in (True, False):
        refused = task.refused("instancetype", name="small", check=check, **gone)
        assert f"in use by 1 virtual machine ({used}/web)" in refused["msg"]
    assert f"in use by 1 virtual machine ({used}/web)" in task.refused("preference", name="linux", **gone)["msg"]
    assert task("instancetype", name="small", force=True, **gone)["changed"]
    assert task("preference", name="linux", preflight="warn", **gone)["changed"]


def test_deprecated_fields_name_their_replacement(task: Task) -> None:
    result = task(
        "preference",
        name="old",
        spec={"cpu": {"preferredCPUTopology": "preferCores"}, "firmware": {"preferredUseEfi": True}},
    )
    warnings = "\n".join(result["result"]["warnings"])
    assert (
        "spec.cpu.preferredCPUTopology is deprecated or has no effect: write spec.cpu.preferredCPUTopology: cores"
        in warnings
    )
    assert "spec.firmware.preferredUseEfi is deprecated or has no effect: write spec.firmware.preferredEfi" in warnings
