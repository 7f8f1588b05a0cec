"""Effects of changes on guests where KubeVirt compares the VM with something else than the running guest."""

from collections.abc import Callable
from typing import Any

from waiting import wait_until

from modules_support import vm

Run = Callable[..., dict[str, Any]]
NETWORK = {"config": '{"cniVersion": "0.3.1", "type": "bridge"}'}


def lan(api: Any, namespace: str) -> None:
    kind = {"api_version": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition"}
    body = {"apiVersion": kind["api_version"], "kind": kind["kind"], "metadata": {"name": "lan"}, "spec": NETWORK}
    api.resources.get(**kind).create(body, namespace)


def connected(name: str, *networks: str, **options: Any) -> dict[str, Any]:
    multus = [{"name": network, "multus": network} for network in networks]
    return {**vm(name, **options), "networks": [{"name": "default"}, *multus]}


def refresh_of(run: Run, namespace: str, name: str) -> dict[str, Any]:
    (found,) = run("virtual_machine_info", namespace=namespace, names=[name], include=["refresh"])["virtual_machines"]
    result: dict[str, Any] = found
    return result


def declared(run: Run, namespace: str, entry: dict[str, Any], **options: Any) -> dict[str, Any]:
    (result,) = run("virtual_machine", namespace=namespace, virtual_machines=[entry], wait=True, **options)["results"]
    assert not result["failed"], result
    return dict(result)


def test_stopped_vm_that_drifts_needs_nothing(run: Run, shop: str) -> None:
    declared(run, shop, vm("off"))
    declared(run, shop, {"name": "off", "run_strategy": "Halted"} | vm("off", run_strategy="Halted"))
    definition = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "small"},
        "spec": {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}},
    }
    catalog = {"source": "definitions", "definitions": [definition], "namespaces": [shop], "force_conflicts": True}
    (affected,) = run("catalog", **catalog)["virtual_machines"]
    info, (change,) = refresh_of(run, shop, "off"), run("controller_revision", namespace=shop, check=True)["results"]
    upgrade = run("upgrade_info", namespace=shop)["virtual_machines"][0]["refresh"]
    assert info["drifted"] and change["changed"]
    assert [item["needs"] for item in (affected, info, change, upgrade)] == ["nothing"] * 4


def test_refresh_of_an_adopted_vm_restarts_nothing(run: Run, shop: str) -> None:
    """The VM sets sockets alone; an instancetype sets cores and threads to one, which is what unset ones are."""
    run("instancetype", namespace=shop, name="same", cpu={"guest": 2}, memory={"guest": "1Gi"})
    volumes = [{"name": "root", "container_disk": "registry.example.com/disk:1"}]
    declared(run, shop, {"name": "old", "cpu": {"sockets": 2}, "memory": "1Gi", "volumes": volumes})
    uid = refresh_of(run, shop, "old")["vmi"]["uid"] if "vmi" in refresh_of(run, shop, "old") else None
    adopted = run("virtual_machine_adopt", namespace=shop, names=["old"], instancetypes=["same"], preferences=[])
    assert adopted["results"][0]["changed"], adopted
    assert adopted["results"][0]["needs"] == "nothing"
    wait_until(lambda: refresh_of(run, shop, "old")["instancetype"]["state"] == "current")
    info = refresh_of(run, shop, "old")
    assert (info["guest_before"], info["outstanding"], info["needs"]) == (info["guest_after"], [], "nothing")
    (refreshed,) = run("controller_revision", namespace=shop, names=["old"], restart="if_required")["results"]
    assert (refreshed["restarted"], refreshed["restart_required"]) == (False, False)
    assert uid is None or refresh_of(run, shop, "old")["vmi"]["uid"] == uid


def test_removal_of_a_plugged_network_needs_restart(run: Run, shop: str, api: Any) -> None:
    lan(api, shop)
    declared(run, shop, connected("nic"))
    plugged = declared(run, shop, connected("nic", "lan"))
    wait_until(lambda: refresh_of(run, shop, "nic")["guest_current"])
    assert plugged["needs"] == "live_update"
    removed = declared(run, shop, connected("nic"))
    assert removed["needs"] == "restart"
    assert [change["field"] for change in removed["changes"]] == ["domain.devices.interfaces", "networks"]
    info = refresh_of(run, shop, "nic")
    assert (info["needs"], info["guest_current"], info["restart_required"]) == ("restart", False, True)
    assert info["outstanding"] == ["domain.devices.interfaces.lan", "networks.lan"]
    assert declared(run, shop, connected("nic"), restart="if_required")["restarted"]
    info = refresh_of(run, shop, "nic")
    assert (info["needs"], info["guest_current"]) == ("nothing", True)
    assert not declared(run, shop, connected("nic"), restart="if_required")["restarted"]


def test_plugged_network_with_preferred_model_needs_restart(run: Run, shop: str, api: Any) -> None:
    """KubeVirt plugs the interface without the preference's model, and asks for a restart a moment later (18955)."""
    lan(api, shop)
    run("preference", namespace=shop, name="modelled", devices={"preferred_interface_model": "virtio"})
    modelled = {"preference": {"name": "modelled", "kind": "VirtualMachinePreference"}}
    declared(run, shop, connected("nic", **modelled))
    entry = connected("nic", "lan", **modelled)
    (forecast,) = run("virtual_machine", namespace=shop, virtual_machines=[entry], check=True)["results"]
    done = declared(run, shop, entry, restart="if_required")
    assert (forecast["needs"], done["needs"], done["restarted"]) == ("restart", "restart", True)
    assert not declared(run, shop, entry, restart="if_required")["restarted"]
    info = refresh_of(run, shop, "nic")
    assert (info["needs"], info["outstanding"]) == ("nothing", [])


def test_pending_restart_is_not_due_to_an_upgrade(run: Run, shop: str) -> None:
    declared(run, shop, vm("db", "medium"))
    declared(run, shop, vm("db", "small"))
    assert refresh_of(run, shop, "db")["needs"] == "restart"
    (found,) = run("upgrade_info", namespace=shop)["virtual_machines"]
    assert (found["needs"], found["restart_required"], found["affected"]) == ("nothing", False, False)
