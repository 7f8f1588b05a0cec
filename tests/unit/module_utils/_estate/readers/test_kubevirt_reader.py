"""VMs of KubeVirt: manifests and tasks."""

from typing import Any

from estate_samples import instancetype

from plugins.module_utils._estate.machine import machines_of
from plugins.module_utils._estate.readers import kubevirt
from plugins.module_utils._estate.readers.reading import Reading
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

GIB = 1 << 30
CLUSTER = Cluster(Objects([instancetype("large", 4, "8Gi")]), KubeVirt(NEWEST))


def vm(domain: Any = None, spec: Any = None, **more: Any) -> dict[str, Any]:
    template = {"spec": {"domain": {"devices": {}, **(domain or {})}, **(spec or {})}}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
        "spec": {"runStrategy": "Always", "template": template, **more},
    }


def added(manifest: Any) -> Reading:
    reading = Reading()
    kubevirt.add(reading, "vm.yml", manifest, CLUSTER)
    return reading


def test_vm_with_a_size_of_its_own() -> None:
    domain = {
        "cpu": {"cores": 2, "sockets": 2, "dedicatedCpuPlacement": True},
        "memory": {"guest": "3Gi", "hugepages": {"pageSize": "1Gi"}},
        "firmware": {"bootloader": {"efi": {"secureBoot": False}}},
        "devices": {"tpm": {}, "gpus": [{"name": "g", "deviceName": "nvidia.com/T4"}]},
    }
    spec = {
        "volumes": [
            {"name": "root", "dataVolume": {"name": "web-root"}},
            {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "init", "cloudInitNoCloud": {"userData": "x"}},
        ],
        "networks": [{"name": "a", "pod": {}}, {"name": "b", "multus": {"networkName": "net/dmz"}}],
    }
    storage = {"storageClassName": "fast", "resources": {"requests": {"storage": "10Gi"}}}
    templates = [{"metadata": {"name": "web-root"}, "spec": {"storage": storage, "source": {"blank": {}}}}]
    (item,) = added(vm(domain, spec, dataVolumeTemplates=templates)).machines
    assert item == {
        "id": "shop/web",
        "name": "web",
        "folder": "shop",
        "power": "on",
        "vcpus": 4,
        "cores_per_socket": 2,
        "memory": 3 * GIB,
        "firmware": "efi",
        "secure_boot": False,
        "tpm": True,
        "reserved": {"cpu": True},
        "hugepages": "1Gi",
        "passthrough": ["nvidia.com/T4"],
        "disks": [{"name": "root", "size": 10 * GIB, "storage": "fast"}, {"name": "data"}],
        "nics": [{"network": "pod"}, {"network": "net/dmz"}],
        "tags": {"app": "web"},
        "not_brought": ["settings (volumes.cloudInitNoCloud.userData)"],
    }
    assert machines_of([item])


def test_size_of_requests_and_of_instancetypes() -> None:
    requests = {"resources": {"requests": {"cpu": "2", "memory": "2Gi"}}}
    (item,) = added(vm(requests, runStrategy="Halted")).machines
    assert (item["vcpus"], item["memory"], item["power"]) == (2, 2 * GIB, "off")
    manifest = vm(instancetype={"name": "large"})
    manifest["spec"]["template"]["metadata"] = {"annotations": {"vm.kubevirt.io/os": "fedora"}}
    (item,) = added(manifest).machines
    assert item["guest"] == {"text": "fedora"}
    assert (item["vcpus"], item["memory"], item["instancetype"]) == (4, 8 * GIB, "large")


def test_objects_of_a_namespace_are_not_named() -> None:
    own = {**instancetype("small", 1, "1Gi"), "kind": "VirtualMachineInstancetype"}
    own["metadata"] = {"name": "small", "namespace": "shop"}
    reading = Reading()
    manifest = vm(instancetype={"name": "small", "kind": "VirtualMachineInstancetype"})
    kubevirt.add(reading, "vm.yml", manifest, Cluster(Objects([own]), KubeVirt(NEWEST)))
    (item,) = reading.machines
    assert "instancetype" not in item and (item["vcpus"], item["memory"]) == (1, GIB)
    assert reading.remarks == [
        "vm.yml: shop/web: VirtualMachineInstancetype shop/small is of its namespace,"
        " so the VM counts as one with a size of its own"
    ]


