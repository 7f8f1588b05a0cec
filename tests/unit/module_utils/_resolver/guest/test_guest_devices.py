"""Disks, claims and interfaces of a running guest."""

from typing import Any

from plugins.module_utils._resolver.guest.guest_devices import claims, disks, interfaces

VOLUMES = [
    {"name": "root", "dataVolume": {"name": "web-root"}},
    {"name": "data", "persistentVolumeClaim": {"claimName": "data", "hotpluggable": True}},
    {"name": "seed", "cloudInitNoCloud": {"userData": "secret"}},
]
DISKS = [
    {"name": "root", "disk": {"bus": "virtio"}, "bootOrder": 1},
    {"name": "data", "lun": {"bus": "scsi"}},
    {"name": "seed"},
    {"name": "iso", "cdrom": {"bus": "sata"}},
]
STATES = [
    {
        "name": "root",
        "target": "vda",
        "persistentVolumeClaimInfo": {"claimName": "web-root", "capacity": {"storage": "9Gi"}},
    },
    {"name": "data", "hotplugVolume": {}, "phase": "Bound"},
    {"name": "persistent-state-for-web", "persistentVolumeClaimInfo": {"claimName": "persistent-state-for-web"}},
]


def instance(devices: dict[str, Any], status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "spec": {"domain": {"devices": devices} if devices else {}, **spec},
        **({"status": status} if status else {}),
    }


def test_disks_of_a_guest() -> None:
    plain = {"source": "", "claim": "", "hotpluggable": False, "target": "", "size": ""}
    vmi = instance({"disks": DISKS}, {"volumeStatus": STATES}, volumes=VOLUMES)
    root = {"source": "dataVolume", "claim": "web-root", "target": "vda", "size": "9Gi", "boot_order": 1}
    data = {"source": "persistentVolumeClaim", "claim": "data", "hotpluggable": True}
    assert disks(vmi) == [
        {"name": "root", "device": "disk", "bus": "virtio", **plain, **root},
        {"name": "data", "device": "lun", "bus": "scsi", **plain, **data},
        {"name": "seed", "device": "disk", "bus": "", **plain, "source": "cloudInitNoCloud"},
        {"name": "iso", "device": "cdrom", "bus": "sata", **plain},
    ]
    assert claims(vmi) == ["data", "persistent-state-for-web", "web-root"]


def test_guest_without_devices() -> None:
    assert (disks(instance({})), claims(instance({})), interfaces(instance({}))) == ([], [], [])


def test_interfaces_of_a_guest() -> None:
    declared = [
        {"name": "default", "masquerade": {}},
        {"name": "lan", "model": "e1000", "bridge": {}, "macAddress": "02:01"},
        {"name": "fast", "sriov": {}},
        {"name": "own", "binding": {"name": "vdpa"}},
    ]
    networks = [{"name": "default", "pod": {}}, {"name": "lan", "multus": {"networkName": "lan-net"}}]
    states = [
        {"name": "default", "interfaceName": "eth0", "mac": "02:00", "ipAddress": "10.0.0.7"},
        {"name": "lan", "mac": "02:01", "ipAddresses": ["192.0.2.1", "fd00::1"]},
        {"interfaceName": "docker0", "mac": "02:09"},
    ]
    found = interfaces(instance({"interfaces": declared}, {"interfaces": states}, networks=networks))
    facts = ("name", "model", "binding", "network", "guest_name", "mac", "addresses")
    assert [tuple(interface[fact] for fact in facts) for interface in found] == [
        ("default", "virtio", "masquerade", "", "eth0", "02:00", ["10.0.0.7"]),
        ("lan", "e1000", "bridge", "lan-net", "", "02:01", ["192.0.2.1", "fd00::1"]),
        ("fast", "", "sriov", "", "", "", []),
        ("own", "virtio", "vdpa", "", "", "", []),
        ("", "", "", "", "docker0", "02:09", []),
    ]
