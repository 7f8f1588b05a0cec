"""Volumes and disks that a running VMI gets from its VM; as recorded of KubeVirt 1.9."""

from typing import Any

import pytest
from interface_specs import LAN, POD, state
from interface_specs import spec as own_spec

from plugins.module_utils._resolver.api.release import NEWEST, parse_release
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt
from plugins.module_utils._resolver.kubevirt.vm.device_hotplug import (
    migration_update,
    plugged_interfaces,
    plugged_volumes,
    replacement_update,
)
from plugins.module_utils._resolver.kubevirt.vm.hotplug import LiveUpdate

Manifest = dict[str, Any]


def volume(name: str, claim: str = "", hot: bool = True) -> Manifest:
    return {
        "name": name,
        "persistentVolumeClaim": {"claimName": claim or name, **({"hotpluggable": True} if hot else {})},
    }


def disk(name: str, kind: str = "disk", **fields: Any) -> Manifest:
    return {"name": name, kind: {"bus": "scsi"}, **fields}


ROOT = (volume("root", hot=False), disk("root"))
DATA = (volume("data"), disk("data"))
OTHER_DATA = (volume("data", "other"), disk("data"))
COLD = (volume("data", hot=False), disk("data"))
DRIVE = (None, disk("iso", "cdrom"))
CDROM = (volume("iso"), DRIVE[1])
OTHER_CDROM = (volume("iso", "other"), DRIVE[1])
FORMER_DISK = (volume("iso"), disk("iso"))
DUMP = ({"name": "dump", "memoryDump": {"claimName": "dump", "hotpluggable": True}}, None)


def spec(*pairs: tuple[Manifest | None, Manifest | None]) -> Manifest:
    volumes = [entry for entry, _disk in pairs if entry is not None]
    return {
        "volumes": volumes,
        "domain": {"devices": {"disks": [entry for _volume, entry in pairs if entry is not None]}},
    }


def vm(desired: Manifest, **fields: Any) -> Manifest:
    return {"spec": {"template": {"spec": desired}, **fields}}


def after(desired: Manifest, running: Manifest, **status: Any) -> Manifest:
    """The VMI's spec after one patch."""
    volumes, disks = plugged_volumes(vm(desired), {"spec": running, "status": {"phase": "Running", **status}})
    return {**running, "volumes": volumes, "domain": {"devices": {**running["domain"]["devices"], "disks": disks}}}


@pytest.mark.parametrize(
    ("desired", "running", "expected"),
    [
        (spec(ROOT), spec(ROOT), spec(ROOT)),
        (spec(ROOT, DATA), spec(ROOT), spec(ROOT, DATA)),
        (spec(ROOT), spec(ROOT, DATA), spec(ROOT)),
        (spec(ROOT, COLD), spec(ROOT), spec(ROOT)),
        # virt-api rejects a disk without a bus, a CD-ROM drive, and with it all that comes at the same time.
        (spec(ROOT, (DATA[0], {"name": "data", "disk": {}})), spec(ROOT), spec(ROOT)),
        (spec(ROOT, CDROM, DATA), spec(ROOT), spec(ROOT)),
        (spec(ROOT, COLD), spec(ROOT, DATA), spec(ROOT, DATA)),
        (spec(ROOT, DATA), spec(ROOT, COLD), spec(ROOT, COLD)),
        (spec(ROOT), spec(ROOT, COLD), spec(ROOT, COLD)),
        (spec(ROOT, CDROM), spec(ROOT, DRIVE), spec(ROOT, CDROM)),
        (spec(ROOT, DRIVE), spec(ROOT, CDROM), spec(ROOT, DRIVE)),
        (spec(ROOT), spec(ROOT, CDROM), spec(ROOT)),
        # The replacement of a volume comes with the next patch.
        (spec(ROOT, OTHER_DATA), spec(ROOT, DATA), spec(ROOT)),
        (spec(ROOT, OTHER_CDROM), spec(ROOT, CDROM), spec(ROOT, DRIVE)),
        (spec(ROOT, OTHER_CDROM), spec(ROOT, FORMER_DISK), spec(ROOT)),
        (spec(ROOT), spec(ROOT, DUMP), spec(ROOT, DUMP)),
        (spec(ROOT, DUMP), spec(ROOT), spec(ROOT)),
    ],
)
def test_plugged_volumes_and_disks(desired: Manifest, running: Manifest, expected: Manifest) -> None:
    assert after(desired, running) == expected


