"""Changes of a VM that its running guest lacks."""

import copy
from typing import Any

import pytest

from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.guest.effect import NOTHING, UNKNOWN, GuestEffect
from plugins.module_utils._resolver.guest.predict import guest_effect
from plugins.module_utils._resolver.kubevirt.cluster import Cluster
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.kubevirt.vm import vmi
from plugins.module_utils._resolver.kubevirt.vm.readiness import incomplete_update


def pending(vm: Manifest, instance: Manifest, cluster: Cluster, compare_all: bool = False) -> GuestEffect:
    return guest_effect(vm, vm, instance, cluster, compare_all=compare_all)


LABELS = {"instancetype.kubevirt.io/object-name": "x"}


def captured_revision(name: str, kind: str, spec: Manifest) -> Manifest:
    data = {"apiVersion": "instancetype.kubevirt.io/v1beta1", "kind": kind, "metadata": {"name": "x"}, "spec": spec}
    return {
        "kind": "ControllerRevision",
        "metadata": {"name": name, "namespace": "shop", "labels": LABELS},
        "data": data,
    }


SIZE: Manifest = {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}}
SIZES = {
    "size-1": SIZE,
    "sockets": {**SIZE, "cpu": {"guest": 2}},
    "max": {**SIZE, "cpu": {"guest": 1, "maxSockets": 8}},
    "model": {**SIZE, "cpu": {"guest": 1, "model": "EPYC"}},
    "memory": {**SIZE, "memory": {"guest": "3Gi"}},
    "same": {**SIZE, "memory": {"guest": "2048Mi"}},
    "conflict": {**SIZE, "ioThreadsPolicy": "auto"},
}
LIKES: dict[str, Manifest] = {
    "like-1": {},
    "bus": {"devices": {"preferredDiskBus": "scsi"}},
    "card": {"devices": {"preferredInterfaceModel": "e1000"}},
}
REVISIONS = [
    *(captured_revision(name, "VirtualMachineInstancetype", spec) for name, spec in SIZES.items()),
    *(captured_revision(name, "VirtualMachinePreference", spec) for name, spec in LIKES.items()),
]


def vm(size: str = "size-1", like: str = "like-1", generation: int = 1, **domain: Any) -> Manifest:
    def reference(name: str, kind: str) -> Manifest:
        return {"name": "x", "kind": kind, "controllerRevisionRef": {"name": name}}

    return {
        "metadata": {"name": "db", "namespace": "shop", "uid": "u", "generation": generation},
        "spec": {
            "runStrategy": "Always",
            "instancetype": {"name": "x", "kind": "VirtualMachineInstancetype"},
            "preference": {"name": "x", "kind": "VirtualMachinePreference"},
            "template": {
                "spec": {
                    "domain": {"devices": {}, **domain},
                    "volumes": [{"name": "root", "containerDisk": {"image": "a:1"}}],
                }
            },
        },
        "status": {
            "instancetypeRef": reference(size, "VirtualMachineInstancetype"),
            "preferenceRef": reference(like, "VirtualMachinePreference"),
        },
    }


class Guest:
    """A guest that was started from a VM; what virt-api fills in is in its spec."""

    def __init__(self, vm: Manifest, has_start_revision: bool = True) -> None:
        spec = copy.deepcopy(vm["spec"])
        for matcher, reference in (("instancetype", "instancetypeRef"), ("preference", "preferenceRef")):
            spec[matcher]["revisionName"] = vm["status"][reference]["controllerRevisionRef"]["name"]
        name = f"revision-start-vm-u-{vm['metadata']['generation']}"
        start = {
            "kind": "ControllerRevision",
            "metadata": {"name": name, "namespace": "shop"},
            "data": {"spec": spec},
        }
        self.objects = Objects([*REVISIONS, start] if has_start_revision else REVISIONS)
        built = vmi.build(vm, Cluster(self.objects)).spec
        assert built is not None
        status = {"phase": "Running", "virtualMachineRevisionName": name}
        self.instance: Manifest = {"metadata": {}, "spec": built, "status": status}
        domain = built["domain"]
        domain["cpu"] = {"model": "host-model", "maxSockets": 4, **domain["cpu"]}
        domain["memory"].setdefault("maxGuest", "8Gi")
        for disk in domain["devices"]["disks"]:
            disk.setdefault("disk", {}).setdefault("bus", "sata")

    def lacks(self, vm: Manifest) -> tuple[str, ...]:
        return pending(vm, self.instance, Cluster(self.objects)).outstanding


