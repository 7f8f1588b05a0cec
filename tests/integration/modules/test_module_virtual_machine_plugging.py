"""virtual_machine: disks and CD-ROMs that a running guest gets and loses, as declared."""

from collections.abc import Callable
from typing import Any

import pytest
from plugging_support import BLANK, DATA, Run, Volume, attached
from waiting import wait_until

from modules_support import warned

COLD = {"name": "data", "persistent_volume_claim": "one"}
DRIVE = {"name": "iso", "device": "cdrom", "bus": "sata"}
LOADED = {**DRIVE, "persistent_volume_claim": "one", "hotpluggable": True}
SECOND = {**BLANK, "name": "second"}
OTHER = {**LOADED, "persistent_volume_claim": "two"}


@pytest.mark.parametrize(
    ("before", "after", "disks"),
    [
        ([], [DATA], {"root": "", "data": "one"}),
        ([], [{**DATA, "bus": "virtio"}], {"root": "", "data": "one"}),
        ([], [BLANK], {"root": "", "blank": "web-blank"}),
        ([DATA], [], {"root": ""}),
        ([BLANK], [], {"root": ""}),
        ([BLANK, SECOND], [BLANK], {"root": "", "blank": "web-blank"}),
        ([BLANK], [SECOND], {"root": "", "second": "web-second"}),
        ([DATA, DRIVE], [DRIVE], {"root": "", "iso": ""}),
        ([DRIVE], [LOADED], {"root": "", "iso": "one"}),
        ([LOADED], [DRIVE], {"root": "", "iso": ""}),
        ([LOADED], [OTHER], {"root": "", "iso": "two"}),
    ],
)
def test_running_guest_takes_declared_volumes(
    declare_volumes: Run,
    seen_vm: Callable[[], dict[str, Any]],
    before: list[Volume],
    after: list[Volume],
    disks: dict[str, str],
) -> None:
    assert declare_volumes(*before)["changed"]
    first = seen_vm()
    foreseen = declare_volumes(*after, check=True)["result"]
    assert (foreseen["needs"], foreseen["restart_required"]) == ("live_update", False)
    done = declare_volumes(*after, restart="if_required")
    assert (done["result"]["needs"], done["result"]["restarted"]) == ("live_update", False)
    assert not warned(done)
    wait_until(lambda: attached(seen_vm()) == disks)
    now = seen_vm()
    assert now["vmi"]["uid"] == first["vmi"]["uid"]
    assert "RestartRequired" not in {condition["type"] for condition in now["conditions"]}
    assert (now["restart_required"], now["guest_current"]) == (False, True)
    assert not declare_volumes(*after)["changed"]


@pytest.mark.parametrize(
    ("before", "after", "requested"),
    [
        ([], [COLD], True),
        ([COLD], [], True),
        ([], [DRIVE], True),
        ([DRIVE], [], True),
        # KubeVirt tries, and virt-api rejects a CD-ROM drive for a running guest.
        ([], [LOADED], False),
    ],
)
def test_other_disks_need_a_restart(
    declare_volumes: Run,
    seen_vm: Callable[[], dict[str, Any]],
    before: list[Volume],
    after: list[Volume],
    requested: bool,
) -> None:
    declare_volumes(*before)
    first = seen_vm()["vmi"]
    for check in (True, False):
        result = declare_volumes(*after, check=check)["result"]
        assert (result["needs"], result["restart_required"]) == ("restart", True), result
    expected = "RestartRequired" if requested else "requires diskDevice of type"
    wait_until(lambda: expected in str(seen_vm()["conditions"]))
    # A VMI loses a CD-ROM drive immediately, its guest does not.
    assert attached(seen_vm()) | {"iso": ""} == attached({"vmi": first}) | {"iso": ""}
    assert declare_volumes(*after, restart="if_required")["result"]["restarted"]
    now = seen_vm()
    assert now["vmi"]["uid"] != first["uid"]
    assert (now["restart_required"], now["guest_current"]) == (False, True)


def test_disk_without_a_bus_is_not_plugged(declare_volumes: Run, seen_vm: Callable[[], dict[str, Any]]) -> None:
    """This is why the option sets a bus."""
    source = {"persistentVolumeClaim": {"claimName": "one", "hotpluggable": True}}
    disks = [{"name": "data", "disk": {}}]
    template = {"spec": {"volumes": [{"name": "data", **source}], "domain": {"devices": {"disks": disks}}}}
    declare_volumes()
    result = declare_volumes(template=template)["result"]
    assert (result["needs"], result["restart_required"]) == ("restart", True)
    wait_until(lambda: "requires bus to be" in str(seen_vm()["conditions"]))
