"""CPUs and memory that reach a running guest."""

from typing import Any, cast

import pytest
from node_support import in_loop, vmi

from node.guests.growth import MEMORY, Growth, cpus, current, memory
from node.guests.plugs import Plugs
from node.guests.qemu import Guest

Manifest = dict[str, Any]
MIB = 2**20


class _Guest:
    """A monitor with four places for CPUs, of which QEMU lists the last first."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Manifest]] = []

    async def command(self, name: str, values: Manifest | None = None) -> Any:
        if name == "query-hotpluggable-cpus":
            places = [{"socket-id": number, "core-id": 0, "thread-id": 0} for number in (3, 2, 1, 0)]
            listed = [{"type": "max-x86_64-cpu", "vcpus-count": 1, "props": place} for place in places]
            listed[-1]["qom-path"] = "/machine/unattached/device[0]"
            return listed
        self.asked.append((name, values or {}))
        return {}


def sized(sockets: int, requested: str) -> Manifest:
    result = vmi("Running")
    result["spec"]["domain"]["memory"] = {"guest": requested, "maxGuest": "4Gi"}
    result["status"]["currentCPUTopology"] = {"sockets": sockets, "cores": 1, "threads": 1}
    result["status"]["memory"] = {"guestAtBoot": "1Gi", "guestRequested": requested}
    return result


@in_loop
async def test_cpus_are_plugged_in_the_order_of_sockets() -> None:
    guest = _Guest()
    growth = Growth(cast(Guest, guest), Plugs(cast(Guest, guest), []))
    await growth.apply(sized(1, "1Gi"))
    assert guest.asked == []
    await growth.apply(sized(3, "1Gi"))
    assert [(name, values["id"], values["socket-id"]) for name, values in guest.asked] == [
        ("device_add", "vcpu1", 1),
        ("device_add", "vcpu2", 2),
    ]
    await growth.apply(sized(3, "1Gi"))
    assert len(guest.asked) == 2


@in_loop
async def test_memory_is_one_device_that_grows() -> None:
    guest = _Guest()
    plugs = Plugs(cast(Guest, guest), ["port7"])
    growth = Growth(cast(Guest, guest), plugs)
    await growth.apply(sized(1, "2Gi"))
    await growth.apply(sized(1, "3Gi"))
    (backend, device, changed) = guest.asked
    assert backend == (
        "object-add",
        {"qom-type": "memory-backend-ram", "id": "virtiomem", "size": 3072 * MIB},
    )
    assert (device[1]["id"], device[1]["bus"], device[1]["requested-size"]) == (MEMORY, "port7", 1024 * MIB)
    assert changed == (
        "qom-set",
        {"path": f"/machine/peripheral/{MEMORY}", "property": "requested-size", "value": 2048 * MIB},
    )
    assert plugs.missing(sized(1, "2Gi")) == set()


@pytest.mark.parametrize(("plugged", "text"), [(0, "1Gi"), (512 * MIB, "1536Mi"), (1024 * MIB, "2Gi")])
def test_guest_has_the_memory_it_has_taken(plugged: int, text: str) -> None:
    assert current(sized(1, "2Gi"), plugged) == text


def test_guest_without_a_maximum_stays_as_it_is() -> None:
    manifest = sized(2, "2Gi")
    assert (cpus(manifest), memory(manifest)) == (2, (1024 * MIB, 3072 * MIB))
    del manifest["spec"]["domain"]["memory"]["maxGuest"], manifest["status"]["currentCPUTopology"]
    assert (cpus(manifest), memory(manifest)) == (0, (0, 0))
