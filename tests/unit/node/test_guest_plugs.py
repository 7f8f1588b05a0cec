"""Disks that are plugged into a running guest."""

from typing import Any, cast

import pytest
from node_support import in_loop, vmi

from node.guests import plugs as module
from node.guests.channel import CommandFailed
from node.guests.plugs import Plugs, wanted
from node.guests.qemu import Guest

Manifest = dict[str, Any]
BLOCK = {"node-name": "disk-sda", "driver": "raw"}


class _Guest:
    """A monitor that keeps what it is asked, and refuses some of it."""

    def __init__(self, *refused: str) -> None:
        self.refused = list(refused)
        self.asked: list[str] = []

    async def command(self, name: str, _values: Manifest) -> None:
        self.asked.append(name)
        if name in self.refused:
            self.refused.remove(name)
            raise CommandFailed(f"{name}: no")


def running(**phases: str) -> Manifest:
    result = vmi("Running", devices={"disks": [{"name": name} for name in ("a", "b", "c")]})
    result["spec"]["volumes"] = [{"name": name} for name in ("a", "b", "c")]
    result["status"]["volumeStatus"] = [
        {"name": name, "phase": phase, "hotplugVolume": {}} for name, phase in phases.items()
    ]
    return result


def test_disks_are_plugged_once_they_are_mounted() -> None:
    manifest = running(a="Ready", b="AttachedToNode", c="MountedToPod", gone="Ready")
    manifest["status"]["volumeStatus"].append({"name": "b", "target": "vda"})
    assert wanted(manifest) == {"a", "c"} and wanted(vmi("Running")) == set()


@in_loop
async def test_port_of_a_disk_is_free_after_it() -> None:
    guest = _Guest()
    plugs = Plugs(cast(Guest, guest), ["port9"])
    assert plugs.missing(running(a="Ready")) == {"a"}
    await plugs.plug("a", BLOCK, {"id": "ua-a", "bus": plugs.port()})
    assert plugs.missing(running(a="Ready")) == set() and plugs.superfluous(running(b="Ready")) == {"a"}
    with pytest.raises(CommandFailed, match="all ports of the guest are taken"):
        plugs.port()
    await plugs.unplug("a")
    assert plugs.port() == "port9" and plugs.superfluous(running()) == set()
    assert guest.asked == ["blockdev-add", "device_add", "device_del", "blockdev-del"]


@in_loop
async def test_refused_disk_leaves_nothing() -> None:
    guest = _Guest("device_add")
    plugs = Plugs(cast(Guest, guest), ["port9"])
    with pytest.raises(CommandFailed, match="device_add"):
        await plugs.plug("a", BLOCK, {"id": "ua-a", "bus": "scsi0.0"})
    assert guest.asked[-1] == "blockdev-del" and plugs.missing(running(a="Ready")) == {"a"}


@in_loop
async def test_guest_gets_time_to_let_a_disk_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_POLL", 0)
    guest = _Guest("blockdev-del", "blockdev-del")
    plugs = Plugs(cast(Guest, guest), [])
    await plugs.plug("a", BLOCK, {"id": "ua-a", "bus": "scsi0.0"})
    await plugs.unplug("a")
    assert guest.asked.count("blockdev-del") == 3
    await plugs.plug("a", BLOCK, {"id": "ua-a", "bus": "scsi0.0"})
    monkeypatch.setattr(module, "_LEAVES", -1)
    guest.refused.append("blockdev-del")
    with pytest.raises(CommandFailed, match="blockdev-del"):
        await plugs.unplug("a")
    assert plugs.superfluous(running()) == {"a"}
