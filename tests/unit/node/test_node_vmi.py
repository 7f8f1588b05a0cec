"""The steps of a VMI: it starts, devices come and go, it migrates and ends."""

import copy
from typing import Any

import pytest
from node_support import vmi

from node.guests.report import Report
from node.handler import conditions, guest
from node.handler import vmi as steps
from node.handler.vmi import Traits

Manifest = dict[str, Any]
PLAIN = Traits(agent=False, migratable=False)


def stepped(manifest: Manifest, traits: Traits = PLAIN, **extra: str) -> Manifest:
    """The status after one step, which changes nothing when it is made again."""
    steps.advance(manifest, traits, **extra)
    return manifest["status"]  # type: ignore[no-any-return]


def types(status: Manifest) -> set[str]:
    return {entry["type"] for entry in status.get("conditions") or []}


def test_a_vmi_starts() -> None:
    status = stepped(vmi())
    assert status["phase"] == "Running"
    assert [entry["phase"] for entry in status["phaseTransitionTimestamps"]] == ["Running"]
    assert status["memory"] == {"guestAtBoot": "2Gi", "guestCurrent": "2Gi", "guestRequested": "2Gi"}
    assert status["machine"] == {"type": "pc-q35-9.2"}
    assert types(status) == set()


@pytest.mark.parametrize("traits", [PLAIN, Traits(True, True)])
def test_a_second_step_changes_nothing(traits: Traits) -> None:
    manifest = vmi(devices={"interfaces": [{"name": "default"}]}, networks=[{"name": "default", "pod": {}}])
    stepped(manifest, traits)
    before = copy.deepcopy(manifest)
    stepped(manifest, traits)
    assert manifest == before


def test_vmi_can_start_paused() -> None:
    assert types(stepped(vmi(startStrategy="Paused"))) == {"Paused"}


def test_traits_set_conditions_and_guest_os() -> None:
    status = stepped(vmi(), Traits(agent=True, migratable=True))
    assert types(status) == {"AgentConnected", "LiveMigratable", "StorageLiveMigratable"}
    assert status["guestOSInfo"]["id"] == "fedora"


def test_cpu_and_memory_wait_for_a_migration() -> None:
    manifest = vmi("Running")
    conditions.put(manifest["status"], "HotVCPUChange")
    conditions.put(manifest["status"], "HotMemoryChange")
    manifest["status"]["memory"] = {"guestAtBoot": "1Gi", "guestCurrent": "1Gi", "guestRequested": "1Gi"}
    status = stepped(manifest, Traits(False, True))
    assert {"HotVCPUChange", "HotMemoryChange"} <= types(status) and "currentCPUTopology" not in status
    status["migrationState"] = {"targetNode": "node02", "targetNodeAddress": "127.0.0.1", "startTimestamp": "now"}
    stepped(manifest, Traits(False, True), migration_phase="Running")
    assert types(status) == {"LiveMigratable", "StorageLiveMigratable"}
    assert status["currentCPUTopology"] == {"cores": 1, "sockets": 2, "threads": 1}
    assert status["memory"] == {"guestAtBoot": "1Gi", "guestCurrent": "2Gi", "guestRequested": "2Gi"}


def test_real_guest_has_the_memory_it_has_taken() -> None:
    manifest = vmi("Running")
    manifest["spec"]["domain"]["memory"] = {"guest": "2Gi", "maxGuest": "4Gi"}
    manifest["status"]["memory"] = {"guestAtBoot": "1Gi", "guestCurrent": "2Gi", "guestRequested": "2Gi"}
    for plugged, text in ((0, "1Gi"), (2**30, "2Gi")):
        steps.advance(manifest, Traits(), report=Report(plugged_memory=plugged))
        assert manifest["status"]["memory"]["guestCurrent"] == text


def hotplugged(phase: str, **volume: Any) -> Manifest:
    disks = [{"name": "root", "disk": {"bus": "virtio"}}, {"name": "data", "disk": {"bus": "scsi"}}]
    manifest = vmi("Running", {"disks": disks}, volumes=[{"name": "root"}, {"name": "data"}])
    entry = {"name": "data", "phase": phase, "hotplugVolume": {"attachPodUID": "1"}, **volume}
    manifest["status"]["volumeStatus"] = [{"name": "root"}, entry]
    return manifest


def test_a_volume_is_mounted_then_attached() -> None:
    manifest = hotplugged("AttachedToNode")
    root, data = stepped(manifest)["volumeStatus"]
    assert root["target"] == "vda"
    assert (data["phase"], data.get("target")) == ("MountedToPod", None)
    _root, data = stepped(manifest)["volumeStatus"]
    assert (data["phase"], data["target"]) == ("Ready", "sda")


def test_a_volume_waits_for_its_pod() -> None:
    _root, data = stepped(hotplugged("Bound", hotplugVolume={}))["volumeStatus"]
    assert data["phase"] == "Bound"


def test_removed_volume_is_unmounted() -> None:
    manifest = hotplugged("Ready", target="sda")
    manifest["spec"]["volumes"].pop()
    manifest["spec"]["domain"]["devices"]["disks"].pop()
    _root, data = stepped(manifest)["volumeStatus"]
    assert (data["phase"], data["target"]) == ("UnMountedFromPod", "")


