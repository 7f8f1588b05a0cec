"""Objects of VMs with faults, and the diagnosis of them."""

import copy
from collections.abc import Sequence
from typing import Any

from remedies import checked

from plugins.module_utils._diagnosis.offline import diagnoses
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt

Manifest = dict[str, Any]

SECOND = "2026-03-01T08:00:00Z"
HOUR = "2026-03-01T09:00:00Z"
ROOT = {"name": "root", "containerDisk": {"image": "registry.example.com/disk:1"}}


def condition(kind: str, status: str, reason: str = "", message: str = "") -> Manifest:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": SECOND}


def vm(printable: str = "Starting", *conditions: Manifest, **spec: Any) -> Manifest:
    """A VM. spec: of the guest."""
    devices = {"disks": [{"name": "root", "disk": {}}], "interfaces": [{"name": "default", "masquerade": {}}]}
    firmware = {"uuid": "6a1a24a1-4061-4607-8bf4-a3963d0c5895", "serial": "6a1a24a1"}
    guest = {
        "domain": {"devices": devices, "firmware": firmware, "memory": {"guest": "1Gi"}},
        "volumes": [ROOT],
        **spec,
    }
    guest["networks"] = [{"name": "default", "pod": {}}]
    status = {"printableStatus": printable, "conditions": list(conditions)}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop", "uid": "v"},
        "spec": {"runStrategy": "Always", "template": {"metadata": {}, "spec": guest}},
        "status": status,
    }


def vmi(machine: Manifest, phase: str = "Running", *conditions: Manifest, **status: Any) -> Manifest:
    """The VMI of a VM, which then has a guest."""
    machine["status"]["created"] = True
    moments = [{"phase": phase, "phaseTransitionTimestamp": SECOND}]
    status = {"phase": phase, "conditions": list(conditions), "phaseTransitionTimestamps": moments, **status}
    metadata = {"name": "web", "namespace": "shop", "uid": "i"}
    spec = copy.deepcopy(machine["spec"]["template"]["spec"])
    return {"kind": "VirtualMachineInstance", "metadata": metadata, "spec": spec, "status": status}


def pod(
    *waiting: tuple[str, str], node: str = "node01", conditions: Sequence[Manifest] = (), **limits: str
) -> Manifest:
    labels, annotations = {"kubevirt.io": "virt-launcher"}, {"kubevirt.io/domain": "web"}
    statuses = [{"name": "compute", "state": {"waiting": dict(zip(("reason", "message"), item))}} for item in waiting]
    return {
        "kind": "Pod",
        "metadata": {"name": "launcher", "namespace": "shop", "labels": labels, "annotations": annotations},
        "spec": {"nodeName": node, "containers": [{"name": "compute", "resources": {"limits": limits}}]},
        "status": {"phase": "Pending", "containerStatuses": statuses, "conditions": list(conditions)},
    }


def old(item: Manifest) -> Manifest:
    """The object with the time of its creation."""
    return {**item, "metadata": {**item["metadata"], "creationTimestamp": SECOND}}


def event(kind: str, name: str, reason: str, message: str) -> Manifest:
    about = {"kind": kind, "namespace": "shop", "name": name}
    metadata = {"name": f"{name}.{reason}", "namespace": "shop"}
    head = {"kind": "Event", "metadata": metadata, "involvedObject": about}
    return {**head, "reason": reason, "message": message, "lastTimestamp": SECOND}


def claim(name: str, phase: str, **spec: Any) -> Manifest:
    metadata = {"name": name, "namespace": "shop"}
    return {"kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec, "status": {"phase": phase}}


def data_volume(phase: str, *conditions: Manifest, **status: Any) -> Manifest:
    metadata = {"name": "data", "namespace": "shop"}
    return {"kind": "DataVolume", "metadata": metadata, "status": {"phase": phase, "conditions": conditions, **status}}


def node(ready: str = "True", **amounts: str) -> Manifest:
    status = {
        "capacity": amounts,
        "allocatable": dict.fromkeys(amounts, "0"),
        "conditions": [condition("Ready", ready)],
    }
    return {"kind": "Node", "metadata": {"name": "node01"}, "status": status}


def storage_class(name: str) -> Manifest:
    return {"kind": "StorageClass", "metadata": {"name": name}, "provisioner": "example.com"}


def of(*objects: Manifest, at: str = HOUR) -> Manifest:
    [found] = diagnoses(objects, KubeVirt(NEWEST), at)
    return checked(found["diagnosis"])


def disk(name: str = "data", kind: str = "dataVolume", field: str = "name") -> list[Manifest]:
    return [ROOT, {"name": name, kind: {field: name}}]


UNSCHEDULABLE = condition("PodScheduled", "False", "Unschedulable", "0/1 nodes are available")


def running(*conditions: Manifest, **spec: Any) -> list[Manifest]:
    machine = vm("Running", **spec)
    return [machine, vmi(machine, "Running", *conditions, nodeName="node01")]


def refused(message: str) -> list[Manifest]:
    machine = vm()
    return [machine, vmi(machine, "Pending", condition("Synchronized", "False", "FailedCreate", message))]


def starting(*objects: Manifest, **spec: Any) -> list[Manifest]:
    machine = vm(**spec)
    return [machine, vmi(machine, "Scheduling"), *objects]
