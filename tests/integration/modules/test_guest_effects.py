"""Effects of changes on guests where KubeVirt compares the VM with something else than the running guest."""

from typing import Any

from waiting import wait_until

from modules_support import Task, manifest, network_of, objects, vm


def connected(name: str, *networks: str, **options: Any) -> dict[str, Any]:
    multus = [{"name": network, "multus": network} for network in networks]
    return {**vm(name, **options), "networks": [{"name": "default"}, *multus]}


def declared(task: Task, entry: dict[str, Any], **options: Any) -> dict[str, Any]:
    (result,) = task("virtual_machine", virtual_machines=[entry], wait=True, **options)["results"]
    return dict(result)


def test_stopped_vm_that_drifts_needs_nothing(task: Task, shop: str) -> None:
    declared(task, vm("off"))
    declared(task, {"name": "off", "run_strategy": "Halted"} | vm("off", run_strategy="Halted"))
    definition = manifest("VirtualMachineInstancetype", "small", {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}})
    catalog = {"source": "definitions", "definitions": [definition], "namespaces": [shop], "force_conflicts": True}
    (affected,) = task("catalog", **catalog)["virtual_machines"]
    info, (change,) = task.vm("off", "refresh"), task("controller_revision", check=True)["results"]
    upgrade = task("upgrade_info")["virtual_machines"][0]["refresh"]
    assert info["drifted"] and change["changed"]
    assert [item["needs"] for item in (affected, info, change, upgrade)] == ["nothing"] * 4


def test_refresh_of_an_adopted_vm_restarts_nothing(task: Task, shop: str) -> None:
    """The VM sets sockets alone; an instancetype sets cores and threads to one, which is what unset ones are."""
    task("instancetype", name="same", cpu={"guest": 2}, memory={"guest": "1Gi"})
    volumes = [{"name": "root", "container_disk": "registry.example.com/disk:1"}]
    declared(task, {"name": "old", "cpu": {"sockets": 2}, "memory": "1Gi", "volumes": volumes})
    uid = task.vm("old", "refresh")["vmi"]["uid"] if "vmi" in task.vm("old", "refresh") else None
    adopted = task("virtual_machine_adopt", names=["old"], instancetypes=["same"], preferences=[])
    assert adopted["results"][0]["changed"], adopted
    assert adopted["results"][0]["needs"] == "nothing"
    wait_until(lambda: task.vm("old", "refresh")["instancetype"]["state"] == "current")
    info = task.vm("old", "refresh")
    assert (info["guest_before"], info["outstanding"], info["needs"]) == (info["guest_after"], [], "nothing")
    (refreshed,) = task("controller_revision", names=["old"], restart="if_required")["results"]
    assert (refreshed["restarted"], refreshed["restart_required"]) == (False, False)
    assert uid is None or task.vm("old", "refresh")["vmi"]["uid"] == uid


def test_removal_of_a_plugged_network_needs_restart(task: Task, shop: str, api: Any) -> None:
    network_of(api, shop, "lan")
    declared(task, connected("nic"))
    plugged = declared(task, connected("nic", "lan"))
    wait_until(lambda: task.vm("nic", "refresh")["guest_current"])
    assert plugged["needs"] == "live_update"
    removed = declared(task, connected("nic"))
    assert removed["needs"] == "restart"
    assert [change["field"] for change in removed["changes"]] == ["domain.devices.interfaces", "networks"]
    info = task.vm("nic", "refresh")
    assert (info["needs"], info["guest_current"], info["restart_required"]) == ("restart", False, True)
    assert info["outstanding"] == ["domain.devices.interfaces.lan", "networks.lan"]
    assert declared(task, connected("nic"), restart="if_required")["restarted"]
    info = task.vm("nic", "refresh")
    assert (info["needs"], info["guest_current"]) == ("nothing", True)
    assert not declared(task, connected("nic"), restart="if_required")["restarted"]


def test_plugged_network_with_preferred_model_needs_restart(task: Task, shop: str, api: Any) -> None:
    """KubeVirt plugs the interface without the preference's model, and asks for a restart a moment later (18955)."""
    network_of(api, shop, "lan")
    task("preference", name="modelled", devices={"preferred_interface_model": "virtio"})
    modelled = {"preference": {"name": "modelled", "kind": "VirtualMachinePreference"}}
    declared(task, connected("nic", **modelled))
    entry = connected("nic", "lan", **modelled)
    (forecast,) = task("virtual_machine", virtual_machines=[entry], check=True)["results"]
    done = declared(task, entry, restart="if_required")
    assert (forecast["needs"], done["needs"], done["restarted"]) == ("restart", "restart", True)
    assert not declared(task, entry, restart="if_required")["restarted"]
    info = task.vm("nic", "refresh")
    assert (info["needs"], info["outstanding"]) == ("nothing", [])


def test_pending_restart_is_not_due_to_an_upgrade(task: Task, shop: str) -> None:
    declared(task, vm("db", "medium"))
    declared(task, vm("db", "small"))
    assert task.vm("db", "refresh")["needs"] == "restart"
    (found,) = task("upgrade_info")["virtual_machines"]
    assert (found["needs"], found["restart_required"], found["affected"]) == ("nothing", False, False)


def _arrived(api: Any, namespace: str, name: str) -> tuple[int, str]:
    """The sockets and the memory that KubeVirt has plugged into a guest."""
    instance = objects(api, "VirtualMachineInstance").get(name=name, namespace=namespace).to_dict()["status"]
    return instance["currentCPUTopology"]["sockets"], instance["memory"]["guestRequested"]


def test_wait_ends_when_sockets_and_memory_are_there(task: Task, shop: str, api: Any) -> None:
    task("instancetype", name="larger", cpu={"guest": 2}, memory={"guest": "4Gi"})
    declared(task, vm("web"))
    before = _arrived(api, shop, "web")
    resized = declared(task, vm("web", "larger"))
    assert (before, resized["needs"], _arrived(api, shop, "web")) == ((1, "2Gi"), "live_update", (2, "4Gi"))


def test_refresh_ends_when_sockets_are_there(task: Task, shop: str, api: Any) -> None:
    for cpus in (1, 2):
        task("instancetype", name="own", cpu={"guest": cpus}, memory={"guest": "2Gi"})
        if cpus == 1:
            declared(task, vm("web", "own"))
    (refreshed,) = task("controller_revision", names=["web"])["results"]
    assert (refreshed["needs"], _arrived(api, shop, "web")) == ("live_update", (2, "2Gi"))
