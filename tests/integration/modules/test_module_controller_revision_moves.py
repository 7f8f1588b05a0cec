"""Moves to other instancetypes, preferences and templates, and back."""

from typing import Any

from modules_support import Task, by_name, live, vm


def large(task: Task, **options: Any) -> None:
    size = {"cpu": {"guest": 3}, "memory": {"guest": "6Gi", "max_guest": "6Gi"}}
    task("instancetype", name="large", **size, **options)


def test_moved_vm_is_restored_exactly(task: Task, shop: str, api: Any) -> None:
    large(task)
    entries = [
        vm("db", "medium"),
        vm("web"),
        vm("off", "medium", run_strategy="Halted"),
    ]
    assert task("virtual_machine", virtual_machines=entries, wait=True)["changed"]
    # One is pinned, and both of the same instancetype have an older revision than a new capture would give them.
    task("controller_revision", names=["off"], state="pinned", revision="current")
    assert task("instancetype", name="medium", cpu={"guest": 4}, memory={"guest": "4Gi"})["changed"]
    before = {name: live(api, shop, name)["spec"] for name in ("db", "web", "off")}
    old = task.vm("db")["instancetype"]["revision"]
    move = {
        "state": "moved",
        "replace": {"medium": "large"},
        "patch": {"spec": {"domain": {"machine": {"type": "pc-q35-9.2"}}}},
    }
    planned = task("controller_revision", **move, check=True)
    assert [(item["name"], item["changed"], item["needs"]) for item in planned["results"]] == [
        ("db", True, "restart"),
        ("off", True, "nothing"),
        ("web", True, "restart"),
    ], planned
    assert {name: live(api, shop, name)["spec"] for name in before} == before

    moved = task("controller_revision", **move, restart="if_required")
    result = by_name(moved["results"])
    assert {name: (item["changed"], item["restarted"]) for name, item in result.items()} == {
        "db": (True, True),
        "off": (True, False),
        "web": (True, True),
    }, moved
    assert live(api, shop, "db")["spec"]["instancetype"]["name"] == "large"
    assert "large" in result["db"]["revisions"]["instancetype"]
    matches = task.vm("db")
    assert matches["vmi"]["guest"]["vcpus"] == 3
    again = task("controller_revision", **move, restart="if_required")
    assert (again["changed"], again["msg"]) == (False, "3 virtual machines: 0 moved, 3 unchanged"), again

    back = {"state": "restored", "previous": {name: item["previous"] for name, item in result.items()}}
    restored = task("controller_revision", **back, restart="if_required")
    assert [(item["name"], item["changed"], item["restarted"]) for item in restored["results"]] == [
        ("db", True, True),
        ("off", True, False),
        ("web", True, True),
    ], restored
    assert {name: live(api, shop, name)["spec"] for name in before} == before
    matches = task.vm("db")
    assert (matches["instancetype"]["revision"], matches["vmi"]["guest"]["vcpus"]) == (old, 2)
    assert not task("controller_revision", **back)["changed"]
    # The play that declared the VMs owns the fields again, and changes nothing else.
    task("virtual_machine", virtual_machines=entries[:2])
    assert {name: live(api, shop, name)["spec"] for name in before} == before
    assert not task("virtual_machine", virtual_machines=entries[:2])["changed"]


def test_deprecated_instancetype_is_replaced(task: Task, shop: str, api: Any) -> None:
    large(task)
    assert task("virtual_machine", **vm("db", "medium", run_strategy="Halted"), wait=True)["changed"]
    move = {"state": "moved", "replace": "deprecated"}
    nothing = task("controller_revision", **move)
    assert (nothing["changed"], "previous" in nothing["results"][0]) == (False, False), nothing
    # Nothing to undo is no error.
    assert task("controller_revision", state="restored", previous={}, restart="if_required")["msg"]
    size = {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}}
    assert task("instancetype", name="medium", **size, deprecated={"replacement": "large"})["changed"]
    moved = task("controller_revision", **move)
    assert moved["msg"] == "1 virtual machine: 1 moved, 0 unchanged", moved
    assert live(api, shop, "db")["spec"]["instancetype"]["name"] == "large"


def test_refused_move_writes_nothing(task: Task, shop: str, api: Any) -> None:
    large(task)
    entry = vm("db", "medium", run_strategy="Halted")
    assert task("virtual_machine", **entry, wait=True)["changed"]
    before = live(api, shop, "db")["spec"]
    refused = task.refused("controller_revision", state="moved", replace={"medium": "lagre"})
    assert "the replacement lagre cannot be read" in refused["msg"] and "nothing was changed" in refused["msg"]
    refused = task.refused("controller_revision", state="moved", patch={"spec": {"domian": {}}})
    assert "patch: spec.domian: this KubeVirt has no such field" in refused["msg"]
    refused = task.refused("controller_revision", state="moved", replace=["large"])
    assert "replace: " in refused["msg"] and "{u1.medium: u1.large}" in refused["msg"]
    # A dry run asks for what only the cluster knows.
    machine = {"spec": {"domain": {"machine": {"type": "pentium"}}}}
    refused = task.refused("controller_revision", state="moved", patch=machine, check=True)
    assert "pentium" in refused["msg"], refused
    assert live(api, shop, "db")["spec"] == before
