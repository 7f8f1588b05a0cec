"""Disks that KubeVirt would use for a VM instead of making them."""

from typing import Any

import pytest

from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.preflight.existing_disks import existing_disks, keys_for_disks

CLAIM, DATA_VOLUME = "PersistentVolumeClaim", "DataVolume"
OTHER = {"kind": "VirtualMachine", "name": "db", "controller": True}
OWN = {"kind": "VirtualMachine", "name": "web", "controller": True}
MAP = {"kind": "ConfigMap", "name": "own"}


def vm(*disks: str) -> dict[str, Any]:
    templates = [{"metadata": {"name": disk}} for disk in disks]
    return {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"dataVolumeTemplates": templates}}


def disk(kind: str, *owners: dict[str, Any], name: str = "web-root") -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, "namespace": "shop", "ownerReferences": list(owners)}}


def lines(*existing: dict[str, Any], live: dict[str, Any] | None = None, adopt: bool = False) -> list[str]:
    found = existing_disks(vm("web-data", "web-root"), live, Objects(existing), adopt=adopt)
    return [finding.line for finding in found]


@pytest.mark.parametrize(
    ("kind", "option"), [(DATA_VOLUME, "data_volume"), (CLAIM, "persistent_volume_claim or boot.pvc")]
)
def test_disks_are_only_adopted_on_purpose(kind: str, option: str) -> None:
    (line,) = lines(disk(kind))
    assert line == (
        f"spec.dataVolumeTemplates[1]: the {kind} web-root exists and has no owner: KubeVirt would use it with its"
        " content, and delete it with the VM; choose another name for the volume or the VM, or use this disk as it is"
        f" with {option}, or set adopt_disks: true"
    )
    assert lines(disk(kind), adopt=True) == []


@pytest.mark.parametrize(
    "existing",
    [
        [],
        [disk(DATA_VOLUME, OWN), disk(CLAIM, {"kind": DATA_VOLUME, "name": "web-root"})],
        # CDI has deleted the DataVolume of a claim, and virt-controller has made the VM its owner.
        [disk(CLAIM, OWN)],
        # The garbage collector has not yet deleted the claim of a deleted DataVolume.
        [disk(CLAIM, {"kind": DATA_VOLUME, "name": "web-root"})],
        [disk(DATA_VOLUME, name="db-root")],
    ],
)
def test_own_disks_are_used(existing: list[dict[str, Any]]) -> None:
    assert lines(*existing) == []


@pytest.mark.parametrize(
    ("existing", "owner"),
    [
        (disk(DATA_VOLUME, OTHER), "VirtualMachine db"),
        (disk(CLAIM, OTHER), "VirtualMachine db"),
        (disk(CLAIM, MAP), "ConfigMap own"),
        (disk(CLAIM, {"kind": DATA_VOLUME, "name": "db-root"}), "DataVolume db-root"),
    ],
)
@pytest.mark.parametrize("adopt", [False, True])
def test_lasting_owners_keep_their_disks(existing: dict[str, Any], owner: str, adopt: bool) -> None:
    (line,) = lines(existing, adopt=adopt)
    assert f"belongs to the {owner}: KubeVirt would use it with its content for this VM, too" in line
    assert "adopt_disks" not in line


def test_an_owner_without_control_loses_a_data_volume() -> None:
    (line,) = lines(disk(DATA_VOLUME, MAP))
    assert "the DataVolume web-root belongs to the ConfigMap own: KubeVirt would use it" in line
    assert line.endswith("or set adopt_disks: true")
    assert lines(disk(DATA_VOLUME, MAP), adopt=True) == []


def test_disks_of_the_live_vm_are_its_own() -> None:
    assert lines(disk(DATA_VOLUME), live=vm("web-root")) == []
    assert len(lines(disk(DATA_VOLUME), live=vm("web-data"))) == 1
    keys = [(item.key.kind, item.key.name) for item in keys_for_disks(vm("web-data", "web-root"), vm("web-data"))]
    assert keys == [(DATA_VOLUME, "web-root"), (CLAIM, "web-root")]
