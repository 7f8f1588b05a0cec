"""VMs with the values of their instancetype and preference, and the way back to the VM without."""

import json

import pytest
from sized_vms import KUBEVIRT, big, linux, named, with_values

from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.api.tree import apply_merge_patch, merge_patch_between
from plugins.module_utils._resolver.declare.expanded import (
    attaches,
    expanded,
    reexpanded,
    with_attached,
)
from plugins.module_utils._resolver.kubevirt.cluster import Cluster
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.kubevirt.vm.live_update import applied_template

FIELDS = "instancetypes.virtshape.io/expanded-fields"
RECORD = "instancetypes.virtshape.io/instancetype"
CDROM = {"name": "iso", "cdrom": {}}


def domain(vm: Manifest) -> Manifest:
    return dict(vm["spec"]["template"]["spec"]["domain"])


def test_vm_has_values_instead_of_names() -> None:
    vm = with_values(named(CDROM))
    assert vm["spec"].keys() == {"runStrategy", "template"}
    assert domain(vm)["cpu"] == {"cores": 1, "sockets": 2, "threads": 1}
    assert domain(vm)["memory"] == {"guest": "4Gi"}
    assert domain(vm)["devices"]["disks"] == [
        {"name": "iso", "cdrom": {"bus": "sata"}},
        {"name": "root", "disk": {"bus": "virtio"}},
    ]
    assert domain(vm)["devices"]["interfaces"] == [{"name": "default", "bridge": {}, "model": "e1000e"}]
    assert vm["spec"]["template"]["spec"]["networks"] == [{"name": "default", "pod": {}}]
    assert json.loads(vm["metadata"]["annotations"][RECORD]) == {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"generation": 1, "name": "big", "uid": "big-uid"},
        "spec": {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}},
    }
    assert vm["metadata"]["annotations"]["note"] == "mine"


def test_kubevirt_compares_equal_values() -> None:
    """KubeVirt compares the applied templates; it adds no device here."""
    disk, interface = {"name": "root", "disk": {}}, {"name": "default", "masquerade": {}}
    vm = named(disk)
    vm["spec"]["template"]["spec"]["volumes"].pop()
    vm["spec"]["template"]["spec"]["networks"] = [{"name": "default", "pod": {}}]
    domain(vm)["devices"]["interfaces"] = [interface]
    preference = linux(devices={"preferredDiskBus": "virtio"}, cpu={"preferredCPUTopology": "cores"})
    cluster = Cluster(Objects([big(ioThreadsPolicy="auto", annotations={"a/b": "c"}), preference]), KUBEVIRT)
    by_name = applied_template(vm, cluster.objects, NEWEST)
    instancetype = big(ioThreadsPolicy="auto", annotations={"a/b": "c"})
    by_value = applied_template(with_values(vm, instancetype, preference), cluster.objects, NEWEST)
    assert by_value == by_name


@pytest.mark.parametrize(
    "spec",
    [
        {"gpus": [{"name": "gpu", "deviceName": "nvidia.com/A100"}]},
        {"hostDevices": [{"name": "nic", "deviceName": "intel.com/nic"}]},
        {"ioThreadsPolicy": "supplementalPool", "ioThreads": {"supplementalPoolThreadCount": 4}},
        {"memory": {"guest": "4Gi", "hugepages": {"pageSize": "2Mi"}}},
        {"memory": {"guest": "4Gi", "overcommitPercent": 15}},
        {"memory": {"guest": "4Gi", "maxGuest": "8Gi"}},
        {"cpu": {"guest": 4, "dedicatedCPUPlacement": True, "isolateEmulatorThread": True, "maxSockets": 8}},
        {"nodeSelector": {"zone": "a"}, "schedulerName": "mine"},
        {"launchSecurity": {"sev": {}}},
    ],
)
def test_whatever_an_instancetype_sets_becomes_values(spec: Manifest) -> None:
    instancetype = big(**spec)
    by_name = applied_template(named(), Objects([instancetype, linux(devices={})]), NEWEST)
    vm = with_values(named(), instancetype, linux(devices={}))
    assert applied_template(vm, Objects([]), NEWEST) == by_name
    smaller = reexpanded(vm, {INSTANCETYPE: big(), PREFERENCE: linux(devices={})}, KUBEVIRT)
    assert smaller == with_values(named(), None, linux(devices={}))


def test_other_values_leave_nothing_of_the_former() -> None:
    old = big(annotations={"a/b~c": "d"}, ioThreadsPolicy="auto")
    vm = with_values(named(CDROM), old, linux(firmware={"preferredEfi": {}}, preferredTerminationGracePeriodSeconds=9))
    # KubeVirt keeps its own values beside those.
    domain(vm)["firmware"]["uuid"] = "kept"
    vm["spec"]["template"]["spec"]["domain"]["devices"]["interfaces"][0]["macAddress"] = "02:00:00:00:00:01"
    again = reexpanded(vm, {INSTANCETYPE: big("8Gi", 2), PREFERENCE: linux(2, devices={})}, KUBEVIRT)
    assert domain(again)["firmware"] == {"uuid": "kept"}
    assert domain(again)["memory"] == {"guest": "8Gi"}
    assert "ioThreadsPolicy" not in domain(again)
    assert again["spec"]["template"].keys() == {"spec"}
    assert domain(again)["devices"]["disks"] == [CDROM, {"name": "root", "disk": {}}]
    assert domain(again)["devices"]["interfaces"][0]["macAddress"] == "02:00:00:00:00:01"