# virt-api fills these in where a VM does not say them, so that nobody knows whether they were meant.
DEFAULTED = (
    "domain.cpu.maxSockets",
    "domain.cpu.model",
    "domain.devices.disks.root.disk.bus",
    "domain.devices.interfaces.default.model",
)
CHANGES = [
    ({"size": "sockets"}, ("domain.cpu.sockets",)),
    ({"size": "max"}, ("domain.cpu.maxSockets",)),
    ({"size": "model"}, ("domain.cpu.model",)),
    ({"size": "memory"}, ("domain.memory.guest",)),
    ({"like": "bus"}, ("domain.devices.disks.root.disk.bus",)),
    ({"like": "card"}, ("domain.devices.interfaces.default.model",)),
    ({"size": "same"}, ()),
    ({}, ()),
]


@pytest.mark.parametrize("has_start_revision", [True, False])
@pytest.mark.parametrize(("change", "fields"), CHANGES)
def test_guest_lacks_changes_until_restart(
    change: dict[str, str], fields: tuple[str, ...], has_start_revision: bool
) -> None:
    assert Guest(vm(), has_start_revision).lacks(vm(**change)) == fields
    assert Guest(vm(**change), has_start_revision).lacks(vm(**change)) == ()


@pytest.mark.parametrize(("change", "fields"), CHANGES[1:6])
def test_outdated_start_revision_does_not_mislead(change: dict[str, str], fields: tuple[str, ...]) -> None:
    """Refreshed by the status and restarted: the start revision of the generation still names what was before."""
    guest, restarted = Guest(vm()), Guest(vm(**change), has_start_revision=False)
    guest.instance["spec"] = restarted.instance["spec"]
    assert guest.lacks(vm(**change)) == ()
    # Taken back, the start revision is that of the VM again, and KubeVirt asks for nothing. The guest says otherwise.
    assert guest.lacks(vm()) == ()
    reverted = pending(vm(), guest.instance, Cluster(guest.objects), compare_all=True).outstanding
    assert set(reverted) <= set(fields) and bool(reverted) is (fields[0] not in DEFAULTED)


@pytest.mark.parametrize(("change", "fields"), [({"size": "model"}, "domain.cpu.model")])
def test_removed_field_is_outstanding_while_guest_has_it(change: dict[str, str], fields: str) -> None:
    guest = Guest(vm(**change))
    assert guest.lacks(vm(generation=2)) == (fields,)


def test_guest_started_from_current_vm_lacks_nothing() -> None:
    guest = Guest(vm())
    guest.instance["spec"]["domain"]["cpu"]["sockets"] = 3
    result = pending(vm(), guest.instance, Cluster(guest.objects))
    assert (result.needs, result.outstanding, result.changes) == (NOTHING, (), ())
    # The VM was changed since, if only in what a guest does not see.
    assert guest.lacks(vm(generation=2)) == ("domain.cpu.sockets",)


def test_placement_does_not_matter_to_a_running_guest() -> None:
    guest = Guest(vm())
    placed = vm(generation=2)
    placed["spec"]["template"]["spec"]["nodeSelector"] = {"zone": "a"}
    assert guest.lacks(placed) == ()


@pytest.mark.parametrize(
    ("fields", "condition"),
    [
        (("domain.cpu.sockets",), "HotVCPUChange"),
        (("domain.memory.guest", "domain.cpu.model"), "HotMemoryChange"),
        (("domain.cpu.model",), None),
    ],
)
def test_change_waits_for_an_incomplete_live_update(fields: tuple[str, ...], condition: str | None) -> None:
    conditions = [{"type": name, "status": "True"} for name in ("HotVCPUChange", "HotMemoryChange")]
    assert incomplete_update({"status": {"conditions": conditions}}, fields) == condition
    assert incomplete_update({"status": {}}, fields) is None