def test_tpm_that_the_vm_refuses() -> None:
    memory = {"memory": {"guest": "1Gi"}}
    refused = {"devices": {"tpm": {"enabled": False}}}
    assert [item["tpm"] for item in added(vm({**memory, **refused})).machines] == [False]


def test_unreadable_vms_are_left_out() -> None:
    template = vm({"memory": {"guest": "{{ memory }}"}})
    cases = [
        (template, "has variables of Ansible; read the cluster, or render the templates first"),
        (vm(), "has no name, no CPU or no memory"),
        (vm(template=None), "the VirtualMachine has no template"),
        (vm({"memory": {"guest": "much"}}), "spec.template.spec.domain.memory.guest: "),
        (vm({"memory": {"guest": "1Gi", "hugepages": {"pageSize": "big"}}}), "hugepages.pageSize: 'big' is not"),
        (vm(instancetype={"name": "none"}), "virtualmachineclusterinstancetypes.instancetype.kubevirt.io"),
    ]
    for manifest, text in cases:
        reading = added(manifest)
        assert reading.machines == [] and reading.remarks[0].startswith(f"vm.yml: {text}"), reading.remarks
    assert added({**vm({"memory": {"guest": "1Gi"}}), "metadata": None}).left_out == {"unreadable": 1}


def test_vms_in_documents() -> None:
    task = {
        "name": "A VM",
        "kubevirt.core.kubevirt_vm": {
            "name": "db",
            "namespace": "shop",
            "labels": {"a": "b"},
            "running": False,
            "data_volume_templates": [{"metadata": {"name": "d"}}],
            "instancetype": {"name": "large"},
        },
    }
    old = {"kubevirt_vm": {"name": "h", "memory": "1Gi"}}
    stop = {"redhat.openshift_virtualization.kubevirt_vm": {"name": "db", "state": "stopped"}}
    unreadable = "kind: VirtualMachine\nmetadata: {name: {{ name }}}"
    define = {"k8s": {"definition": [vm({"memory": {"guest": "1Gi"}}), {"kind": "Pod"}, unreadable]}}
    plays = [{"hosts": "all", "tasks": [{"block": [task, stop]}], "handlers": [old]}, {"tasks": [define]}]
    first, second, third, unread = kubevirt.vms_in(plays)
    assert first["metadata"] == {"name": "db", "namespace": "shop", "labels": {"a": "b"}}
    assert (first["spec"]["runStrategy"], first["spec"]["instancetype"]) == ("Halted", {"name": "large"})
    assert second["spec"] == {
        "runStrategy": "Always",
        "template": {"metadata": {}, "spec": {"domain": {"devices": {}}}},
    }
    assert third["metadata"]["name"] == "web"
    assert added(unread).remarks[0].startswith("vm.yml: has variables of Ansible; ")
    listed = {"kind": "List", "items": [vm(), {"kind": "Pod"}]}
    assert [item["metadata"]["name"] for item in kubevirt.vms_in([listed, vm(), "text"])] == ["web", "web"]


def test_files_of_tasks() -> None:
    task = {"kubernetes.core.k8s": {"template": "vm.yml.j2", "namespace": "lab"}}
    plays = [{"hosts": "all", "tasks": [{"block": [task]}, {"debug": {"msg": "x"}}]}]
    assert list(kubevirt.files_in(plays)) == [("templates", "vm.yml.j2", task["kubernetes.core.k8s"])]


def test_interfaces_of_vms() -> None:
    memory = {"memory": {"guest": "1Gi"}}
    (item,) = added(vm(memory)).machines
    assert item["nics"] == [{"network": "pod"}]
    (item,) = added(vm({**memory, "devices": {"autoattachPodInterface": False}})).machines
    assert "nics" not in item
    interfaces = [
        {"name": "a", "masquerade": {}, "macAddress": "02:00:00:00:00:01", "model": "e1000"},
        {"name": "b", "bridge": {}, "state": "down"},
    ]
    networks = [{"name": "a", "pod": {}}, {"name": "b", "multus": {"networkName": "net/dmz"}}]
    (item,) = added(vm({**memory, "devices": {"interfaces": interfaces}}, {"networks": networks})).machines
    assert item["nics"] == [
        {"network": "pod", "mac": "02:00:00:00:00:01", "model": "e1000"},
        {"network": "net/dmz", "connected": False},
    ]