def test_storage_class_of_the_preference_reaches_new_disks() -> None:
    templates = [{"metadata": {"name": "data"}, "spec": {"storage": {}, "source": {"blank": {}}}}]
    preference = linux(volumes={"preferredStorageClassName": "fast"})
    vm = with_values(named(dataVolumeTemplates=templates), None, preference)
    assert vm["spec"]["dataVolumeTemplates"][0]["spec"]["storage"] == {"storageClassName": "fast"}
    again = reexpanded(vm, {INSTANCETYPE: big(), PREFERENCE: linux()}, KUBEVIRT)
    assert again["spec"]["dataVolumeTemplates"] == templates


def test_own_values_beside_an_instancetype_are_refused() -> None:
    vm = named()
    domain(vm)["cpu"] = {"cores": 4}
    vm["spec"]["template"]["spec"]["domain"]["cpu"] = {"cores": 4}
    with pytest.raises(KubeVirtError, match=r"domain\.cpu\.cores conflicts with selected instance type"):
        with_values(vm)


def test_requirements_of_the_preference_count() -> None:
    with pytest.raises(KubeVirtError, match="insufficient"):
        with_values(named(), None, linux(requirements={"memory": {"guest": "64Gi"}}))


def test_topology_of_a_named_preference_counts() -> None:
    vm = named()
    preference = {"cpu": {"preferredCPUTopology": "cores"}}
    result = expanded(vm, {INSTANCETYPE: big()}, KUBEVIRT, preference)
    assert domain(result)["cpu"]["cores"] == 2
    assert result["spec"]["preference"] == vm["spec"]["preference"]
    assert "disks" not in domain(result)["devices"]


def test_devices_of_kubevirt_count_until_declared() -> None:
    vm = {**named(), "spec": {key: value for key, value in named()["spec"].items() if key != "preference"}}
    objects = {INSTANCETYPE: big(), PREFERENCE: linux()}
    assert attaches(vm, objects, KUBEVIRT, named())
    assert not attaches(vm, objects, KUBEVIRT, with_values(named()))
    assert not attaches(vm, {INSTANCETYPE: big()}, KUBEVIRT, named())


def test_added_devices_stay_beside_names() -> None:
    live = with_values(named(CDROM))
    back = with_attached(named(CDROM), live)
    devices = domain(back)["devices"]
    assert devices["disks"] == [CDROM, {"name": "root", "disk": {"bus": "virtio"}}]
    assert devices["interfaces"] == domain(live)["devices"]["interfaces"]
    assert back["spec"]["template"]["spec"]["networks"] == live["spec"]["template"]["spec"]["networks"]
    assert back["spec"]["instancetype"] == named()["spec"]["instancetype"]
    assert json.loads(back["metadata"]["annotations"][FIELDS]) == [
        "/template/spec/domain/devices/disks/root/disk/bus",
        "/template/spec/domain/devices/inputs/default-0/bus",
        "/template/spec/domain/devices/interfaces/default/model",
    ]
    # The next run finds the same.
    assert with_attached(named(CDROM), back) == back
    assert with_attached(named(), named()) == named()


def test_merge_patch_leads_from_one_to_the_other() -> None:
    before = {"same": {"x": [1]}, "gone": 1, "object": {"a": 1, "b": {"c": 2}}, "list": [1]}
    after = {"same": {"x": [1]}, "object": {"b": {"c": 3}}, "list": [2], "new": {"y": 1}}
    patch = merge_patch_between(before, after)
    assert patch == {"gone": None, "object": {"a": None, "b": {"c": 3}}, "list": [2], "new": {"y": 1}}
    assert apply_merge_patch(before, patch) == after


def test_own_items_of_lists_stay() -> None:
    vm = named()
    own = {"features": [{"name": "avx"}]}
    vm["spec"]["template"]["spec"]["domain"]["cpu"] = own
    preference = linux(cpu={"preferredCPUFeatures": [{"name": "vmx", "policy": "require"}]})
    result = with_values(vm, None, preference)
    assert domain(result)["cpu"]["features"] == [{"name": "avx"}, {"name": "vmx", "policy": "require"}]
    # Somebody may have removed a value meanwhile.
    del result["spec"]["template"]["spec"]["domain"]["memory"]
    again = reexpanded(result, {INSTANCETYPE: big(), PREFERENCE: linux()}, KUBEVIRT)
    assert domain(again)["cpu"] == {**own, "cores": 1, "sockets": 2, "threads": 1}
    assert domain(again)["memory"] == {"guest": "4Gi"}
