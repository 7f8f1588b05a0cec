"""instancetype_info, preference_info, catalog_info; what an edit and a deletion say of the VMs that use an object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from modules_support import vm

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def used(run: Run, shop: str) -> str:
    """The shop with a running VM of `small`."""
    made = run("virtual_machine", namespace=shop, wait=True, **vm("web"))
    assert not made.get("failed"), made["msg"]
    return shop


def names(found: dict[str, Any]) -> list[str]:
    [plural] = [name for name in ("instancetypes", "preferences") if name in found]
    return [one["name"] for one in found[plural]]


def test_figures_and_users_of_instancetypes(run: Run, used: str) -> None:
    found = run("instancetype_info", namespace=used, scope="namespaced")
    assert names(found) == ["medium", "small", "tiny"]
    small = found["instancetypes"][1]
    assert (small["vcpus"], small["memory"], small["memory_bytes"]) == (1, "2Gi", 2 * 2**30)
    assert small["used_by"] == [f"{used}/web"]


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ({"vcpus_min": 2}, ["medium"]),
        ({"memory_max": "2048Mi"}, ["small", "tiny"]),
        ({"memory_min": "1Gi", "vcpus_max": 1}, ["small"]),
        ({"names": ["tiny", "none"]}, ["tiny"]),
        ({"in_use": True}, ["small"]),
        ({"in_use": False}, ["medium", "tiny"]),
        ({"features": ["gpus"]}, []),
        ({"label_selectors": ["team=x"]}, []),
        ({"catalog": "acme"}, []),
    ],
)
def test_choosing_instancetypes(run: Run, used: str, options: dict[str, Any], chosen: list[str]) -> None:
    assert names(run("instancetype_info", namespace=used, scope="namespaced", **options)) == chosen


def test_select_by_vm_and_class(run: Run, used: str) -> None:
    read = {"namespace": used, "scope": "namespaced"}
    assert names(run("instancetype_info", used_by=[f"{used}/web", "no/where"], **read)) == ["small"]
    assert names(run("preference_info", used_by=[f"{used}/web"], **read)) == ["linux"]
    assert names(run("instancetype_info", used_by=["web"], **read)) == []
    sized = {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}}
    for name, labels in (("g.a", {"instancetype.kubevirt.io/class": "general"}), ("g.b", {"team": "x"})):
        assert run("instancetype", namespace=used, name=name, labels=labels, **sized)["changed"]
    assert names(run("instancetype_info", **{"class": "general"}, **read)) == ["g.a"]
    assert names(run("instancetype_info", series="g", label_selectors=["team in (x, y)"], **read)) == ["g.b"]


def test_preferences(run: Run, used: str) -> None:
    [linux] = run("preference_info", namespace=used, scope="namespaced", memory_min="2Gi")["preferences"]
    assert (linux["name"], linux["vcpus"], linux["memory"], linux["used_by"]) == ("linux", 0, "2Gi", [f"{used}/web"])
    assert names(run("preference_info", namespace=used, scope="namespaced", memory_max="1Gi")) == []


def test_without_the_right_to_list_vms(run: Run, shop: str, someone: Callable[..., dict[str, Any]]) -> None:
    read = {"apiGroups": ["instancetype.kubevirt.io"], "resources": ["*"], "verbs": ["list"]}
    user = someone(read)
    found = run("instancetype_info", namespace=shop, scope="namespaced", **user)
    assert {one["used_by"] for one in found["instancetypes"]} == {None}
    assert 'resources: ["virtualmachines"]' in str(found["warnings"])
    refused = run("instancetype_info", namespace=shop, scope="namespaced", in_use=True, **user)
    assert refused["msg"].startswith("in_use: ")


def test_a_wrong_quantity(run: Run, shop: str) -> None:
    assert "memory_min: '4GB' is not a quantity" in run("instancetype_info", namespace=shop, memory_min="4GB")["msg"]


def test_the_matrix_of_a_cluster(run: Run, shop: str) -> None:
    found = run("catalog_info", namespace=shop, scope="namespaced")
    assert found["catalogs"] == [{"name": "", "versions": {"": 4}, "instancetypes": 3, "preferences": 1}]
    fits = found["matrix"]["fits"]
    assert fits == {f"{shop}/tiny": [], f"{shop}/small": [f"{shop}/linux"], f"{shop}/medium": [f"{shop}/linux"]}
    [miss] = found["matrix"]["misses"]
    assert miss["instancetype"] == f"{shop}/tiny"
    assert "Memory" in miss["reasons"][0]


def test_edit_names_vms_that_will_drift(run: Run, used: str) -> None:
    larger = {"name": "small", "cpu": {"guest": 2}, "memory": {"guest": "2Gi"}}
    for check in (True, False):
        told = run("instancetype", namespace=used, check=check, **larger)
        assert told["result"]["warnings"] == [
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
    told = run(
        "preference",
        namespace=namespace,
        name="old",
        spec={"cpu": {"preferredCPUTopology": "preferCores"}, "firmware": {"preferredUseEfi": True}},
    )
    warnings = "\n".join(told["result"]["warnings"])
    assert (
        "spec.cpu.preferredCPUTopology is deprecated or has no effect: write spec.cpu.preferredCPUTopology: cores"
        in warnings
    )
    assert "spec.firmware.preferredUseEfi is deprecated or has no effect: write spec.firmware.preferredEfi" in warnings