def test_disk_targets_beyond_z_have_two_letters() -> None:
    disks = [{"name": str(number), "disk": {"bus": "virtio"}} for number in range(28)]
    result = guest.targets({"domain": {"devices": {"disks": disks}}})
    assert (result["0"], result["25"], result["26"], result["27"]) == ("vda", "vdz", "vdaa", "vdab")


def networked() -> Manifest:
    devices = {"interfaces": [{"name": "blue", "macAddress": "02:00:00:00:00:01"}, {"name": "default"}]}
    networks = [{"name": "blue", "multus": {"networkName": "blue"}}, {"name": "default", "pod": {}}]
    return vmi(devices=devices, networks=networks)


def test_interfaces_of_a_guest_that_starts() -> None:
    default, blue = stepped(networked(), pod_ip="10.0.0.1")["interfaces"]
    assert (default["name"], default["ipAddress"], default["infoSource"]) == ("default", "10.0.0.1", "domain")
    assert default["mac"].startswith("02:")
    assert (blue["name"], blue["mac"], "ipAddress" in blue) == ("blue", "02:00:00:00:00:01", False)


def test_link_state_is_reported_since_1_5() -> None:
    default, _blue = stepped(networked(), Traits(link_state=False))["interfaces"]
    assert "linkState" not in default
    devices = {"interfaces": [{"name": "default", "state": "down"}]}
    (down,) = stepped(vmi(devices=devices))["interfaces"]
    assert down["linkState"] == "down"


def test_interface_is_plugged_once_present_in_pod() -> None:
    manifest = networked()
    manifest["status"].update(phase="Running", interfaces=[{"name": "default", "infoSource": "domain"}])
    assert [entry["name"] for entry in stepped(manifest)["interfaces"]] == ["default"]
    manifest["status"]["interfaces"].append(
        {"name": "blue", "infoSource": "multus-status", "podInterfaceName": "pod123"}
    )
    _default, blue = stepped(manifest, Traits(True, False))["interfaces"]
    assert blue["infoSource"] == "domain, guest-agent, multus-status"
    assert blue["podInterfaceName"] == "pod123"


def test_absent_interface_is_unplugged_then_removed() -> None:
    manifest = networked()
    sources = "domain, multus-status"
    manifest["status"].update(phase="Running", interfaces=[{"name": "blue", "infoSource": sources}])
    manifest["spec"]["domain"]["devices"]["interfaces"][0]["state"] = "absent"
    result = {entry["name"]: entry["infoSource"] for entry in stepped(manifest)["interfaces"]}
    assert result == {"default": "domain", "blue": "multus-status"}
    manifest["status"]["interfaces"] = [entry for entry in manifest["status"]["interfaces"] if entry["name"] != "blue"]
    assert [entry["name"] for entry in stepped(manifest)["interfaces"]] == ["default"]


def test_migration_proceeds_step_by_step() -> None:
    manifest = vmi("Running")
    manifest["metadata"]["labels"] = {}
    conditions.put(manifest["status"], "HotVCPUChange")
    manifest["status"]["migrationState"] = {"targetNode": "node02", "targetPod": "b", "migrationUid": "1"}
    state = manifest["status"]["migrationState"]
    stepped(manifest, Traits(False, True), migration_phase="PreparingTarget")
    assert state["targetNodeAddress"] == "127.0.0.1" and "startTimestamp" not in state
    stepped(manifest, Traits(False, True), migration_phase="TargetReady")
    assert "startTimestamp" in state and not state.get("completed")
    assert "HotVCPUChange" in types(manifest["status"])
    stepped(manifest, Traits(False, True), migration_phase="Running")
    assert state["completed"] and manifest["status"]["nodeName"] == "node02"
    assert manifest["metadata"]["labels"] == {"kubevirt.io/nodeName": "node02"}
    assert "HotVCPUChange" not in types(manifest["status"])


def test_a_migration_is_given_up() -> None:
    manifest = vmi("Running")
    manifest["status"]["migrationState"] = {"targetNode": "node02", "abortRequested": True}
    state = stepped(manifest)["migrationState"]
    assert state["failed"] and state["abortStatus"] == "Succeeded" and manifest["status"]["nodeName"] == "node01"


def test_volumes_migrate_with_the_guest() -> None:
    manifest = vmi("Running")
    conditions.put(manifest["status"], "VolumesChange")
    old, new = {"claimName": "old"}, {"claimName": "new"}
    manifest["status"].update(
        migrationState={"targetNode": "node01", "targetNodeAddress": "127.0.0.1", "startTimestamp": "t"},
        migratedVolumes=[{"volumeName": "root", "sourcePVCInfo": old, "destinationPVCInfo": new}],
        volumeStatus=[{"name": "root", "persistentVolumeClaimInfo": old}],
    )
    status = stepped(manifest, migration_phase="Running")
    assert status["volumeStatus"][0]["persistentVolumeClaimInfo"] == new
    assert "migratedVolumes" not in status and "VolumesChange" not in types(status)


def test_ended_vmi_has_succeeded() -> None:
    manifest = vmi("Running")
    steps.end(manifest)
    assert manifest["status"]["phase"] == "Succeeded"
