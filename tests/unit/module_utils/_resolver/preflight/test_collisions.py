"""Several VMs with the same disk or MAC address."""

from typing import Any

import pytest

from plugins.module_utils._resolver.preflight.collisions import collisions, uses

Manifest = dict[str, Any]

CLAIM = {"name": "root", "persistentVolumeClaim": {"claimName": "fedora"}}
VOLUME = {"name": "root", "dataVolume": {"name": "fedora"}}
SHAREABLE = {"name": "root", "disk": {}, "shareable": True}
MAC = {"name": "default", "macAddress": "02:00:00:AA:bb:cc"}


def vm(
    name: str,
    *volumes: Manifest,
    namespace: str = "lab",
    strategy: str = "Always",
    makes: tuple[str, ...] = (),
    **more: Any,
) -> Manifest:
    """more: the disks, filesystems, interfaces and networks."""
    networks = more.pop("networks", [{"name": "default", "pod": {}}])
    template = {"spec": {"domain": {"devices": more}, "volumes": [*volumes], "networks": networks}}
    templates = [{"metadata": {"name": made}} for made in makes]
    spec = {"runStrategy": strategy, "dataVolumeTemplates": templates, "template": template}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": spec}


def found(*vms: Manifest) -> dict[str, list[tuple[str, str]]]:
    """(severity, line) by VM."""
    names = {(item["metadata"]["namespace"], item["metadata"]["name"]): uses(item) for item in vms}
    return {
        name: [(finding.severity, finding.line) for finding in findings]
        for (_namespace, name), findings in collisions(names).items()
    }


def test_vms_that_make_the_same_disk() -> None:
    result = found(vm("a-b", VOLUME, makes=("a-b-c",)), vm("a", VOLUME, makes=("x", "a-b-c")), vm("c"))
    text = "lab/a-b and lab/a make the same DataVolume a-b-c; choose another name for one of the volumes"
    assert result["a-b"][0] == ("error", f"spec.dataVolumeTemplates[0]: {text}")
    assert result["a"][0] == ("error", f"spec.dataVolumeTemplates[1]: {text}")
    assert "c" not in result


def test_a_disk_that_exists_is_a_doubt() -> None:
    names = {("lab", name): uses(vm(name, makes=("x", "y"))) for name in "ab"}
    result = collisions(names, {("lab", "b"): {"x"}})
    assert [finding.severity for finding in result["lab", "a"]] == ["error", "error"]
    assert [finding.severity for finding in result["lab", "b"]] == ["warning", "error"]


def test_vms_that_make_and_write_to_one_disk() -> None:
    (line,) = found(*(vm(name, VOLUME, makes=("fedora",)) for name in "ab"))["a"]
    assert line[0] == "error"


@pytest.mark.parametrize("other", [CLAIM, VOLUME])
def test_running_vms_that_write_to_one_disk(other: Manifest) -> None:
    result = found(vm("a", CLAIM), vm("b", {"name": "x", "emptyDisk": {}}, other), vm("c", CLAIM, namespace="shop"))
    assert [*result] == ["a", "b"]
    ((severity, line),) = result["b"]
    assert severity == "warning"
    assert line.startswith("spec.template.spec.volumes[1]: lab/a and lab/b use the disk fedora: QEMU refuses")


@pytest.mark.parametrize(
    "other",
    [
        vm("b", CLAIM, strategy="Halted"),
        vm("b", CLAIM, strategy="Manual"),
        vm("b", CLAIM, disks=[SHAREABLE]),
        vm("b", CLAIM, disks=[{"name": "root", "cdrom": {"bus": "sata"}}]),
        vm("b", CLAIM, disks=[{"name": "root", "lun": {"readonly": True}}]),
        vm("b", CLAIM, disks=[{"name": "root", "lun": {"bus": "scsi", "reservation": True}, "errorPolicy": "report"}]),
        vm("b", CLAIM, filesystems=[{"name": "root", "virtiofs": {}}]),
        vm("b", {"name": "root", "ephemeral": CLAIM}),
        vm("b", {"name": "root", "persistentVolumeClaim": {"claimName": "fedora", "readOnly": True}}),
    ],
)
def test_disks_that_several_vms_may_have(other: Manifest) -> None:
    assert found(vm("a", CLAIM), other) == {}


def test_two_volumes_write_to_one_disk() -> None:
    again = {**VOLUME, "name": "again"}
    text = "spec.template.spec.volumes[1]: two volumes of the VM use the disk fedora: QEMU refuses the guest"
    ((severity, line),) = found(vm("a", CLAIM, again), vm("b", CLAIM, again, strategy="Halted"))["a"]
    assert (severity, line.startswith(text)) == ("warning", True)
    both = [{**SHAREABLE, "name": name} for name in ("root", "again")]
    assert found(vm("a", CLAIM, again, disks=both)) == {}
    # A name that a VM makes twice is one disk.
    assert len(found(vm("a", VOLUME, again, makes=("fedora", "fedora")))["a"]) == 1


def test_a_writable_cdrom_is_no_shared_disk() -> None:
    assert [*found(vm("a", CLAIM), vm("b", CLAIM, disks=[{"name": "root", "cdrom": {"readonly": False}}]))] == [
        "a",
        "b",
    ]


def test_addresses_of_one_network() -> None:
    result = found(*(vm(name, strategy="Halted", interfaces=[MAC]) for name in "abcde"))
    names = "lab/a, lab/b, lab/c and 2 more have the MAC address 02:00:00:aa:bb:cc in one network"
    path = "spec.template.spec.domain.devices.interfaces[0].macAddress"
    assert {line for lines in result.values() for line in lines} == {
        ("warning", f"{path}: {names}; give each VM an address of its own")
    }
    assert len(result) == 5


def test_addresses_of_several_networks() -> None:
    def on(name: str, network: str, namespace: str = "lab") -> Manifest:
        networks = [{"name": "default", "multus": {"networkName": network}}]
        return vm(name, namespace=namespace, interfaces=[{**MAC, "macAddress": "02-00-00-aa-bb-cc"}], networks=networks)

    assert [*found(on("a", "net/blue"), on("b", "blue", "net"))] == ["a", "b"]
    assert found(on("a", "blue"), on("b", "red"), vm("c", interfaces=[MAC])) == {}


@pytest.mark.parametrize("wrong", [{"metadata": {}, "spec": {}}, {"metadata": {}, "spec": {"template": []}}])
def test_a_wrong_vm_has_nothing(wrong: Manifest) -> None:
    assert uses({**wrong, "spec": {**wrong["spec"], "running": True}}) == []


def test_a_disk_without_a_name_is_nobodys() -> None:
    spec = {"runStrategy": "Halted", "template": {"spec": {}}, "dataVolumeTemplates": [{"metadata": {}, "spec": {}}]}
    assert uses({"metadata": {"name": "a", "namespace": "lab"}, "spec": spec}) == []
