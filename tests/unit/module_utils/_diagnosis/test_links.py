"""Links that no recorded fault breaks, and those of recorded faults with other evidence."""

import copy
from collections.abc import Sequence
from typing import Any

import pytest

from plugins.module_utils._diagnosis.link import age
from plugins.module_utils._diagnosis.offline import diagnoses, flattened
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.config.cluster import KubeVirt

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
    result: Manifest = found["diagnosis"]
    return result


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


def finalized(*finalizers: str) -> list[Manifest]:
    machine = vm("Terminating")
    machine["metadata"].update(deletionTimestamp=SECOND, finalizers=list(finalizers))
    return [machine]


def migrating(phase: str = "Running") -> list[Manifest]:
    metadata = {"name": "move", "namespace": "shop", "creationTimestamp": SECOND}
    move = {"kind": "VirtualMachineInstanceMigration", "metadata": metadata, "spec": {"vmiName": "web"}}
    return [*running(condition("Ready", "True")), {**move, "status": {"phase": phase}}]


def class_of(name: str) -> list[Manifest]:
    machine = vm(volumes=disk())
    pvc = {"storageClassName": name, "resources": {"requests": {"storage": "1Gi"}}}
    machine["spec"]["dataVolumeTemplates"] = [{"metadata": {"name": "data"}, "spec": {"pvc": pvc}}]
    return [machine, data_volume("Pending"), claim("other", "Bound"), storage_class("local")]


WORDS = 'storageclass.storage.k8s.io "lost" not found'
NO_CLASS = event("PersistentVolumeClaim", "data", "FailedBinding", "no storage class is set")
HOOK = 'admission webhook "{}" denied the request: no'
AGENT = {"readinessProbe": {"guestAgentPing": {}}}
CREDENTIALS = [
    {"sshPublicKey": {"propagationMethod": {"noCloud": {}}}},
    {"sshPublicKey": {"propagationMethod": {"qemuGuestAgent": {}}}},
]
PROBE = {"readinessProbe": {"httpGet": {"port": 80}}}
PORTS = {"devices": {"interfaces": [{"name": "default", "masquerade": {}, "ports": [{"port": 80}]}]}}
IO_ERROR = condition("Paused", "True", "PausedIOError", "no space left")
OPEN = {"domain": {**PORTS, "memory": {"guest": "1Gi"}}, **PROBE}


@pytest.mark.parametrize(
    ("objects", "link", "problem"),
    [
        (finalized("kubevirt.io/virtualMachineControllerFinalize"), "deletion", "kubevirt.io/virtualMachine"),
        (finalized("foregroundDeletion", "example.com/hold"), "deletion", "example.com/hold"),
        (refused(HOOK.format("limits.example.com")), "policy", "limits.example.com denies the guest"),
        (refused(HOOK.format("vmi-validator.kubevirt.io")), "admission", "vmi-validator"),
        (refused("failed quota: team: must specify limits.cpu"), "quota", "must specify limits.cpu"),
        (class_of("lost"), "storage_class", "StorageClass lost of the disk data"),
        ([*starting(volumes=disk()), claim("data", "Pending", storageClassName="lost"), storage_class("local"),
          event("PersistentVolumeClaim", "data", "ProvisioningFailed", WORDS)], "storage_class", "lost"),
        ([*starting(volumes=disk()), claim("data", "Pending"), NO_CLASS, storage_class("local")],
         "storage_class", "none is the default"),
        ([*starting(volumes=disk()), claim("data", "Pending"), NO_CLASS], "storage_class", "none is the default"),
        ([*starting(volumes=disk()), data_volume("Failed")], "import", "the disk data fails: Failed"),
        ([*starting(volumes=disk()), data_volume("ImportInProgress", restartCount=2),
          event("DataVolume", "data", "Error", "no route")], "import", "no route"),
        ([*starting(volumes=disk()), claim("other", "Bound")], "claim", "the claim data does not exist"),
        ([*starting(volumes=disk()), claim("data", "Lost")], "claim", "is Lost: its volume is gone"),
        ([*starting(volumes=disk()), claim("data", "Pending"),
          event("PersistentVolumeClaim", "data", "ProvisioningFailed", "full")], "claim", "is Pending: full"),
        (starting(pod(node="", conditions=[UNSCHEDULABLE], **{"cpu": "1", "example.com/GPU": "1"}),
                  node(**{"example.com/GPU": "2"})), "device", "the device plugin of 1 of them does not answer"),
        (starting(pod(node="", conditions=[UNSCHEDULABLE])), "scheduling", "0/1 nodes are available"),
        ([vm(), vmi(vm(), "Scheduling", UNSCHEDULABLE)], "scheduling", "0/1 nodes are available"),
        ([*running(), node("Unknown")], "node", "node01 does not answer"),
        ([*running(), {**node(), "metadata": {"name": "node02"}}], "node", "node01 does not exist any more"),
        (starting(pod(("ContainerCreating", "")), event("Pod", "launcher", "FailedMount", 'secret "a" not found')),
         "files", 'secret "a" not found'),
        (starting(pod(("ContainerCreating", "")), event("Pod", "launcher", "FailedCreatePodSandBox", "no CNI")),
         "network", "the network cannot be set up: no CNI"),
        (starting(pod(("InvalidImageName", ""))), "image", "InvalidImageName"),
        (running(**AGENT), "agent", "readinessProbe.guestAgentPing"),
        (running(condition("Ready", "True"), accessCredentials=CREDENTIALS), "agent", "accessCredentials[1]"),
        (running(**PROBE), "probe", "its readiness probe fails"),
        (running(**OPEN), "probe", "its readiness probe fails"),
        (running(readinessProbe={"exec": {"command": ["true"]}}), "probe", "its readiness probe fails"),
        (running(IO_ERROR), "paused", "no space left"),
        (migrating(), "migration", "takes longer than 30 minutes"),
        ([vm("ErrorUnschedulable", condition("Ready", "False", "a", "waits"))], "other", "ErrorUnschedulable: waits"),
    ],
)  # fmt: skip
def test_the_link_is_broken(objects: list[Manifest], link: str, problem: str) -> None:
    found = of(*objects)
    assert found.get("link") == link, found
    assert problem in found["problem"]
    assert all(item["kind"] and item["name"] for item in found["evidence"])


