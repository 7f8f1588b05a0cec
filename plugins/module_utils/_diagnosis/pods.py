"""The links of the pod: devices, scheduling, node, files, networks, images."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from .._resolver.api.manifest import Manifest, condition_of, namespace_of
from .._resolver.api.name_rules import one_line
from .case import EVENT, NODE, POD, Case
from .link import (
    OURS,
    Broken,
    Evidence,
    Link,
    added,
    age,
    created,
    kubectl,
    of_condition,
    of_event,
    of_field,
    of_status,
    task,
    vm_task,
)

_UNSCHEDULED: Final = (
    "kube-scheduler places the pod as soon as a node is suitable; until then the VM is ErrorUnschedulable"
)
_TAINT: Final = re.compile(r"has the taint (?P<key>[^=:]+)(?:=(?P<value>[^:]*))?:(?P<effect>.*)")
_LABEL: Final = re.compile(r"lacks the label (?P<key>[^= ]+)=(?P<value>\S*)")
_CORDON: Final = "node.kubernetes.io/unschedulable"
# Taints that say how a node is, or that it runs the control plane: no guest should tolerate them.
_NODES_OWN: Final = ("node.kubernetes.io/", "node-role.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
_KUBELET_TRIES: Final = "kubelet keeps trying, and the guest does not start"


# The words of kube-scheduler about a pod whose claim has no volume.
UNBOUND: Final = re.compile(r"unbound immediate PersistentVolumeClaim|available persistent volumes to bind")
# Longer than a scheduler takes to look at a pod.
_SCHEDULED: Final = 60.0


def unschedulable(case: Case) -> Evidence | None:
    """The condition of the pod that no node is suitable for."""
    pod = case.starting_pod
    if pod is not None and pod["spec"].get("nodeName"):
        return None
    items = (item for item in (pod, case.vmi, case.vm) if item is not None and waits_for_node(item))
    return next((of_condition(item, condition_of(item, "PodScheduled")) for item in items), None)


def waits_for_node(item: Manifest) -> bool:
    """Whether no node is suitable for a pod, or for that of a VMI."""
    condition = condition_of(item, "PodScheduled")
    return condition.get("status") == "False" and condition.get("reason") == "Unschedulable"


def _device(case: Case) -> Broken | None:
    evidence, pod = unschedulable(case), case.starting_pod
    if evidence is None or pod is None or NODE not in case.known:
        return None
    for name in _devices(pod):
        amounts = [
            (_amount(node, "capacity", name), _amount(node, "allocatable", name)) for node in case.nodes.values()
        ]
        if any(allocatable != "0" for _capacity, allocatable in amounts):
            continue
        silent = sum(capacity != "0" for capacity, _allocatable in amounts)
        count = f"none of {len(amounts)} nodes"
        lost = f"; the device plugin of {silent} of them does not answer" if silent else ""
        return Broken(
            f"{count} has the device {name}{lost}",
            (evidence,),
            "install the device plugin on a node with the device, or remove the device from the VM",
            kubectl("Which nodes have the device?", "get", "nodes", "--output", _column(name)),
            _UNSCHEDULED,
        )
    return None


def _column(resource: str) -> str:
    """The columns of kubectl with the name of each node, and how many of a device it has."""
    return "custom-columns=node:.metadata.name,devices:.status.allocatable." + resource.replace(".", "\\.")


def _amount(node: Manifest, field: str, name: str) -> str:
    return str(((node.get("status") or {}).get(field) or {}).get(name, "0"))


def _devices(pod: Manifest) -> Iterator[str]:
    """The extended resources that a pod asks for."""
    for container in pod["spec"].get("containers") or ():
        for name in (container.get("resources") or {}).get("limits") or {}:
            if "/" in name and not name.startswith("hugepages-"):
                yield name


def _scheduling(case: Case) -> Broken | None:
    evidence, pod = unschedulable(case), case.starting_pod
    if evidence is None:
        return _unseen_by_scheduler(case, pod) if pod is not None else None
    reasons = case.node_reasons(pod) if pod is not None else []
    by_node = tuple(
        Evidence(NODE, "", ", ".join(item["nodes"]), "status", "unsuitable", item["reason"])
        for item in reasons
        if item["reason"]
    )
    # Where something else keeps the pod off a node, only kube-scheduler knows what would help.
    helpful = by_node if len(by_node) == len(reasons) else ()
    texts = [f"{item.message} ({item.name})" for item in helpful]
    return Broken(
        f"no node is suitable: {'; '.join(texts) or evidence.message}",
        (evidence, *by_node),
        *_scheduling_remedy(case, helpful),
        _UNSCHEDULED,
    )


def _unseen_by_scheduler(case: Case, pod: Manifest) -> Broken | None:
    """A pod at which no scheduler has looked."""
    spec, since = pod["spec"], pod["metadata"].get("creationTimestamp")
    if spec.get("nodeName") or condition_of(pod, "PodScheduled") or age(case.at, since) < _SCHEDULED:
        return None
    name = spec.get("schedulerName") or "default-scheduler"
    return Broken(
        f"the scheduler {name} has not looked at the pod",
        (of_field(pod, "spec.schedulerName", str(name)),),
        "start the scheduler, or name another one in the VM",
        kubectl("Which schedulers run?", "get", "pods", namespace="kube-system"),
        "no node is chosen for the pod, and the VM stays Starting",
    )


def _scheduling_remedy(case: Case, reasons: Sequence[Evidence]) -> tuple[str, Manifest]:
    """The remedy for a pod that no node is suitable for: the one that changes the least."""
    for item, found in ((item, _TAINT.fullmatch(item.message)) for item in reasons):
        if found is not None and found["key"] == _CORDON:
            uncordon = kubectl("Let pods onto the node", "uncordon", item.name.partition(",")[0])
            return "let pods onto the node again, if its maintenance is over", uncordon
        if found is not None and not found["key"].startswith(_NODES_OWN):
            toleration = {key: value for key, value in found.groupdict().items() if value}
            toleration |= {} if found["value"] else {"operator": "Exists"}
            tolerations = case.declared_spec.get("tolerations")
            tolerate = vm_task("Tolerate the taint", case, added(tolerations, "/template/spec/tolerations", toleration))
            return "let the VM tolerate the taint, if the nodes are for it", tolerate
    missing = task("What is missing?", f"{OURS}capacity_info", **case.selection, checks=["placement"])
    for found in filter(None, (_LABEL.fullmatch(item.message) for item in reasons)):
        if "kubevirt.io/" in found["key"]:
            return "give the VM a CPU model, a machine type and features that a node has", missing
        if "kubernetes.io/" in found["key"]:
            return "correct the node selector or the architecture, or add such a node", missing
        labelled = kubectl("Label a node", "label", "node", "NODE", f"{found['key']}={found['value']}")
        return "label a node, or correct the node selector", labelled
    return "free a node, add one, or make the VM smaller", missing


def _node(case: Case) -> Broken | None:
    status = (case.vmi or {}).get("status") or {}
    pod = case.starting_pod
    name = status.get("nodeName") or (((pod or {}).get("spec") or {}).get("nodeName"))
    if not name or NODE not in case.known or status.get("phase") in ("Succeeded", "Failed"):
        return None
    node = case.nodes.get(name)
    if node is None:
        evidence = of_status(case.vmi or pod or {}, "nodeName", f"{name}, which does not exist")
    else:
        ready = condition_of(node, "Ready")
        if ready.get("status", "True") == "True":
            return None
        evidence = of_condition(node, ready)
    taint = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
    return Broken(
        f"the node {name} {'does not exist any more' if node is None else 'does not answer'}",
        (evidence,),
        "start the node again; if it is off for good, mark it as out of service, so that its VMs start elsewhere",
        kubectl(f"Mark {name} as out of service", "taint", "nodes", name, taint),
        "Kubernetes deletes the pod after 5 minutes, but it stays until the node answers; until then the VM does not"
        " start elsewhere",
    )


def _waiting_container(case: Case) -> tuple[Manifest, Manifest] | None:
    """The pod whose containers have not started on their node, and why the first waits."""
    pod = case.starting_pod
    if pod is None or not pod["spec"].get("nodeName"):
        return None
    status = pod.get("status") or {}
    for container in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
        waits = (container.get("state") or {}).get("waiting") or {}
        if waits.get("reason") not in (None, "PodInitializing"):
            return pod, waits
    return pod, {}


def _kubelet_report(case: Case, pod: Manifest, waits: Manifest, words: str, *reasons: str) -> Evidence | None:
    """Kubelet's report on a pod: an event with one of the reasons, or the state of a container with the words."""
    event = case.event(pod, *reasons)
    if event is not None:
        return of_event(event)
    message = one_line(waits.get("message"))
    return of_status(pod, str(waits["reason"]), message) if words in message and message else None


