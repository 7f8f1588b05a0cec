"""virtual_machine: disks and CD-ROMs that a running guest gets and loses, as declared."""

from collections.abc import Callable
from typing import Any

import pytest

from modules_support import claim_of, wait_until, warned

Run = Callable[..., dict[str, Any]]
Volume = dict[str, Any]

ROOT = {"name": "root", "container_disk": "registry.example.com/disk:1"}
DATA = {"name": "data", "persistent_volume_claim": "one", "hotpluggable": True}
COLD = {"name": "data", "persistent_volume_claim": "one"}
# Made with the VM's change.
BLANK = {"name": "blank", "import": {"blank": True, "size": "1Gi"}, "hotpluggable": True}
DRIVE = {"name": "iso", "device": "cdrom", "bus": "sata"}
LOADED = {**DRIVE, "persistent_volume_claim": "one", "hotpluggable": True}
OTHER = {**LOADED, "persistent_volume_claim": "two"}


@pytest.fixture
def declare(run: Run, namespace: str, api: Any) -> Callable[..., dict[str, Any]]:
    """declare(*volumes, **options): the result for a VM that has these besides its root disk."""
    for claim in ("one", "two"):
        claim_of(api, namespace, claim)

    def one(*volumes: Volume, **options: Any) -> dict[str, Any]:
        options = {"wait": True, "volumes": [ROOT, *volumes], **options}
        done = run("virtual_machine", namespace=namespace, name="web", memory="1Gi", **options)
        assert not done.get("failed"), done
        return done

    return one


@pytest.fixture
def seen(run: Run, namespace: str) -> Callable[[], dict[str, Any]]:
    """seen(): the VM as virtual_machine_info returns it."""

    def one() -> dict[str, Any]:
        (vm,) = run("virtual_machine_info", namespace=namespace, include=["refresh"])["virtual_machines"]
        result: dict[str, Any] = vm
        return result

    return one


def attached(vm: dict[str, Any]) -> dict[str, str]:
    """The claims of the guest's disks by name, of those that libvirt has."""
    return {disk["name"]: disk["claim"] for disk in vm["instance"]["disks"] if disk["target"] or not disk["source"]}


@pytest.mark.parametrize(
    ("before", "after", "disks"),
    [
        ([], [DATA], {"root": "", "data": "one"}),
        ([], [{**DATA, "bus": "virtio"}], {"root": "", "data": "one"}),
        ([], [BLANK], {"root": "", "blank": "web-blank"}),
        ([DATA], [], {"root": ""}),
        ([DATA, DRIVE], [DRIVE], {"root": "", "iso": ""}),
        ([DRIVE], [LOADED], {"root": "", "iso": "one"}),
        ([LOADED], [DRIVE], {"root": "", "iso": ""}),
        ([LOADED], [OTHER], {"root": "", "iso": "two"}),
    ],
)
def test_running_guest_takes_declared_volumes(
    declare: Run, seen: Callable[[], dict[str, Any]], before: list[Volume], after: list[Volume], disks: dict[str, str]
) -> None:
    assert declare(*before)["changed"]
    first = seen()
    foreseen = declare(*after, check=True)["result"]
    assert (foreseen["needs"], foreseen["restart_required"]) == ("live_update", False)
    done = declare(*after, restart="if_required")
    assert (done["result"]["needs"], done["result"]["restarted"]) == ("live_update", False)
    assert not warned(done)
    wait_until(lambda: attached(seen()) == disks)
    now = seen()
    assert now["instance"]["uid"] == first["instance"]["uid"]
    assert "RestartRequired" not in {condition["type"] for condition in now["conditions"]}
    assert (now["restart_required"], now["guest_current"]) == (False, True)
    assert not declare(*after)["changed"]


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
    declare: Run, seen: Callable[[], dict[str, Any]], before: list[Volume], after: list[Volume], requested: bool
) -> None:
    declare(*before)
    first = seen()["instance"]
    for check in (True, False):
        result = declare(*after, check=check)["result"]
        assert (result["needs"], result["restart_required"]) == ("restart", True), result
    expected = "RestartRequired" if requested else "requires diskDevice of type"
    wait_until(lambda: expected in str(seen()["conditions"]))
    # A VMI loses a CD-ROM drive immediately, its guest does not.
    assert attached(seen()) | {"iso": ""} == attached({"instance": first}) | {"iso": ""}
    assert declare(*after, restart="if_required")["result"]["restarted"]
    now = seen()
    assert now["instance"]["uid"] != first["uid"]
    assert (now["restart_required"], now["guest_current"]) == (False, True)


def test_disk_without_a_bus_is_not_plugged(declare: Run, seen: Callable[[], dict[str, Any]]) -> None:
    """Why the option sets one."""
    source = {"persistentVolumeClaim": {"claimName": "one", "hotpluggable": True}}
    disks = [{"name": "data", "disk": {}}]
    template = {"spec": {"volumes": [{"name": "data", **source}], "domain": {"devices": {"disks": disks}}}}
    declare()
    result = declare(template=template)["result"]
    assert (result["needs"], result["restart_required"]) == ("restart", True)
    wait_until(lambda: "requires bus to be" in str(seen()["conditions"]))