def test_missing_revision_is_a_problem() -> None:
    guest = Guest(vm())
    lost = pending(vm("gone"), guest.instance, Cluster(guest.objects))
    assert (lost.needs, lost.guest_current, lost.outstanding) == (UNKNOWN, False, ())
    assert lost.refusal is not None and '"gone" not found' in lost.refusal


def test_presence_of_empty_object_counts() -> None:
    def bound(binding: str, generation: int = 1) -> Manifest:
        return vm(generation=generation, devices={"interfaces": [{"name": "default", binding: {}}]})

    assert Guest(bound("bridge")).lacks(bound("masquerade", 2)) == (
        "domain.devices.interfaces.default.bridge",
        "domain.devices.interfaces.default.masquerade",
    )
    restarted = Guest(bound("masquerade"), has_start_revision=False)
    restarted.instance["spec"]["domain"]["devices"]["interfaces"][0]["masquerade"] = {"filled": "in"}
    assert restarted.lacks(bound("masquerade", 2)) == ()


def plain_vm(generation: int = 1, volumes: tuple[Manifest, ...] = (), **domain: Any) -> Manifest:
    """A VM without instancetype and preference."""
    spec = {"domain": {"devices": {}, **domain}, "volumes": list(volumes)}
    metadata = {"name": "db", "namespace": "shop", "uid": "u", "generation": generation}
    return {"metadata": metadata, "spec": {"runStrategy": "Always", "template": {"spec": spec}}}


def lacking(now: Manifest, started: Manifest, running: Manifest, compare_all: bool = False) -> GuestEffect:
    """running: the domain of the VMI, in addition to what the VM had at its start."""
    start = {"kind": "ControllerRevision", "metadata": {"name": "s", "namespace": "shop"}}
    cluster = Cluster(Objects([{**start, "data": {"spec": started["spec"]}}]))
    built = vmi.build(now, cluster).spec
    assert built is not None
    spec = {**built, "domain": {**built["domain"], **running}}
    status = {"phase": "Running", "virtualMachineRevisionName": "s"}
    return pending(now, {"metadata": {}, "spec": spec, "status": status}, cluster, compare_all)


REQUESTED: Manifest = {"resources": {"requests": {"memory": "1Gi", "cpu": "2"}}}


@pytest.mark.parametrize("compare_all", [True, False])
@pytest.mark.parametrize(
    ("declared", "running", "expected"),
    [
        # Dropped: the requests count at the next start, and KubeVirt plugs nothing in.
        (REQUESTED, {"memory": {"guest": "2Gi"}}, ("domain.memory.guest",)),
        (REQUESTED, {"memory": {"guest": "1024Mi"}}, ()),
        (REQUESTED, {"cpu": {"sockets": 4}}, ("domain.cpu.sockets",)),
        (REQUESTED, {"cpu": {"sockets": 2}}, ()),
        ({"cpu": {"cores": 2}}, {"cpu": {"cores": 2, "sockets": 2}}, ("domain.cpu.sockets",)),
        ({"cpu": {"cores": 2}}, {"cpu": {"cores": 2, "sockets": 1}}, ()),
        ({"cpu": {"cores": 2}}, {"cpu": {"cores": 2}}, ()),
    ],
)
def test_removed_field_gets_default_at_next_start(
    declared: Manifest, running: Manifest, expected: tuple[str, ...], compare_all: bool
) -> None:
    result = lacking(plain_vm(2, **declared), plain_vm(1, **declared), running, compare_all)
    assert result.outstanding == expected


def test_removed_cdrom_drive_is_outstanding() -> None:
    """Recorded: the VMI loses medium and drive at once, and KubeVirt asks for a restart."""
    medium = {"name": "iso", "persistentVolumeClaim": {"claimName": "iso", "hotpluggable": True}}
    drive = {"name": "iso", "cdrom": {"bus": "sata"}}
    loaded = plain_vm(1, (medium,), devices={"disks": [drive]})
    assert lacking(plain_vm(2), loaded, {}).outstanding == ("domain.devices.disks.iso",)
    assert lacking(plain_vm(2, devices={"disks": [drive]}), loaded, {}).guest_current
    assert lacking(
        plain_vm(2), plain_vm(1, (medium,), devices={"disks": [{"name": "iso", "disk": {}}]}), {}
    ).guest_current