# Longer than storage takes to attach a volume.
_MOUNTED: Final = 180.0
_FILE: Final = re.compile(r"(?P<kind>secret|configmap) \"(?P<name>[^\"]+)\" not found")
_NETWORK: Final = re.compile(r"network-attachment-definition \((?P<name>[^)]+)\) in namespace \((?P<place>[^)]+)\)")


def missing_file(case: Case, evidence: Evidence) -> Broken | None:
    """The Secret or the ConfigMap that a pod lacks, if the evidence names one."""
    found = _FILE.search(evidence.message)
    if found is None:
        return None
    kind, verb = ("Secret", ("secret", "generic")) if found["kind"] == "secret" else ("ConfigMap", ("configmap",))
    name, namespace = found["name"], namespace_of(case.vm)
    content = ("create", *verb, name, "--from-literal=KEY=VALUE")
    return Broken(
        f"the {kind} {name} of a volume does not exist",
        (evidence,),
        f"create the {kind}, or name another one in the VM",
        kubectl(f"Create the {kind} {name}", *content, namespace=namespace),
        _KUBELET_TRIES,
    )


def _files(case: Case) -> Broken | None:
    waiting = _waiting_container(case)
    evidence = _kubelet_report(case, *waiting, "MountVolume", "FailedMount", "FailedAttachVolume") if waiting else None
    if waiting is None or evidence is None:
        return None
    if (missing := missing_file(case, evidence)) is not None:
        return missing
    if age(case.at, waiting[0]["metadata"].get("creationTimestamp")) < _MOUNTED:
        return None
    problem = f"the pod cannot mount a volume: {evidence.message}"
    return Broken(problem, (evidence,), "see the volume, and the driver of its storage", None, _KUBELET_TRIES)