@pytest.mark.parametrize(
    ("objects", "state"),
    [
        (finalized(), "pending"),
        ([vm("Stopped")], "pending"),
        (starting(pod(("PodInitializing", "")), node()), "pending"),
        (starting(pod(node="")), "pending"),
        (starting(pod(("ContainerCreating", "pulls")), node()), "pending"),
        (starting(pod(("ContainerCreating", "")), event("Pod", "launcher", "FailedMount", "timed out")), "pending"),
        ([*starting(volumes=disk()), data_volume("ImportInProgress"), claim("data", "Pending")], "pending"),
        ([*starting(volumes=disk()), data_volume("Succeeded"), claim("data", "Bound")], "pending"),
        ([*starting(volumes=disk("data", "persistentVolumeClaim", "claimName"))], "pending"),
        (migrating("Succeeded"), "pending"),
        (starting({**pod(), "metadata": {"name": "other", "namespace": "shop"}}), "pending"),
    ],
)
def test_no_link_is_broken(objects: list[Manifest], state: str) -> None:
    found = of(*objects)
    assert (found["state"], found.get("link")) == (state, None), found


def test_a_booting_guest_has_time() -> None:
    assert of(*running(**PROBE), at=SECOND)["state"] == "pending"
    assert of(*running(**AGENT), at=SECOND)["state"] == "pending"


def test_a_new_migration_has_time() -> None:
    assert of(*migrating(), at=SECOND).get("link") is None


def test_a_halted_vm_is_stopped_as_declared() -> None:
    machine = vm("Stopped", volumes=disk())
    machine["spec"]["runStrategy"] = "Halted"
    found = of(machine, claim("other", "Bound"))
    assert (found["state"], "claim" in found["passed"]) == ("stopped", False)


def test_what_is_not_known_is_unchecked() -> None:
    assert {"claim", "scheduling", "controller"} <= set(of(vm())["unchecked"])


def test_a_type_that_exists_now_is_said() -> None:
    message = 'virtualmachineinstancetypes.instancetype.kubevirt.io "small" not found'
    machine = vm("Stopped", condition("Failure", "True", "FailedFindInstancetype", message))
    machine["spec"]["instancetype"] = {"name": "smal", "kind": "VirtualMachineInstancetype"}
    metadata = {"name": "small", "namespace": "shop"}
    kind = {"kind": "VirtualMachineInstancetype", "metadata": metadata, "spec": {"cpu": {"guest": 1}}}
    assert of(machine, kind)["remedy"] == "use small"
    machine["spec"]["instancetype"]["name"] = "small"
    assert "it exists now" in of(machine, kind)["problem"]


def test_a_kubevirt_request_for_restart_suffices() -> None:
    machine, guest = running(condition("Ready", "True"))
    machine["status"]["conditions"] = [condition("RestartRequired", "True", "", "a field was changed")]
    assert of(machine)["state"] == "pending"
    machine["spec"]["instancetype"] = {"name": "small"}
    assert of(machine, guest)["link"] == "restart"


def test_an_active_preference_is_no_fault() -> None:
    machine, guest = running(condition("Ready", "True"))
    machine["spec"]["preference"] = {"name": "linux", "kind": "VirtualMachinePreference"}
    metadata = {"name": "linux", "namespace": "shop"}
    assert (
        of(machine, guest, {"kind": "VirtualMachinePreference", "metadata": metadata, "spec": {}}).get("link") is None
    )


def test_full_nodes_ask_for_room() -> None:
    full = {"reason": "lacks 2Gi of memory", "node_count": 1, "nodes": ["node01"]}
    objects = starting(pod(node="", conditions=[UNSCHEDULABLE]), node())
    [found] = diagnoses(objects, KubeVirt(NEWEST), HOUR, lambda _nodes, _pods: lambda _pod: [full])
    assert found["diagnosis"]["remedy"] == "free a node, add one, or make the VM smaller"
    assert found["diagnosis"]["problem"] == "no node is suitable: lacks 2Gi of memory (node01)"


def test_lists_are_taken_apart() -> None:
    items = [{"metadata": {"name": "a"}}]
    lists: list[Manifest] = [
        {"kind": "List", "items": [{"kind": "PodList", "items": items}]},
        {"kind": "Config", "items": items},
    ]
    assert list(flattened(lists)) == [{"kind": "Pod", "metadata": {"name": "a"}}]


def test_an_unreadable_time_has_no_age() -> None:
    assert (age(HOUR, SECOND), age(HOUR, "soon"), age("", SECOND)) == (3600, 0, 0)