def test_volume_is_plugged_again_after_it_has_left() -> None:
    leaving = {"volumeStatus": [{"name": "root"}, {"name": "data"}]}
    assert after(spec(ROOT, OTHER_DATA), spec(ROOT), **leaving) == spec(ROOT)
    assert after(spec(ROOT, OTHER_DATA), spec(ROOT), volumeStatus=[{"name": "root"}]) == spec(ROOT, OTHER_DATA)


def test_nothing_is_plugged_before_guest_runs() -> None:
    assert after(spec(ROOT, DATA), spec(ROOT), phase="Scheduling") == spec(ROOT)


MOVED = (volume("root", "other", hot=False), disk("root"))
SHARED = (ROOT[0], disk("root", shareable=True))
LUN = (ROOT[0], disk("root", "lun"))
FILESYSTEM = {"volumes": [ROOT[0]], "domain": {"devices": {"filesystems": [{"name": "root"}]}}}
PULLED = ({"name": "root", "containerDisk": {"image": "i", "imagePullPolicy": "Always"}}, disk("root"))
IMAGE = ({"name": "root", "containerDisk": {"image": "i"}}, disk("root"))
MOVED_DUMP = ({"name": "dump", "memoryDump": {"claimName": "other"}}, None)
DATA_VOLUME = ({"name": "root", "dataVolume": {"name": "root"}}, disk("root"))
MOVED_DATA_VOLUME = ({"name": "root", "dataVolume": {"name": "other"}}, disk("root"))


def moves(desired: Manifest, running: Manifest, **status: Any) -> tuple[tuple[str, ...], str | None]:
    update = migration_update(vm(desired, updateVolumesStrategy="Migration"), {"spec": running, "status": status})
    return update.changes, update.restart_required


@pytest.mark.parametrize(
    ("desired", "running", "expected"),
    [
        (spec(ROOT), spec(ROOT), False),
        (spec(DATA), spec(ROOT), False),
        (spec(IMAGE), spec(ROOT), False),
        (spec(ROOT), spec(IMAGE), False),
        # Both are volumes of the same claim.
        (spec(DATA_VOLUME), spec(ROOT), False),
        (spec(MOVED, DATA), spec(ROOT), True),
        (spec(MOVED), spec(ROOT, DATA), True),
        (spec(MOVED_DATA_VOLUME), spec(DATA_VOLUME), True),
        (spec(MOVED_DUMP), spec(DUMP), True),
    ],
)
def test_volume_migration(desired: Manifest, running: Manifest, expected: bool) -> None:
    assert moves(desired, running) == (("volumes",) if expected else (), None)
    assert not migration_update(vm(desired), {"spec": running}).changes
    # A VM with this strategy gets no volumes plugged.
    with_strategy = vm(spec(ROOT, DATA), updateVolumesStrategy="Migration")
    running_spec = spec(ROOT)
    plugged_parts = plugged_volumes(with_strategy, {"spec": running_spec, "status": {"phase": "Running"}})
    assert plugged_parts == (running_spec["volumes"], running_spec["domain"]["devices"]["disks"])


@pytest.mark.parametrize(
    ("running", "expected"),
    [(spec(SHARED), "shareable: [root]"), (spec(LUN), "luns: [root]"), (FILESYSTEM, "filesystems: [root]")],
)
def test_disks_that_cannot_migrate(running: Manifest, expected: str) -> None:
    assert moves(spec(MOVED), running) == ((), f"invalid volumes to update with migration: {expected}")


def claimed(name: str, *modes: str) -> Manifest:
    return {"name": name, "persistentVolumeClaimInfo": {"accessModes": list(modes)}}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"conditions": [{"type": "StorageLiveMigratable", "status": "True"}]}, ""),
        (
            {"conditions": [{"type": "StorageLiveMigratable", "status": "False", "message": "no"}]},
            "cannot migrate the volumes as the VMI isn't migratable: no",
        ),
        ({"volumeStatus": [claimed("root", "ReadWriteOnce"), {"name": "image"}]}, ""),
        ({"volumeStatus": [claimed("data", "ReadWriteMany"), claimed("persistent-state-for-a", "ReadWriteOnce")]}, ""),
        (
            {"volumeStatus": [claimed("data", "ReadWriteOnce")]},
            "cannot migrate the VM. The volume data is RWO and not included in the migration volumes",
        ),
    ],
)
def test_guests_that_cannot_migrate_volumes(status: Manifest, expected: str) -> None:
    changes, reason = moves(spec(MOVED), spec(ROOT), **status)
    assert (bool(changes), reason or "") == (not expected, expected)


