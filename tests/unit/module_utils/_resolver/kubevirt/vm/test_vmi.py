"""The VMI of a VM, beyond what the vectors show."""

from typing import Any

from kubevirt_failures import failure

from plugins.module_utils._resolver.api.errors import Panic
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.kubevirt.vm import vmi


def vm(**spec: Any) -> dict[str, Any]:
    metadata = {"name": "not-mine", "generateName": "x-", "labels": {"app": "web"}, "annotations": {"k": "v"}}
    template = {"metadata": metadata, "spec": {"domain": {"devices": {}}}}
    return {"metadata": {"name": "a", "namespace": "web", "uid": "1"}, "spec": {"template": template, **spec}}


def test_metadata_has_name_and_owner_of_vm() -> None:
    built = vmi.build(vm(), Cluster(Objects([])))
    assert built.metadata is not None
    owner = built.metadata.pop("ownerReferences")
    assert built.metadata == {
        "name": "a",
        "namespace": "web",
        "labels": {"app": "web"},
        "annotations": {"k": "v"},
    }
    assert [(entry["kind"], entry["name"], entry["uid"]) for entry in owner] == [("VirtualMachine", "a", "1")]


def test_missing_preference_is_reported_first() -> None:
    error = failure(vmi.build, vm(instancetype={"name": "i"}, preference={"name": "p"}), Cluster(Objects([])))
    assert error.message == 'virtualmachineclusterpreferences.instancetype.kubevirt.io "p" not found'


def test_start_paused() -> None:
    manifest = vm()
    manifest["status"] = {"stateChangeRequests": [{"action": "Start", "data": {"paused": "true"}}]}
    built = vmi.build(manifest, Cluster(Objects([])))
    assert built.spec["startStrategy"] == "Paused"


def test_vm_without_template_crashes_kubevirt() -> None:
    assert isinstance(failure(vmi.build, vm(template=None), Cluster(Objects([]))), Panic)


def test_errors_of_build() -> None:
    def failed(template: dict[str, Any], *objects: dict[str, Any], **spec: Any) -> Any:
        vm = {"metadata": {"name": "a", "namespace": "web"}, "spec": {"template": template, **spec}}
        kubevirt = KubeVirt(NEWEST, {"network": {"defaultNetworkInterface": "slirp"}})
        return failure(vmi.build, vm, Cluster(Objects(objects), kubevirt))

    networks = {"devices": {"autoattachPodInterface": False}}
    assert failed({"spec": {"domain": {"cpu": {"cores": "two"}}}}).code == 400
    assert failed({"spec": {"domain": {"devices": {}}}}).message == "slirp interface is deprecated as of v1.3"
    missing = failed({"spec": {"domain": networks}}, instancetype={"name": "i"})
    assert (missing.reason, missing.code) == ("NotFound", 404)
    features = {"cpu": {"preferredCPUFeatures": [{"name": "vmx"}]}}
    preference = {"kind": "VirtualMachineClusterPreference", "metadata": {"name": "p"}, "spec": features}
    assert isinstance(failed({"spec": {"domain": networks}}, preference, preference={"name": "p"}), Panic)


def test_vmi_of_vm_without_name() -> None:
    nameless = vm()
    nameless["metadata"] = {}
    built = vmi.build(nameless, Cluster(Objects([])))
    assert "name" not in built.metadata and "namespace" not in built.metadata


def test_vcpus_are_the_product_of_what_is_set() -> None:
    cpus = (None, {}, {"cores": 2}, {"cores": 2, "sockets": 3, "threads": 0}, {"cores": 1 << 31, "threads": 2})
    assert [vmi.vcpus(cpu) for cpu in cpus] == [1, 0, 2, 6, 0]