def _network(case: Case) -> Broken | None:
    waiting = _waiting_container(case)
    words = "network-attachment-definition"
    evidence = _kubelet_report(case, *waiting, words, "FailedCreatePodSandBox") if waiting else None
    if evidence is None:
        return None
    found = _NETWORK.search(evidence.message)
    if found is None:
        problem, remedy = f"the network cannot be set up: {evidence.message}", "see the CNI plugin on the node"
        return Broken(problem, (evidence,), remedy, None, _KUBELET_TRIES)
    config = '{"cniVersion": "0.3.1", "type": "bridge", "bridge": "BRIDGE"}'
    kind, place = "k8s.cni.cncf.io/v1/NetworkAttachmentDefinition", (found["name"], found["place"])
    return Broken(
        f"the network {found['place']}/{found['name']} does not exist",
        (evidence,),
        "create the NetworkAttachmentDefinition, or name another one in the VM",
        created("Create the network", kind, *place, spec={"config": config}),
        _KUBELET_TRIES,
    )


_IMAGE: Final = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable")


def _image(case: Case) -> Broken | None:
    waiting = _waiting_container(case)
    if waiting is None or waiting[1].get("reason") not in _IMAGE:
        return None
    pod, waits = waiting
    event = case.event(pod, "Failed")
    evidence = (of_status(pod, str(waits["reason"]), one_line(waits.get("message"))),)
    words = one_line((event or {}).get("message")) or evidence[0].message or evidence[0].reason
    return Broken(
        f"an image cannot be pulled: {words}",
        (*evidence, *([of_event(event)] if event else [])),
        "correct the image, or give the VM a pull secret for its registry",
        _another_image(case, words),
        "kubelet tries again at growing intervals, up to 5 minutes, and the VM does not start",
    )


def _another_image(case: Case, words: str) -> Manifest | None:
    """A task that gives the VM other images instead of those that the words name; None if they name none."""
    changes = {
        f"/template/spec/volumes/{index}/containerDisk/image": "IMAGE"
        for index, volume in enumerate(case.declared_spec.get("volumes") or ())
        if (image := (volume.get("containerDisk") or {}).get("image")) and str(image) in words
    }
    return vm_task("Give the VM another image", case, changes) if changes else None


LINKS: Final = (
    Link("device", _device, (POD, NODE)),
    Link("scheduling", _scheduling, (POD,)),
    Link("node", _node, (NODE,)),
    Link("files", _files, (POD, EVENT)),
    Link("network", _network, (POD, EVENT)),
    Link("image", _image, (POD,)),
)