@pytest.mark.parametrize(
    ("desired", "running", "waits"),
    [
        (spec(ROOT), spec(ROOT), False),
        (spec(ROOT, DATA), spec(ROOT), True),
        (spec(MOVED), spec(ROOT), True),
        # It is being unplugged.
        (spec(ROOT), spec(ROOT, DATA), False),
        (spec(IMAGE), spec(PULLED), False),
        (spec(ROOT), spec(PULLED), True),
    ],
)
def test_older_releases_replace_volumes_at_restart(desired: Manifest, running: Manifest, waits: bool) -> None:
    assert bool(replacement_update(vm(desired), {"spec": running}).restart_required) is waits
    assert replacement_update(vm(desired, updateVolumesStrategy="Migration"), {"spec": running}) == LiveUpdate()


# Interfaces that a running VMI gets from its VM.


KUBEVIRT = KubeVirt(NEWEST)
WAN = (LAN[0], {"name": "lan", "multus": {"networkName": "wan"}})
SECOND_POD = ({"name": "other", "masquerade": {}}, {"name": "other", "pod": {}})


@pytest.mark.parametrize(
    ("desired", "running", "expected"),
    [
        (own_spec(POD), own_spec(POD), own_spec(POD)),
        (own_spec(POD, LAN), own_spec(POD), own_spec(POD, LAN)),
        (own_spec(POD, state(LAN, "absent")), own_spec(POD), own_spec(POD)),
        (own_spec(POD, SECOND_POD), own_spec(POD), own_spec(POD)),
        (own_spec(POD, WAN), own_spec(POD, LAN), own_spec(POD, WAN)),
        (own_spec(POD), own_spec(POD, LAN), own_spec(POD, LAN)),
        (own_spec(POD, state(LAN, "down")), own_spec(POD, LAN), own_spec(POD, state(LAN, "down"))),
        (own_spec(POD, LAN), own_spec(POD, state(LAN, "down")), own_spec(POD, LAN)),
        (own_spec(POD, state(LAN, "absent")), own_spec(POD, LAN), own_spec(POD, LAN)),
    ],
)
def test_plugged_interfaces(desired: Manifest, running: Manifest, expected: Manifest) -> None:
    assert plugged_interfaces(desired, {"spec": running}, KUBEVIRT) == expected


@pytest.mark.parametrize(("name", "expected"), [("net1", LAN), ("pod1234567", state(LAN, "absent")), ("", LAN)])
def test_unplugging_needs_unnumbered_pod_interfaces(name: str, expected: tuple[Manifest, Manifest]) -> None:
    status = {"interfaces": [{"name": "lan", **({"podInterfaceName": name} if name else {})}]}
    instance = {"spec": own_spec(POD, LAN), "status": status}
    assert plugged_interfaces(own_spec(POD, state(LAN, "absent")), instance, KUBEVIRT) == own_spec(POD, expected)


def test_default_network_does_not_number_interfaces() -> None:
    default = (
        {"name": "default", "bridge": {}},
        {"name": "default", "multus": {"networkName": "lan", "default": True}},
    )
    instance = {"spec": own_spec(default)}
    assert plugged_interfaces(own_spec(state(default, "absent")), instance, KUBEVIRT) == own_spec(
        state(default, "absent")
    )


def test_interface_without_network_is_not_plugged() -> None:
    desired = {**own_spec(POD, LAN), "networks": [POD[1]]}
    assert plugged_interfaces(desired, {"spec": own_spec(POD)}, KUBEVIRT) == own_spec(POD)


def test_network_stays_without_feature_gate() -> None:
    kubevirt = KubeVirt(parse_release("1.8"))
    assert plugged_interfaces(own_spec(POD, WAN), {"spec": own_spec(POD, LAN)}, kubevirt) == own_spec(POD, LAN)
