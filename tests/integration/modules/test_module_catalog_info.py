"""catalog_info; what an edit and a deletion say of the VMs that use an object."""

from collections.abc import Callable
from typing import Any

import pytest

from modules_support import vm

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def used(run: Run, shop: str) -> str:
    """The shop with a running VM of `small`."""
    result = run("virtual_machine", namespace=shop, wait=True, **vm("web"))
    assert not result.get("failed"), result["msg"]
    return shop


def names(found: dict[str, Any]) -> list[str]:
    return [item["name"] for plural in ("instancetypes", "preferences") for item in found[plural]]


def test_figures_and_users(run: Run, used: str) -> None:
    result = run("catalog_info", namespace=used, scope="namespaced", used_by=True)
    assert names(result) == ["medium", "small", "tiny", "linux"]
    users = {item["name"]: item["used_by"] for item in (*result["instancetypes"], *result["preferences"])}
    assert users == {"medium": [], "small": [f"{used}/web"], "tiny": [], "linux": [f"{used}/web"]}
    small, [linux] = result["instancetypes"][1], result["preferences"]
    assert (small["vcpus"], small["memory"], small["memory_bytes"]) == (1, "2Gi", 2 * 2**30)
    assert small["spec"]["memory"] == {"guest": "2Gi"}
    assert (linux["vcpus"], linux["memory"]) == (0, "2Gi")
    everywhere = run("catalog_info", used_by=True)["instancetypes"]
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
def test_selection(run: Run, shop: str, options: dict[str, Any], chosen: list[str]) -> None:
    sized = {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}, "labels": {"team": "y"}}
    assert run("instancetype", namespace=shop, name="g.b", **sized)["changed"]
    result = run("catalog_info", **{"namespace": shop, "scope": "namespaced", **options})
    assert names(result) == chosen
    assert set(result["matrix"]["fits"]) == {f"{shop}/{item['name']}" for item in result["instancetypes"]}


def test_without_the_right_to_list_vms(run: Run, shop: str, user_with: Callable[..., dict[str, Any]]) -> None:
    read = {"apiGroups": ["instancetype.kubevirt.io"], "resources": ["*"], "verbs": ["list"]}
    user = user_with(read)
    result = run("catalog_info", namespace=shop, scope="namespaced", **user)
    assert names(result) == ["medium", "small", "tiny", "linux"] and "used_by" not in result["instancetypes"][0]
    refused = run("catalog_info", namespace=shop, scope="namespaced", used_by=True, **user)
    assert refused["failed"] and refused["msg"].startswith("used_by: ") and "\n" not in refused["msg"]
    assert 'resources: ["virtualmachines"]' in refused["msg"]


def test_the_matrix_of_a_cluster(run: Run, shop: str) -> None:
    result = run("catalog_info", namespace=shop, scope="namespaced")
    assert result["catalogs"] == [{"name": "", "versions": {"": 4}, "instancetypes": 3, "preferences": 1}]
    fits = result["matrix"]["fits"]
    assert fits == {f"{shop}/tiny": [], f"{shop}/small": [f"{shop}/linux"], f"{shop}/medium": [f"{shop}/linux"]}
    [pair] = result["matrix"]["incompatible"]
    assert pair["instancetype"] == f"{shop}/tiny"
    assert "Memory" in pair["reasons"][0]


def test_edit_names_vms_that_will_drift(run: Run, used: str) -> None:
    larger = {"name": "small", "cpu": {"guest": 2}, "memory": {"guest": "2Gi"}}
    for check in (True, False):
        result = run("instancetype", namespace=used, check=check, **larger)
        assert result["result"]["warnings"] == [
            f"1 virtual machine ({used}/web) will drift: they keep their captured revision until they are refreshed"
        ]
    labelled = run("instancetype", namespace=used, labels={"a": "b"}, **larger)
    assert labelled["changed"] and "warnings" not in labelled["result"]


def test_deletion_of_used_objects_needs_force(run: Run, used: str) -> None:
    gone = {"namespace": used, "state": "absent"}
    assert run("instancetype", name="tiny", **gone)["changed"]
    for check in (True, False):
        refused = run("instancetype", name="small", check=check, **gone)
        assert refused["failed"] and f"in use by 1 virtual machine ({used}/web)" in refused["msg"]
    assert f"in use by 1 virtual machine ({used}/web)" in run("preference", name="linux", **gone)["msg"]
    assert run("instancetype", name="small", force=True, **gone)["changed"]
    assert run("preference", name="linux", preflight="warn", **gone)["changed"]


def test_deprecated_fields_name_their_replacement(run: Run, namespace: str) -> None:
    result = run(
        "preference",
        namespace=namespace,
        name="old",
        spec={"cpu": {"preferredCPUTopology": "preferCores"}, "firmware": {"preferredUseEfi": True}},
    )
    warnings = "\n".join(result["result"]["warnings"])
    assert (
        "spec.cpu.preferredCPUTopology is deprecated or has no effect: write spec.cpu.preferredCPUTopology: cores"
        in warnings
    )
    assert "spec.firmware.preferredUseEfi is deprecated or has no effect: write spec.firmware.preferredEfi" in warnings
