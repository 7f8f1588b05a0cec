"""Objects that are being deleted: the one for which the others wait is named."""

from typing import Any

import pytest
from diagnosed import HOUR, SECOND, claim, condition, data_volume, disk, node, of, old, pod, vm, vmi
from remedies import command, patch, steps

from plugins.module_utils._diagnosis.offline import diagnoses
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt

Manifest = dict[str, Any]

CONTROLLER = "kubevirt.io/virtualMachineControllerFinalize"
FOREGROUND = "foregroundDeleteVirtualMachine"
BEAT = "2026-03-01T08:30:00Z"


def deleted(item: Manifest, *finalizers: str) -> Manifest:
    metadata = {**item["metadata"], "deletionTimestamp": SECOND, "finalizers": list(finalizers)}
    return {**item, "metadata": metadata}


def guest(phase: str = "Running", on: str = "node01") -> list[Manifest]:
    """A VM that is being deleted, and its VMI."""
    machine = vm("Terminating")
    return [deleted(machine, CONTROLLER), deleted(vmi(machine, phase, nodeName=on), CONTROLLER, FOREGROUND)]


def beating(item: Manifest, at: str = BEAT) -> Manifest:
    return {**item, "metadata": {**item["metadata"], "annotations": {"kubevirt.io/heartbeat": at}}}


@pytest.mark.parametrize(
    ("objects", "problem", "words"),
    [
        ([*guest(), node("Unknown"), pod()], "and the node does not answer", ["--force", "/metadata/finalizers/1"]),
        ([*guest(on="gone"), node()], "of the node gone has to end the guest, and the node", ["finalizers/0"]),
        ([*guest(), beating(node())], "virt-handler of the node node01 has to end", ["spec.nodeName=node01"]),
        ([*guest(), node()], "virt-handler of the node node01 has to end", ["kubevirt.io=virt-handler"]),
        (guest(on=""), "virt-controller has to let it go", ["finalizers/1", "finalizers/0"]),
        ([deleted(vm("Terminating"), CONTROLLER)], "its finalizer kubevirt.io/virtual", ["finalizers/0"]),
        ([deleted(vm("Terminating"), "foregroundDeletion")], "what it owns is not gone yet", ["datavolumes,pvc"]),
        ([deleted(vm("Terminating"), "example.com/hold", CONTROLLER, "example.com/b")], "example.com/hold, exam",
         ["finalizers/2", "finalizers/0"]),
    ],
)  # fmt: skip
def test_the_finalizer_that_hangs_is_named(objects: list[Manifest], problem: str, words: list[str]) -> None:
    found = of(*objects)
    assert found["link"] == "deletion" and problem in found["problem"], found
    assert all(word in str(steps(found)) for word in words), found["task"]


def test_a_silent_handler_is_evidence() -> None:
    assert "silent for 1800 s" in of(*guest(), beating(node()))["evidence"][1]["message"]


def test_a_snapshot_in_progress_is_named() -> None:
    machine = deleted(vm("Terminating"), "snapshot.kubevirt.io/snapshot-source-protection", CONTROLLER)
    found = of(machine)
    assert "a snapshot of the VM is being taken" in found["problem"]
    assert command(found)[-2:] == ["get", "virtualmachinesnapshots"]
    machine["status"]["snapshotInProgress"] = "monday"
    assert command(of(machine))[-3:] == ["delete", "virtualmachinesnapshot", "monday"]


def test_a_deletion_has_time() -> None:
    assert of(*guest(), node(), at=SECOND)["state"] == "pending"
    machine = deleted(vm("Terminating"), "example.com/hold")
    assert patch(of(machine, at=SECOND)) == [
        {"op": "test", "path": "/metadata/finalizers/0", "value": "example.com/hold"},
        {"op": "remove", "path": "/metadata/finalizers/0"},
    ]


PROTECTED = deleted(claim("data", "Bound"), "kubernetes.io/pvc-protection")


def test_a_claim_waits_for_its_users() -> None:
    backup = {"kind": "Pod", "metadata": {"name": "backup", "namespace": "shop"}, "status": {"phase": "Running"}}
    backup["spec"] = {"nodeName": "node02", "volumes": [{"name": "x", "persistentVolumeClaim": {"claimName": "data"}}]}
    found = of(vm("Starting", volumes=disk()), PROTECTED, backup)
    assert found["problem"].endswith("its finalizer kubernetes.io/pvc-protection keeps it: backup uses it")
    assert command(found)[-3:] == ["delete", "pod", "backup"]
    own = of(vm("Starting", volumes=disk()), PROTECTED)
    assert own["task"]["virtshape.instancetypes.virtual_machine_power"]["names"] == ["web"]
    assert of(vm("Starting", volumes=disk()), PROTECTED, at=SECOND).get("link") != "deletion"


def test_disks_of_a_running_guest_are_no_obstacle() -> None:
    machine = vm("Running", volumes=disk())
    guest_of = vmi(machine, "Running", condition("Ready", "True"))
    assert of(machine, guest_of, PROTECTED).get("link") != "deletion"


def test_a_volume_snapshot_keeps_a_claim() -> None:
    name = "snapshot.storage.kubernetes.io/pvc-as-source-protection"
    volume = deleted(data_volume("Succeeded"), "cdi.kubevirt.io/dataVolumeFinalizer")
    found = of(vm("Starting", volumes=disk()), deleted(claim("data", "Bound"), name), volume)
    assert "a VolumeSnapshot of it is being taken" in found["problem"]
    found = of(vm("Starting", volumes=disk()), volume)
    assert "the DataVolume data is being deleted" in found["problem"]


def owned(item: Manifest) -> Manifest:
    owner = {"kind": "VirtualMachine", "name": "web", "uid": "lost"}
    return {**item, "metadata": {**item["metadata"], "ownerReferences": [owner]}}


def other() -> Manifest:
    machine = vm("Stopped")
    machine["metadata"].update(name="zoo", uid="z")
    machine["spec"]["runStrategy"] = "Halted"
    return machine


def all_of(*objects: Manifest) -> dict[str, Manifest]:
    return {item["name"]: item["diagnosis"] for item in diagnoses(objects, KubeVirt(NEWEST), HOUR)}


def test_a_guest_without_its_vm_is_named() -> None:
    left = owned(old(vmi(vm(), "Running", nodeName="node01")))
    found = all_of(left, other(), node())
    assert found["web"]["problem"].startswith("nobody manages the VirtualMachineInstance web")
    assert command(found["web"])[-3:] == ["delete", "vmi", "web"] and found["zoo"]["state"] == "stopped"


def test_a_guest_that_outlives_its_vm_is_named() -> None:
    left = deleted(owned(vmi(vm(), "Scheduled", nodeName="node01")), CONTROLLER, FOREGROUND)
    assert "virt-handler of the node node01 has to end" in of(left, node())["problem"]


@pytest.mark.parametrize("others", [[], [vm()]])
def test_guests_without_an_owner_are_left_alone(others: list[Manifest]) -> None:
    left = vmi(vm(), "Running")
    left["metadata"]["name"] = "alone"
    assert "alone" not in all_of(left, *others)


def test_vms_that_were_not_read_are_not_missing() -> None:
    assert all_of(owned(vmi(vm(), "Running"))) == {}
