"""Changes since the start of a VM that need a restart."""

from copy import deepcopy
from typing import Any

import pytest
from kubevirt_failures import failure

from plugins.module_utils._resolver.api import schema
from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.api.release import NEWEST, Release, parse_release
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Lookup, Objects
from plugins.module_utils._resolver.kubevirt.vm import live_update

applied, differs = live_update.applied_template, live_update.differs_until_restart

Manifest = dict[str, Any]


def compare(
    vm: Manifest, started: Manifest, vmi: Manifest, lookup: Lookup, live: bool, release: Release = NEWEST
) -> bool | None:
    try:
        applied_at_start, applied_now = (
            applied(manifest, lookup, release) for manifest in ({**vm, "spec": started, "status": {}}, vm)
        )
    except KubeVirtError:
        return None
    running = schema.canonical("VirtualMachineInstanceSpec", vmi["spec"])
    kubevirt = KubeVirt(release, {"vmRolloutStrategy": "LiveUpdate" if live else "Stage"})
    return differs(vm, applied_at_start["spec"], applied_now["spec"], running, kubevirt)


def revision(generation: int, **cpu: Any) -> Manifest:
    """A captured revision of a generation of the instancetype `small`."""
    return {
        "kind": "ControllerRevision",
        "metadata": {
            "name": f"small-{generation}",
            "namespace": "ns",
            "labels": {"instancetype.kubevirt.io/object-name": "small"},
        },
        "data": {
            "apiVersion": "instancetype.kubevirt.io/v1beta1",
            "kind": "VirtualMachineInstancetype",
            "metadata": {"name": "small"},
            "spec": {"cpu": {"guest": 1, **cpu}, "memory": {"guest": "2Gi"}},
        },
    }


REVISIONS = Objects([revision(1), revision(2, maxSockets=8), revision(3, guest=2), revision(4, model="Skylake-Server")])


def template(**fields: Any) -> Manifest:
    return {"spec": {"architecture": "amd64", "domain": {"devices": {}}, **fields}}


def spec(name: str = "", **fields: Any) -> Manifest:
    matcher = {"name": "small", "kind": "VirtualMachineInstancetype", **({"revisionName": name} if name else {})}
    return {"instancetype": matcher, "template": template(**fields)}


def vm(generation: int, **fields: Any) -> Manifest:
    return {
        "metadata": {"name": "a", "namespace": "ns"},
        "spec": spec(**fields),
        "status": {"instancetypeRef": {"controllerRevisionRef": {"name": f"small-{generation}"}}},
    }


VMI: Manifest = {"spec": {"domain": {"devices": {"interfaces": [{"name": "default", "bridge": {}}]}}}}


def changed(generation: int, started: int = 1, live: bool = True, **fields: Any) -> bool | None:
    return compare(vm(generation, **fields), spec(f"small-{started}"), VMI, REVISIONS, live)


def test_running_vmi_does_not_count() -> None:
    vmi = deepcopy(VMI)
    vmi["spec"]["domain"]["cpu"] = {"maxSockets": 8}
    assert compare(vm(2), spec("small-1"), vmi, REVISIONS, True) is True


def test_missing_revision_gives_no_result() -> None:
    assert changed(9) is None
    assert changed(1, started=9) is None
    conflicting = {"domain": {"devices": {}, "cpu": {"sockets": 2}}}
    assert changed(1, **conflicting) is None


def test_memory_without_instancetype() -> None:
    def own(guest: str) -> Manifest:
        return {"template": template(domain={"devices": {}, "memory": {"guest": guest}})}

    changed = {"metadata": {"namespace": "ns"}, "spec": own("4Gi"), "status": {}}
    assert compare(changed, own("2Gi"), VMI, REVISIONS, True) is False
    assert compare(changed, own("2Gi"), VMI, REVISIONS, False) is True
    assert compare(changed, own("4096Mi"), VMI, REVISIONS, False) is False


def connected(network: str, *names: str, **fields: Any) -> Manifest:
    interfaces = [{"name": name, "bridge": {}, **fields} for name in names]
    networks = [{"name": name, "multus": {"networkName": network}} for name in names]
    return {"domain": {"devices": {"interfaces": interfaces}}, "networks": networks}


def test_firmware_uuid_of_running_vmi_is_ignored() -> None:
    domain = {"devices": {}, "firmware": {"uuid": "u"}}
    for uuid, expected in (("u", False), ("other", True)):
        vmi = {"spec": {"domain": {"devices": {}, "firmware": {"uuid": uuid}}}}
        assert compare(vm(1, domain=domain), spec("small-1"), vmi, REVISIONS, True) is expected


