"""An instancetype, a preference and VMs that name them or have their values."""

from typing import Any

from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.declare.expanded import expanded
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype import revision_store
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

KUBEVIRT = KubeVirt(NEWEST)
DEVICES = {
    "preferredDiskBus": "virtio",
    "preferredCdromBus": "sata",
    "preferredInterfaceModel": "e1000e",
    "preferredInputBus": "virtio",
    "preferredAutoattachInputDevice": True,
}


def sized(kind: str, name: str, generation: int, spec: Manifest) -> Manifest:
    metadata = {"name": name, "uid": f"{name}-uid", "generation": generation, "namespace": "shop"}
    return {"apiVersion": "instancetype.kubevirt.io/v1beta1", "kind": kind, "metadata": metadata, "spec": spec}


def big(guest: str = "4Gi", generation: int = 1, **spec: Any) -> Manifest:
    spec = {"cpu": {"guest": 2}, "memory": {"guest": guest}, **spec}
    return sized("VirtualMachineInstancetype", "big", generation, spec)


def linux(generation: int = 1, **spec: Any) -> Manifest:
    return sized("VirtualMachinePreference", "linux", generation, {"devices": DEVICES, **spec})


def named(*disks: Manifest, **spec: Any) -> Manifest:
    """A VM that names both, with a volume for each disk and one whose disk KubeVirt adds."""
    volumes = [{"name": disk["name"], "emptyDisk": {"capacity": "1Gi"}} for disk in (*disks, {"name": "root"})]
    vmi = {"domain": {"devices": {"disks": list(disks)} if disks else {}}, "volumes": volumes}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "db", "namespace": "shop", "uid": "vm", "annotations": {"note": "mine"}},
        "spec": {
            "runStrategy": "Always",
            "instancetype": {"name": "big", "kind": "VirtualMachineInstancetype"},
            "preference": {"name": "linux", "kind": "VirtualMachinePreference"},
            "template": {"spec": vmi},
            **spec,
        },
    }


def with_values(vm: Manifest, instancetype: Manifest | None = None, preference: Manifest | None = None) -> Manifest:
    """A VM with the values of both."""
    return expanded(vm, {INSTANCETYPE: instancetype or big(), PREFERENCE: preference or linux()}, KUBEVIRT)


def cluster_of(*objects: Manifest) -> Cluster:
    return Cluster(Objects(objects), KUBEVIRT)


def captured(vm: Manifest, *objects: Manifest) -> tuple[Manifest, list[Manifest]]:
    """A running VM that has captured objects, and their revisions."""
    status: Manifest = {"created": True}
    revisions = []
    for item in objects:
        revision = {"kind": "ControllerRevision", **revision_store.controller_revision(vm, item)}
        matcher_field = INSTANCETYPE if item["kind"].endswith("Instancetype") else PREFERENCE
        reference = {"name": item["metadata"]["name"], "controllerRevisionRef": {"name": revision["metadata"]["name"]}}
        status[matcher_field.reference] = {"kind": item["kind"], **reference}
        revisions.append(revision)
    return {**vm, "status": status}, revisions
