"""Moves to other instancetypes, preferences and templates, and back."""

from collections.abc import Callable
from typing import Any

from modules_support import vm

Run = Callable[..., dict[str, Any]]


def vm_spec(api: Any, namespace: str, name: str) -> dict[str, Any]:
    result = api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine").get(namespace=namespace, name=name)
    spec: dict[str, Any] = result.to_dict()["spec"]
    return spec


def large(run: Run, namespace: str, **options: Any) -> None:
    size = {"cpu": {"guest": 3}, "memory": {"guest": "6Gi", "max_guest": "6Gi"}}
    made = run("instancetype", namespace=namespace, name="large", **size, **options)
    assert not made.get("failed"), made


def test_moved_vm_is_restored_exactly(run: Run, shop: str, api: Any) -> None:
    large(run, shop)
    entries = [
        vm("db", "medium"),
        vm("web"),
        vm("off", "medium", run_strategy="Halted"),
    ]
    assert run("virtual_machine", namespace=shop, virtual_machines=entries, wait=True)["changed"]
    # One is pinned, and both of the same instancetype have an older revision than a new capture would give them.
    pinned = run("controller_revision", namespace=shop, names=["off"], state="pinned", revision="current")
    assert not pinned.get("failed"), pinned
    assert run("instancetype", namespace=shop, name="medium", cpu={"guest": 4}, memory={"guest": "4Gi"})["changed"]
    before = {name: vm_spec(api, shop, name) for name in ("db", "web", "off")}
    old = run("virtual_machine_info", namespace=shop, names=["db"])["virtual_machines"][0]["instancetype"]["revision"]
    move = {
        "namespace": shop,
        "state": "moved",
        "replace": {"medium": "large"},
        "patch": {"spec": {"domain": {"machine": {"type": "pc-q35-9.2"}}}},
    }
    planned = run("controller_revision", **move, check=True)
    assert [(item["name"], item["changed"], item["needs"]) for item in planned["results"]] == [
        ("db", True, "restart"),
        ("off", True, "nothing"),
        ("web", True, "restart"),
    ], planned
    assert {name: vm_spec(api, shop, name) for name in before} == before

    moved = run("controller_revision", **move, restart="if_required")
    result = {item["name"]: item for item in moved["results"]}
    assert {name: (item["changed"], item["restarted"]) for name, item in result.items()} == {
        "db": (True, True),
        "off": (True, False),
        "web": (True, True),
    }, moved
    assert vm_spec(api, shop, "db")["instancetype"]["name"] == "large"
    assert "large" in result["db"]["revisions"]["instancetype"]
    matches = run("virtual_machine_info", namespace=shop, names=["db"])["virtual_machines"][0]
    assert matches["vmi"]["guest"]["vcpus"] == 3
    again = run("controller_revision", **move, restart="if_required")
    assert (again["changed"], again["msg"]) == (False, "3 virtual machines: 0 moved, 3 unchanged"), again

    back = {
        "namespace": shop,
        "state": "restored",
        "previous": {name: item["previous"] for name, item in result.items()},
    }
    restored = run("controller_revision", **back, restart="if_required")
    assert [(item["name"], item["changed"], item["restarted"]) for item in restored["results"]] == [
        ("db", True, True),
        ("off", True, False),
        ("web", True, True),
    ], restored
    assert {name: vm_spec(api, shop, name) for name in before} == before
    matches = run("virtual_machine_info", namespace=shop, names=["db"])["virtual_machines"][0]
    assert (matches["instancetype"]["revision"], matches["vmi"]["guest"]["vcpus"]) == (old, 2)
    assert not run("controller_revision", **back)["changed"]
    # The play that declared the VMs owns the fields again, and changes nothing else.
    declared = run("virtual_machine", namespace=shop, virtual_machines=entries[:2])
    assert not declared.get("failed") and {name: vm_spec(api, shop, name) for name in before} == before
    assert not run("virtual_machine", namespace=shop, virtual_machines=entries[:2])["changed"]


def test_deprecated_instancetype_is_replaced(run: Run, shop: str, api: Any) -> None:
    large(run, shop)
    assert run("virtual_machine", namespace=shop, **vm("db", "medium", run_strategy="Halted"), wait=True)["changed"]
    move = {"namespace": shop, "state": "moved", "replace": "deprecated"}
    nothing = run("controller_revision", **move)
    assert (nothing["changed"], "previous" in nothing["results"][0]) == (False, False), nothing
    # Nothing to undo is no error.
    assert run("controller_revision", namespace=shop, state="restored", previous={}, restart="if_required")["msg"]
    size = {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}}
    result = run("instancetype", namespace=shop, name="medium", **size, deprecated={"replacement": "large"})
    assert result["changed"], result
    moved = run("controller_revision", **move)
    assert moved["msg"] == "1 virtual machine: 1 moved, 0 unchanged", moved
    assert vm_spec(api, shop, "db")["instancetype"]["name"] == "large"


def test_refused_move_writes_nothing(run: Run, shop: str, api: Any) -> None:
    large(run, shop)
    entry = vm("db", "medium", run_strategy="Halted")
    assert run("virtual_machine", namespace=shop, **entry, wait=True)["changed"]
    before = vm_spec(api, shop, "db")
    refused = run("controller_revision", namespace=shop, state="moved", replace={"medium": "lagre"})
    assert "the replacement lagre cannot be read" in refused["msg"] and "nothing was changed" in refused["msg"]
    refused = run("controller_revision", namespace=shop, state="moved", patch={"spec": {"domian": {}}})
    assert "patch: spec.domian: this KubeVirt has no such field" in refused["msg"]
    refused = run("controller_revision", namespace=shop, state="moved", replace=["large"])
    assert "replace: " in refused["msg"] and "{u1.medium: u1.large}" in refused["msg"]
    # A dry run asks for what only the cluster knows.
    machine = {"spec": {"domain": {"machine": {"type": "pentium"}}}}
    refused = run("controller_revision", namespace=shop, state="moved", patch=machine, check=True)
    assert "pentium" in refused["msg"], refused
    assert vm_spec(api, shop, "db") == before