def with_volumes(*volumes: Manifest, disks: tuple[Manifest, ...] = ()) -> Manifest:
    return {"volumes": list(volumes), "domain": {"devices": {"disks": list(disks)}}}


ROOT: Manifest = {"name": "root", "persistentVolumeClaim": {"claimName": "root"}}
HOT: Manifest = {"name": "hot", "dataVolume": {"name": "hot", "hotpluggable": True}}
CDROM: Manifest = {"name": "hot", "cdrom": {"bus": "sata"}}


@pytest.mark.parametrize(
    ("at_start", "desired", "expected"),
    [
        (with_volumes(ROOT), with_volumes(ROOT, HOT), False),
        (with_volumes(ROOT, HOT), with_volumes(ROOT), False),
        (with_volumes(ROOT), with_volumes(), True),
        (with_volumes(), with_volumes(ROOT), True),
        (with_volumes(ROOT), with_volumes({**ROOT, "persistentVolumeClaim": {"claimName": "other"}}), True),
        (with_volumes(ROOT, HOT), with_volumes(ROOT, HOT, disks=({"name": "hot", "disk": {}},)), False),
        (with_volumes(ROOT), with_volumes(ROOT, disks=({"name": "root", "disk": {}},)), True),
        (with_volumes(ROOT, disks=({"name": "root", "disk": {}},)), with_volumes(ROOT), True),
        (with_volumes(ROOT, HOT, disks=(CDROM,)), with_volumes(ROOT, HOT), True),
    ],
)
def test_volumes_and_disks(at_start: Manifest, desired: Manifest, expected: bool) -> None:
    assert compare(vm(1, **desired), spec("small-1", **at_start), VMI, REVISIONS, True) is expected


def test_volume_migration_needs_no_restart() -> None:
    moved = vm(1, **with_volumes({**ROOT, "persistentVolumeClaim": {"claimName": "other"}}))
    moved["spec"]["updateVolumesStrategy"] = "Migration"
    assert compare(moved, spec("small-1", **with_volumes(ROOT)), VMI, REVISIONS, True) is False


def test_removed_cdrom_drive_needs_restart() -> None:
    """Recorded: the medium alone can be ejected."""
    loaded = with_volumes(ROOT, HOT, disks=(CDROM,))
    for desired, expected in ((with_volumes(ROOT), True), (with_volumes(ROOT, disks=(CDROM,)), False)):
        assert compare(vm(1, **desired), spec("small-1", **loaded), VMI, REVISIONS, True) is expected


@pytest.mark.parametrize(
    ("release", "live", "expected"), [("1.6", False, False), ("1.5", False, True), ("1.5", True, False)]
)
def test_older_releases_stage_volumes(release: str, live: bool, expected: bool) -> None:
    def own(**fields: Any) -> Manifest:
        return {"template": template(**fields)}

    changed = {"metadata": {"namespace": "ns"}, "spec": own(**with_volumes(ROOT, HOT)), "status": {}}
    assert compare(changed, own(**with_volumes(ROOT)), VMI, Objects([]), live, parse_release(release)) is expected


@pytest.mark.parametrize(("release", "expected"), [("1.9", False), ("1.8", True), ("1.7", True)])
def test_older_releases_do_not_change_networks(release: str, expected: bool) -> None:
    present = {"metadata": {"namespace": "ns"}, "spec": {"template": template(**connected("wan", "one"))}, "status": {}}
    started = {"template": template(**connected("lan", "one"))}
    running = {"spec": connected("lan", "one")}
    assert compare(present, started, running, Objects([]), True, parse_release(release)) is expected


def test_added_pod_network_needs_restart_since_1_8() -> None:
    both = connected("lan", "one")
    both["networks"] = [*both["networks"], {"name": "pod", "pod": {}}]
    present = {"metadata": {"namespace": "ns"}, "spec": {"template": template(**both)}, "status": {}}
    started = {"template": template(**connected("lan", "one"))}
    running = {"spec": connected("lan", "one")}
    for release in ("1.9", "1.8"):
        assert compare(present, started, running, Objects([]), True, parse_release(release)) is True
    assert compare(present, started, running, Objects([]), True, parse_release("1.7")) is False


def test_problems_of_applying() -> None:
    assert failure(applied, {"spec": {"template": {"spec": {"domain": 1}}}}, Objects([])).code == 400
    # KubeVirt crashes.
    preference = {
        "kind": "VirtualMachinePreference",
        "metadata": {"name": "p", "namespace": "ns"},
        "spec": {"cpu": {"preferredCPUFeatures": [{"name": "vmx"}]}},
    }
    manifest = vm(1)
    manifest["spec"] = {"preference": {"name": "p", "kind": preference["kind"]}, "template": template()}
    assert "preferred CPU features need" in failure(applied, manifest, Objects([preference])).message
