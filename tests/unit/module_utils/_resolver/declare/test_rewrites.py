"""KubeVirt rewrites a declared VM, and the next declaration accepts that."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.managed_fields import applied_fields
from plugins.module_utils._resolver.api.tree import copy, set_at, value_at
from plugins.module_utils._resolver.declare import plan, rewrites
from plugins.module_utils._resolver.declare import virtual_machine as vms
from plugins.module_utils._resolver.declare.plugged import adapted as adapted_vm
from plugins.module_utils._resolver.declare.plugged import plugged_warnings, unplug_patch
from plugins.module_utils._resolver.declare.rewrites import (
    API,
    CONTROLLER,
    DISKS,
    INTERFACES,
    NETWORKS,
    RUN_STRATEGY,
    TEMPLATES,
    VOLUMES,
)

Field = tuple[str, ...]
VM = dict[str, Any]

MARK = "instancetypes.virtshape.io/plugged-volumes"
ROOT = {"name": "root", "containerDisk": {"image": "a"}}
MORE = {"name": "more", "emptyDisk": {"capacity": "1Gi"}}
EXTRA = {"name": "extra", "persistentVolumeClaim": {"claimName": "extra"}}
PLUGGED = {"name": "extra", "persistentVolumeClaim": {"claimName": "extra", "hotpluggable": True}}
PLUGGED_DISK = {"name": "extra", "disk": {"bus": "scsi"}, "serial": "extra"}
PCI = ("spec", "template", "metadata", "annotations", "kubevirt.io/pci-topology-version")
WARNING = (
    "volumes: extra was plugged in and stays, though the task does not declare it; add {name: extra,"
    " persistent_volume_claim: extra, hotpluggable: true} to volumes to declare it, or set force_conflicts: true to"
    " remove it"
)


def vm(fields: dict[Field, Any] | None = None, **annotations: str) -> VM:
    made: VM = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "runStrategy": "Always",
            "template": {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}},
        },
    }
    if annotations:
        made["metadata"]["annotations"] = annotations
    for field, value in (fields or {}).items():
        set_at(made, field, value)
    return made


def live(made: VM, **owners: list[Field]) -> VM:
    """A VM of which managers own fields; ours owns the rest of what it declares."""
    result = copy(made)
    entries = []
    for manager, fields in owners.items():
        tree: VM = {}
        for field in fields:
            node = tree
            for key in field:
                node = node.setdefault(f"f:{key}", {})
        name = manager.replace("_", "-")
        operation = "Apply" if name == "virtshape" else "Update"
        entries.append({"manager": name, "operation": operation, "fieldsV1": tree})
    result["metadata"]["managedFields"] = entries
    return result


MEMORY = ("spec", "template", "spec", "domain", "memory", "guest")
DEVICES = ("spec", "template", "spec", "domain", "devices")
OURS = [RUN_STRATEGY, MEMORY, DEVICES]


def planned(desired: VM, current: VM, force: bool = False) -> tuple[plan.Plan, list[VM]]:
    before = (copy(desired), copy(current))
    step, plugged = vms.plan_vm(desired, current, "virtshape", force)
    assert (desired, current) == before
    return step, list(plugged)


ABSENT = {
    INTERFACES: [{"name": "default", "masquerade": {}}, {"name": "lan", "bridge": {}, "state": "absent"}],
    NETWORKS: [{"name": "default", "pod": {}}, {"name": "lan", "multus": {"networkName": "lan"}}],
}
UNPLUGGED = {field: entries[:1] for field, entries in ABSENT.items()}


def test_an_interface_that_is_gone_is_absent() -> None:
    current = live(vm(UNPLUGGED), virtshape=OURS, virt_controller=[INTERFACES, NETWORKS])
    assert planned(vm(ABSENT), current)[0].action == plan.NONE
    # It is no longer named at all.
    assert planned(vm(UNPLUGGED), current)[0].action == plan.NONE


def test_an_interface_that_still_is_there_stays_declared() -> None:
    current = live(vm(ABSENT), virtshape=[*OURS, INTERFACES, NETWORKS])
    assert planned(vm(ABSENT), current)[0].action == plan.NONE


def test_the_only_interface_may_be_gone() -> None:
    desired = vm({field: entries[1:] for field, entries in ABSENT.items()})
    adapted = adapted_vm(desired, live(vm()), None, "virtshape")
    assert value_at(adapted.manifest, INTERFACES) is None
    assert value_at(adapted.manifest, NETWORKS) is None
    assert adapted.owned_fields is None
    # Without a list of networks, KubeVirt would reject the interface; that is for it to say.
    no_networks = vm({INTERFACES: ABSENT[INTERFACES][1:]})
    assert adapted_vm(no_networks, live(vm()), None, "virtshape").manifest == vm()


def test_a_changed_list_of_interfaces_is_taken_back() -> None:
    current = live(vm(UNPLUGGED), virtshape=OURS, virt_controller=[INTERFACES, NETWORKS])
    desired = vm(ABSENT)
    value_at(desired, INTERFACES)[1].pop("state")
    step, _plugged = planned(desired, current)
    assert (step.action, step.conflict) == (plan.APPLY, None)
    assert rewrites.taken_back(CONTROLLER, INTERFACES, current)
    assert not rewrites.taken_back("argocd", INTERFACES, current)
    # Nothing that the plan has not seen.
    assert not rewrites.taken_back(CONTROLLER, INTERFACES, live(vm(UNPLUGGED), virtshape=OURS))


@pytest.mark.parametrize("manager", [API, CONTROLLER])
def test_a_run_strategy_is_always_taken_back(manager: str) -> None:
    current = live(vm(), virtshape=[MEMORY, DEVICES])
    assert rewrites.taken_back(manager, RUN_STRATEGY, current)
    halted = live(vm({RUN_STRATEGY: "Halted"}), virtshape=[MEMORY, DEVICES], virt_api=[RUN_STRATEGY])
    assert planned(vm(), halted)[0].conflict is None
    # Stopped and started again by somebody.
    assert planned(vm(), live(vm(), virtshape=[MEMORY, DEVICES], virt_api=[RUN_STRATEGY]))[0].action == plan.NONE


def plugged(volumes: list[VM], **annotations: str) -> VM:
    return vm({VOLUMES: volumes, DISKS: [PLUGGED_DISK]}, **annotations)


BY_API = {"virtshape": OURS, "virt_api": [VOLUMES, DISKS]}
BY_US = {"virtshape": [*OURS, VOLUMES, ("metadata", "annotations", MARK)], "virt_api": [DISKS]}


def test_a_plugged_volume_stays_with_a_warning() -> None:
    step, kept = planned(vm({VOLUMES: [ROOT]}), live(plugged([ROOT, PLUGGED]), **BY_API))
    assert (step.action, kept) == (plan.NONE, [PLUGGED])
    assert list(plugged_warnings(kept, plugged([ROOT, PLUGGED]))) == [WARNING]


def test_a_plugged_volume_can_be_declared() -> None:
    desired = vm({VOLUMES: [ROOT, EXTRA]})
    current = live(plugged([ROOT, PLUGGED]), **BY_API)
    assert planned(desired, current) == (plan.Plan(plan.NONE, {**desired, **plugged_manifest(current)}, {}, {}), [])
    ours = live(plugged([ROOT, PLUGGED]), virtshape=[*OURS, VOLUMES], virt_api=[DISKS])
    assert planned(desired, ours)[0].action == plan.NONE
    # And then taken out of the task: with the disk that the plug has added, which KubeVirt checks.
    step, kept = planned(vm({VOLUMES: [ROOT]}), ours)
    assert kept == []
    assert step.merge_patch == {VOLUMES: [ROOT], DISKS: None}
    assert value_at(step.before, DISKS) == [PLUGGED_DISK]


def plugged_manifest(current: VM) -> VM:
    return {"spec": vm({VOLUMES: value_at(current, VOLUMES)})["spec"]}


def test_later_changes_keep_a_plugged_volume() -> None:
    desired = vm({VOLUMES: [ROOT, MORE]})
    step, kept = planned(desired, live(plugged([ROOT, PLUGGED]), **BY_API))
    assert (step.action, step.conflict, kept) == (plan.APPLY, None, [PLUGGED])
    assert value_at(step.manifest, VOLUMES) == [ROOT, MORE, PLUGGED]
    assert value_at(step.manifest, DISKS) is None
    # The task owns the list from now on, so it notes the plugged volumes.
    assert step.manifest["metadata"]["annotations"] == {MARK: "extra"}
    written = live(plugged([ROOT, MORE, PLUGGED], **{MARK: "extra"}), **BY_US)
    assert planned(desired, written)[0].action == plan.NONE
    # Somebody has unplugged it: nothing is written for the note.
    removed = live(vm({VOLUMES: [ROOT, MORE]}, **{MARK: "extra"}), **BY_US)
    assert planned(desired, removed)[0].action == plan.NONE
    # Once declared, it is no longer one that somebody plugged.
    step, kept = planned(vm({VOLUMES: [ROOT, MORE, EXTRA]}), written)
    assert (step.before, kept) == ({"metadata": {"annotations": {MARK: "extra"}}}, [])


def test_declared_disks_keep_those_of_plugged_volumes() -> None:
    root = {"name": "root", "bootOrder": 1}
    desired = vm({VOLUMES: [ROOT, MORE], DISKS: [root]})
    current = live(vm({VOLUMES: [ROOT, PLUGGED], DISKS: [root, PLUGGED_DISK]}), **BY_API)
    step, _kept = planned(desired, current)
    assert value_at(step.manifest, DISKS) == [root, PLUGGED_DISK]
    declared = vm({VOLUMES: [ROOT, EXTRA], DISKS: [root, {"name": "extra", "disk": {"bus": "scsi"}}]})
    assert planned(declared, current)[0].action == plan.NONE
    virtio = {"name": "extra", "disk": {"bus": "virtio"}}
    changed = planned(vm({VOLUMES: [ROOT, EXTRA], DISKS: [root, virtio]}), current)[0]
    assert value_at(changed.after, DISKS) == [root, virtio]
    assert planned(vm({VOLUMES: [ROOT], DISKS: [root]}), current, force=True)[0].merge_patch == {}


def test_force_removes_a_plugged_volume() -> None:
    root_disk = {"name": "root", "bootOrder": 1}
    for disks, remaining in (([PLUGGED_DISK], None), ([root_disk, PLUGGED_DISK], [root_disk])):
        current = live(vm({VOLUMES: [ROOT, PLUGGED], DISKS: disks}, **{MARK: "extra"}), **BY_US)
        step, kept = planned(vm({VOLUMES: [ROOT]}), current, force=True)
        assert kept == []
        assert step.merge_patch[VOLUMES] == [ROOT]
        assert step.merge_patch[DISKS] == remaining
        assert value_at(step.after, DISKS) == remaining
        assert MARK in step.before["metadata"]["annotations"]


def test_a_volume_of_no_plug_is_no_exception() -> None:
    """Somebody else declares a list of volumes."""
    current = live(vm({VOLUMES: [ROOT, PLUGGED]}), virtshape=OURS, argocd=[VOLUMES])
    step, kept = planned(vm({VOLUMES: [ROOT]}), current)
    assert kept == []
    assert step.conflict is not None and step.merge_patch == {}
    assert planned(vm(), current)[1] == []
    assert planned(vm({VOLUMES: [ROOT]}), live(vm({VOLUMES: [MORE]}), virtshape=OURS))[1] == []


def test_restored_disks_are_not_taken_back() -> None:
    restored = {"name": "root", "persistentVolumeClaim": {"claimName": "restore-1-root"}}
    before = vm({VOLUMES: [{"name": "root", "persistentVolumeClaim": {"claimName": "root"}}]})
    current = live(
        vm({VOLUMES: [restored]}, **{"restore.kubevirt.io/lastRestoreUID": "1"}),
        virtshape=OURS,
        virt_controller=[VOLUMES],
    )
    conflict = planned(before, current)[0].conflict
    assert conflict is not None
    assert '"virt-controller" owns spec.template.spec.volumes' in conflict
    assert conflict.endswith("; a snapshot was restored into the VM: declare what it has now, such as its new disks")
    assert rewrites.taken_back(CONTROLLER, RUN_STRATEGY, current)


SIZE = ("spec", "instancetype", "name")


@pytest.mark.parametrize(
    ("restore", "field", "told"),
    [
        ("back-5d1c", SIZE, ""),
        (
            "tmp-restore-5d1c",
            SIZE,
            "; the VM is a clone, which virt-controller has made: set take_over: [virt-controller]",
        ),
        (
            "tmp-restore-5d1c",
            VOLUMES,
            "; the VM is a clone, which virt-controller has made: set take_over: [virt-controller], and declare the"
            " disks that it has now",
        ),
    ],
)
def test_a_clone_is_called_a_clone(restore: str, field: Field, told: str) -> None:
    before, after = ("a", "b") if field == SIZE else ([ROOT], [MORE])
    current = live(
        vm({field: before}, **{"restore.kubevirt.io/lastRestoreUID": restore}), virtshape=[], virt_controller=[field]
    )
    conflict = planned(vm({field: after}), current)[0].conflict
    assert conflict is not None
    assert conflict.endswith(f"take_over: [virt-controller] (takes all that the task declares){told}")


@pytest.mark.parametrize(
    ("disk", "options"),
    [
        ({"disk": {"bus": "scsi"}}, ""),
        ({"disk": {"bus": "virtio"}}, ", bus: virtio"),
        ({"lun": {"bus": "scsi"}}, ", device: lun"),
        ({"cdrom": {"bus": "sata"}}, ", device: cdrom, bus: sata"),
        ({}, ""),
    ],
)
def test_warnings_name_how_to_declare_a_volume(disk: VM, options: str) -> None:
    data_volume = {"name": "data", "dataVolume": {"name": "big", "hotpluggable": True}}
    dump = {"name": "dump", "memoryDump": {"claimName": "dump", "hotpluggable": True}}
    current = vm({DISKS: [{"name": "data", **disk}]})
    first, second = plugged_warnings([data_volume, dump], current)
    assert f"add {{name: data, data_volume: big, hotpluggable: true{options}}} to volumes" in first
    assert second == "volumes: dump holds a memory dump and stays until `virtctl memory-dump remove`"


@pytest.mark.parametrize("kept", [[], ["kept"]])
def test_unplugged_disks_go_with_their_templates(kept: list[str]) -> None:
    def made(*names: str) -> VM:
        volumes = [{"name": name, "dataVolume": {"name": name, "hotpluggable": True}} for name in names]
        templates = {TEMPLATES: [{"metadata": {"name": name}} for name in names]} if names else {}
        return vm({VOLUMES: [ROOT, *volumes], **templates})

    before = made(*kept, "gone")
    set_at(before, DISKS, [{"name": "gone", "disk": {"bus": "scsi"}}])
    assert unplug_patch(made(*kept), before) == {
        VOLUMES: value_at(made(*kept), VOLUMES),
        DISKS: None,
        TEMPLATES: [{"metadata": {"name": name}} for name in kept] or None,
    }


def test_recorded_hardware_is_not_taken_back() -> None:
    assert not rewrites.taken_back(CONTROLLER, PCI, live(vm(), virt_controller=[PCI]))
    assert applied_fields(live(vm(), virtshape=OURS), "virtshape") == {*OURS}
