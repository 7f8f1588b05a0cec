"""Drift and refresh."""

from collections.abc import Callable
from typing import Any

from waiting import wait_until

from modules_support import Task, by_name, objects, pool_of, vm
from plugins.module_utils._resolver.api.keys import REFRESH_ANNOTATION
from plugins.module_utils._resolver.change import recapture

VMS = {"apiGroups": ["kubevirt.io"], "resources": ["virtualmachines"]}
READ = [
    {"apiGroups": ["kubevirt.io"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": ["instancetype.kubevirt.io"], "resources": ["*"], "verbs": ["get", "list"]},
    {"apiGroups": ["apps"], "resources": ["controllerrevisions"], "verbs": ["get", "list"]},
]


def grow(task: Task, cpu: int = 4, memory: str = "8Gi", **spec: Any) -> None:
    size = {"cpu": {"guest": cpu, **spec}, "memory": {"guest": memory, "max_guest": memory}}
    assert task("instancetype", name="medium", **size)["changed"]


def guest(task: Task, name: str) -> tuple[int, str]:
    result = task.vm(name)["vmi"]["guest"]
    return result["vcpus"], result["memory"]


def test_refresh_with_restart_removes_drift(task: Task, shop: str) -> None:
    task("virtual_machine", virtual_machines=[vm("db", "medium"), vm("web")], wait=True)
    assert not any(item["drifted"] for item in task("virtual_machine_info")["virtual_machines"])
    grow(task)
    seen = task.vms(include=["refresh"])
    assert (seen["db"]["drifted"], seen["web"]["drifted"]) == (True, False)
    assert (seen["db"]["guest_before"]["vcpus"], seen["db"]["guest_after"]["vcpus"]) == (2, 4)
    assert [change["field"] for change in seen["db"]["instancetype"]["changes"]] == [
        "cpu.guest",
        "memory.guest",
        "memory.maxGuest",
    ]
    assert guest(task, "db") == (2, "4Gi")

    planned = task("controller_revision", check=True)
    assert [(item["name"], item["changed"]) for item in planned["results"]] == [("db", True), ("web", False)]
    assert task.vm("db")["drifted"]

    refreshed = task("controller_revision", restart="if_required")
    result = by_name(refreshed["results"])
    assert (result["db"]["changed"], result["db"]["restarted"]) == (True, True), refreshed
    assert result["db"]["revisions"]["instancetype"].endswith("-2")
    assert guest(task, "db") == (4, "8Gi")
    assert not task("controller_revision")["changed"]


def test_terminating_vm_is_skipped(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", virtual_machines=[vm("db", "medium"), vm("old", "medium")], wait=True)
    machines = objects(api, "VirtualMachine")
    hold = {"metadata": {"name": "old", "finalizers": ["example.com/held"]}}
    machines.patch(namespace=shop, body=hold, content_type="application/merge-patch+json")
    task("virtual_machine", name="old", state="absent")
    grow(task)
    refreshed = task("controller_revision", restart="if_required", wait_timeout=20)
    result = {item["name"]: (item["changed"], item["failed"], item["restarted"]) for item in refreshed["results"]}
    hold["metadata"]["finalizers"] = None  # type: ignore[assignment]
    machines.patch(namespace=shop, body=hold, content_type="application/merge-patch+json")
    assert result == {"db": (True, False, True), "old": (False, False, False)}, refreshed


def test_refreshed_vm_stays_stopped(task: Task, shop: str) -> None:
    task("virtual_machine", **vm("db", "medium", run_strategy="Halted"), wait=True)
    grow(task)
    refreshed = task("controller_revision", names=["db"], restart="always")
    assert (refreshed["changed"], refreshed["results"][0]["restarted"]) == (True, False), refreshed
    result = task.vm("db")
    assert (result["run_strategy"], result["status"]) == ("Halted", "Stopped")


def test_missing_right_to_the_status_is_named(task: Task, shop: str, user_with: Callable[..., dict[str, Any]]) -> None:
    task("virtual_machine", **vm("db", "medium", run_strategy="Halted"), wait=True)
    grow(task)
    before = task.vm("db")["instancetype"]["revision"]
    user = user_with(*READ, {**VMS, "verbs": ["patch"]})
    refused = task.refused("controller_revision", names=["db"], **user)
    assert 'resources: ["virtualmachines/status"]' in refused["msg"]
    assert task.vm("db")["instancetype"]["revision"] == before


def test_refresh_that_fails_preflight_writes_nothing(task: Task, shop: str) -> None:
    entry = vm("db", "medium", run_strategy="Halted", cpu={"model": "host-model"})
    assert task("virtual_machine", **entry, wait=True)["changed"]
    grow(task, model="EPYC")
    before = task("virtual_machine_info")["virtual_machines"][0]["instancetype"]["revision"]
    refused = task.refused("controller_revision")
    assert "domain.cpu.model conflicts with selected instance type; nothing was changed" in refused["msg"]
    assert task("virtual_machine_info")["virtual_machines"][0]["instancetype"]["revision"] == before


def test_an_unknown_name(task: Task, shop: str) -> None:
    assert task.refused("controller_revision", names=["nobody"])["msg"] == (
        f"names: no such virtual machine in {shop}: nobody"
    )


def revision_of(task: Task, name: str) -> str:
    return str(task.vm(name, "refresh")["instancetype"]["revision"])


def test_roll_back_and_forward_again(task: Task, shop: str) -> None:
    task("virtual_machine", **vm("db", "medium"), wait=True)
    first = revision_of(task, "db")
    grow(task)
    assert task("controller_revision", restart="if_required")["changed"]
    second = revision_of(task, "db")
    assert guest(task, "db") == (4, "8Gi")

    back = {"names": ["db"], "state": "pinned", "revision": "previous", "revisions_of": "instancetype"}
    planned = task("controller_revision", **back, check=True)
    assert (planned["changed"], planned["results"][0]["guest_after"]["memory"]) == (True, "4Gi"), planned
    done = task("controller_revision", **back, restart="if_required")
    assert (done["changed"], done["results"][0]["revisions"]) == (True, {"instancetype": first}), done
    assert guest(task, "db") == (2, "4Gi")
    # Twice back is where once back was.
    assert not task("controller_revision", **back, restart="if_required")["changed"]
    named = {**back, "revision": first}
    assert not task("controller_revision", **named)["changed"]
    # A play that declares the VM leaves the pin alone.
    assert not task("virtual_machine", **vm("db", "medium"))["changed"]

    refused = task.refused("controller_revision", names=["db"])
    assert "is pinned by revisionName; unpin it first" in refused["msg"]
    assert task("controller_revision", names=["db"], state="unpinned")["changed"]
    assert not task("controller_revision", names=["db"], state="unpinned")["changed"]
    assert revision_of(task, "db") == first
    assert task("controller_revision", names=["db"], restart="if_required")["changed"]
    assert (revision_of(task, "db"), guest(task, "db")) == (second, (4, "8Gi"))


def test_pin_names_the_captured_revision(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", **vm("db", "medium"), wait=True)
    has = revision_of(task, "db")
    grow(task)
    pin = {"names": ["db"], "state": "pinned", "revision": "current"}
    pinned = task("controller_revision", **pin, restart="if_required")
    assert pinned["changed"] and not pinned["results"][0]["restarted"], pinned
    assert pinned["results"][0]["revisions"]["instancetype"] == has
    assert not task("controller_revision", **pin)["changed"]
    # A snapshot of a stopped VM keeps its spec alone.
    stored = objects(api, "VirtualMachine").get(name="db", namespace=shop)
    assert stored.spec.instancetype.revisionName == has
    assert guest(task, "db") == (2, "4Gi")


def test_an_unknown_revision(task: Task, shop: str) -> None:
    task("virtual_machine", **vm("db", "medium", run_strategy="Halted"), wait=True)
    refused = task.refused("controller_revision", state="pinned", revision="nowhere")
    assert f"{shop}/db: the VM's instancetype and preference have no revision nowhere" in refused["msg"]


def test_prune_keeps_referenced_revisions(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", **vm("db", "medium", run_strategy="Halted"), wait=True)
    names = [revision_of(task, "db")]
    for cpu in (3, 4, 5):
        grow(task, cpu)
        assert task("controller_revision")["changed"]
        names.append(revision_of(task, "db"))
    info = task("virtual_machine_info", include=["refresh"])
    assert [entry["name"] for entry in info["unreferenced"]] == names[:3]
    planned = task("controller_revision", state="pruned", keep=1, check=True)
    assert [entry["name"] for entry in planned["results"]] == names[:2]
    assert task("controller_revision", state="pruned", keep=1)["changed"]
    resource = objects(api, "ControllerRevision")
    left = {item.metadata.name for item in resource.get(namespace=shop).items}
    assert left >= set(names[2:])
    assert not left & set(names[:2])
    assert not task("controller_revision", state="pruned", keep=1)["changed"]


def test_prune_keeps_what_a_pool_pins(task: Task, shop: str, api: Any) -> None:
    """The template of a pool names the revision; the pool has no VM yet."""
    task("virtual_machine", **vm("db", "medium", run_strategy="Halted"), wait=True)
    names = [revision_of(task, "db")]
    for cpu in (3, 4):
        grow(task, cpu)
        assert task("controller_revision")["changed"]
        names.append(revision_of(task, "db"))
    pinned, unused, _current = names
    matcher = {"name": "medium", "kind": "VirtualMachineInstancetype", "revisionName": pinned}
    pools = pool_of(api, shop, "b", {"instancetype": matcher})
    prune = {"state": "pruned", "keep": 0}
    assert [entry["name"] for entry in task("controller_revision", **prune)["results"]] == [unused]
    assert not task("controller_revision", **prune)["changed"]
    pools.delete(name="b", namespace=shop)
    wait_until(lambda: not pools.get(namespace=shop).items)
    assert [entry["name"] for entry in task("controller_revision", **prune)["results"]] == [pinned]


def test_prune_needs_rights_to_list_every_referrer(
    task: Task, shop: str, user_with: Callable[..., dict[str, Any]]
) -> None:
    task("virtual_machine", **vm("db", "medium", run_strategy="Halted"), wait=True)
    grow(task)
    assert task("controller_revision")["changed"]
    delete = {"apiGroups": ["apps"], "resources": ["controllerrevisions"], "verbs": ["delete"]}
    result = task.refused("controller_revision", state="pruned", **user_with(*READ, delete))
    # The API server says it of a kind that it does not serve, too.
    assert "virtualmachinepools" in result["msg"], result
    assert result["msg"].endswith("nothing was pruned, because a VM that the task cannot see may use a revision")
    assert len(task("virtual_machine_info", include=["refresh"])["unreferenced"]) == 1


def test_refresh_replaces_a_lost_revision(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", **vm("db", "medium", run_strategy="Halted"), wait=True)
    lost = revision_of(task, "db")
    objects(api, "ControllerRevision").delete(name=lost, namespace=shop)
    seen = task.vm("db", "refresh")
    assert seen["instancetype"]["state"] == "revision_lost"
    healed = task("controller_revision")
    assert (healed["changed"], healed["results"][0]["revisions"]["instancetype"]) == (True, lost), healed
    seen = task.vm("db", "refresh")
    assert seen["instancetype"]["state"] == "current"


def test_next_run_finishes_an_interrupted_refresh(task: Task, shop: str) -> None:
    task("virtual_machine", **vm("db", "medium"), wait=True)
    grow(task)
    # This stands for a run that was cut off between the refresh and the restart.
    assert task("controller_revision", restart="never")["changed"]
    # The running guest has what it was started with.
    assert guest(task, "db")[1] == "4Gi"
    done = task("controller_revision", restart="if_required")
    assert (done["changed"], done["results"][0]["restarted"]) == (True, True), done
    assert guest(task, "db") == (4, "8Gi")
    assert not task("controller_revision", restart="if_required")["changed"]


def test_next_run_removes_the_refresh_annotation(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", **vm("db", "medium"), wait=True)
    grow(task)
    # This stands for a run that was cut off between the two patches that raise the generation.
    vms = objects(api, "VirtualMachine")
    vms.patch(recapture.BUMP_PATCHES[0], "db", shop, content_type="application/merge-patch+json")
    assert task("controller_revision", restart="if_required")["changed"]
    assert REFRESH_ANNOTATION not in str(vms.get(name="db", namespace=shop).to_dict()["spec"])
    assert not task("controller_revision", restart="if_required")["changed"]
