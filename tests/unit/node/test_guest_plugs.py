"""Disks and interfaces that are plugged into a running guest."""

from typing import Any, cast

import pytest
from node_support import in_loop, vmi

from node.guests import plugs as module
from node.guests.channel import CommandFailed
from node.guests.plugs import DISK, INTERFACE, Plugged, Plugs, arrived
from node.guests.qemu import Guest

Manifest = dict[str, Any]
BLOCK = {"node-name": "disk-sda", "driver": "raw"}
NETWORK = {"type": "user", "id": "net-blue"}
A = (DISK, "a")
BLUE = (INTERFACE, "blue")


class _Guest:
    """A monitor that keeps what it is asked, and refuses some of it. slow: how often an unplugged device is there."""

    def __init__(self, *refused: str, slow: int = 0) -> None:
        self.refused = list(refused)
        self.asked: list[str] = []
        self.slow = slow

    async def command(self, name: str, values: Manifest) -> Any:
        self.asked.append(name)
        if name in self.refused:
            self.refused.remove(name)
            raise CommandFailed(f"{name}: no")
        if name == "device_del":
            self.leaving = values["id"]
        if name == "qom-list":
            self.slow -= 1
            return [{"name": "type"}, *([{"name": self.leaving}] if self.slow >= 0 else [])]
        return {}


def running(**phases: str) -> Manifest:
    result = vmi("Running", devices={"disks": [{"name": name} for name in ("a", "b", "c")]})
    result["spec"]["volumes"] = [{"name": name} for name in ("a", "b", "c")]
    result["status"]["volumeStatus"] = [
        {"name": name, "phase": phase, "hotplugVolume": {}} for name, phase in phases.items()
    ]
    return result


def networked(state: str, *sources: str) -> Manifest:
    interfaces = [{"name": "blue", "state": state}, {"name": "later"}]
    result = vmi("Running", devices={"interfaces": interfaces})
    result["status"]["interfaces"] = [{"name": "blue", "infoSource": source} for source in sources]
    return result


def test_disks_are_plugged_once_they_are_mounted() -> None:
    manifest = running(a="Ready", b="AttachedToNode", c="MountedToPod", gone="Ready")
    manifest["status"]["volumeStatus"].append({"name": "b", "target": "vda"})
    assert arrived(manifest) == {A, (DISK, "c")} and arrived(vmi("Running")) == set()


@in_loop
async def test_interfaces_are_plugged_once_the_pod_has_them() -> None:
    assert arrived(networked("up")) == set()
    assert arrived(networked("up", "multus-status")) == {BLUE}
    assert arrived(networked("absent", "domain, multus-status")) == set()
    guest = _Guest(slow=1)
    plugs = Plugs(cast(Guest, guest), ["port9"])
    await plugs.plug(BLUE, NETWORK, {"id": "ua-blue", "bus": "port9"})
    assert plugs.superfluous(networked("up")) == set()
    assert plugs.superfluous(networked("absent", "multus-status")) == {BLUE}
    await plugs.unplug(BLUE)
    assert guest.asked == ["netdev_add", "device_add", "device_del", "qom-list", "qom-list", "netdev_del"]


def test_interfaces_of_the_start_can_leave() -> None:
    plugs = Plugs(cast(Guest, _Guest()), [], {BLUE: Plugged(NETWORK, {"id": "ua-blue", "bus": "port2"})})
    assert plugs.missing(networked("", "domain")) == set()
    assert plugs.superfluous(networked("absent", "domain")) == {BLUE}


@in_loop
async def test_port_of_a_disk_is_free_after_it() -> None:
    guest = _Guest()
    plugs = Plugs(cast(Guest, guest), ["port9"])
    assert plugs.missing(running(a="Ready")) == {A}
    await plugs.plug(A, BLOCK, {"id": "ua-a", "bus": plugs.port()})
    assert plugs.missing(running(a="Ready")) == set() and plugs.superfluous(running(b="Ready")) == {A}
    with pytest.raises(CommandFailed, match="all ports of the guest are taken"):
        plugs.port()
    await plugs.unplug(A)
    assert plugs.port() == "port9" and plugs.superfluous(running()) == set()
    assert guest.asked == ["blockdev-add", "device_add", "device_del", "qom-list", "blockdev-del"]


@in_loop
async def test_refused_disk_leaves_nothing() -> None:
    guest = _Guest("device_add")
    plugs = Plugs(cast(Guest, guest), ["port9"])
    with pytest.raises(CommandFailed, match="device_add"):
        await plugs.plug(A, BLOCK, {"id": "ua-a", "bus": "scsi0.0"})
    assert guest.asked[-1] == "blockdev-del" and plugs.missing(running(a="Ready")) == {A}


@in_loop
async def test_guest_gets_time_to_let_a_disk_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_POLL", 0)
    guest = _Guest(slow=2)
    plugs = Plugs(cast(Guest, guest), [])
    await plugs.plug(A, BLOCK, {"id": "ua-a", "bus": "scsi0.0"})
    await plugs.unplug(A)
    assert guest.asked.count("qom-list") == 3
    await plugs.plug(A, BLOCK, {"id": "ua-a", "bus": "scsi0.0"})
    monkeypatch.setattr(module, "_LEAVES", -1)
    guest.slow = 1
    with pytest.raises(CommandFailed, match="the guest does not let the disk a go"):
        await plugs.unplug(A)
    assert plugs.superfluous(running()) == {A}
