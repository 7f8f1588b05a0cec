"""The links of the pod: devices, scheduling, node, files, networks, images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .._resolver.api.manifest import condition_of, name_of, namespace_of
from .case import EVENT, NODE, POD, Case
from .link import OURS, Broken, Evidence, Link, object_task, of_condition, of_event, of_status, one_line, task

Manifest = dict[str, Any]

_UNSCHEDULED: Final = (
    "kube-scheduler places the pod as soon as a node is suitable; until then the VM is ErrorUnschedulable"
)
_KUBELET_TRIES: Final = "kubelet keeps trying, and the VM stays Starting"


def _unschedulable(case: Case) -> Evidence | None:
    """The condition of the pod that no node is suitable for."""
    pod = case.starting_pod
    item = pod if POD in case.known else case.vmi
    return of_condition(item, condition_of(item, "PodScheduled")) if item is not None and waits_for_node(item) else None


def waits_for_node(item: Manifest) -> bool:
    """Whether no node is suitable for a pod, or for that of a VMI."""
    condition = condition_of(item, "PodScheduled")
    return condition.get("status") == "False" and condition.get("reason") == "Unschedulable"


def _device(case: Case) -> Broken | None:
    evidence, pod = _unschedulable(case), case.starting_pod
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
            task("Which nodes have which devices?", "kubernetes.core.k8s_info", api_version="v1", kind="Node"),
            _UNSCHEDULED,
        )
    return None


def _amount(node: Manifest, field: str, name: str) -> str:
    return str(((node.get("status") or {}).get(field) or {}).get(name, "0"))


def _devices(pod: Manifest) -> Iterator[str]:
    """The extended resources that a pod asks for."""
    for container in pod["spec"].get("containers") or ():
        for name in (container.get("resources") or {}).get("limits") or {}:
            if "/" in name and not name.startswith("hugepages-"):
                yield name


def _scheduling(case: Case) -> Broken | None:
    evidence, pod = _unschedulable(case), case.starting_pod
    if evidence is None:
        return None
    reasons = case.node_reasons(pod) if pod is not None else []
    by_node = tuple(
        Evidence(NODE, "", ", ".join(item["nodes"]), "status", "unsuitable", item["reason"])
        for item in reasons
        if item["reason"]
    )
    texts = [f"{item.message} ({item.name})" for item in by_node]
    return Broken(
        f"no node is suitable: {'; '.join(texts) or evidence.message}",
        (evidence, *by_node),
        *_placed(case, [item.message for item in by_node]),
        _UNSCHEDULED,
    )


def _placed(case: Case, reasons: list[str]) -> tuple[str, Manifest]:
    """The remedy for a pod that no node is suitable for: the one that changes the least."""
    for reason in reasons:
        if "the taint " in reason:
            taint, _colon, effect = reason.partition("the taint ")[2].partition(":")
            key, _equals, value = taint.partition("=")
            toleration = {"key": key, "effect": effect, **({"value": value} if value else {"operator": "Exists"})}
            options = {**case.place, "tolerations": [toleration]}
            return (
                "let the VM tolerate the taint, if the nodes are for it",
                task("Tolerate the taint", f"{OURS}virtual_machine", **options),
            )
    for reason in reasons:
        if "the label " in reason:
            key, _equals, value = reason.partition("the label ")[2].partition("=")
            head = {"apiVersion": "v1", "kind": NODE, "metadata": {"name": "NODE", "labels": {key: value}}}
            return "label a node, or correct the node selector", object_task("Label a node", "patched", head)
    checked = {"namespace": namespace_of(case.vm), "names": [name_of(case.vm)], "checks": ["placement"]}
    return "free a node, add one, or make the VM smaller", task("What is missing?", f"{OURS}capacity_info", **checked)


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
    taint = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
    return Broken(
        f"the node {name} {'does not exist any more' if node is None else 'does not answer'}",
        (evidence,),
        "start the node again; if it is off for good, mark it as out of service, so that its VMs start elsewhere",
        task(
            f"Mark {name} as out of service",
            "kubernetes.core.k8s_taint",
            name=name,
            state="present",
            taints=[taint],
        ),
        "Kubernetes deletes the pod after 5 minutes, but it stays until the node answers; until then the VM does not"
        " start elsewhere",
    )


def _waiting(case: Case) -> tuple[Manifest, Manifest] | None:
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


def _said(case: Case, pod: Manifest, waits: Manifest, reason: str, words: str) -> Evidence | None:
    """What kubelet says of a pod: an event, or the state of a container."""
    event = case.event(pod, reason)
    if event is not None:
        return of_event(event)
    message = one_line(waits.get("message"))
    return of_status(pod, str(waits["reason"]), message) if words in message and message else None


def _files(case: Case) -> Broken | None:
    waiting = _waiting(case)
    evidence = _said(case, *waiting, "FailedMount", "MountVolume") if waiting else None
    if evidence is None or "not found" not in evidence.message:
        return None
    return Broken(
        f"the pod cannot mount a volume: {evidence.message}",
        (evidence,),
        "create the Secret or ConfigMap that the VM names",
        object_task(
            "Create the Secret",
            "present",
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "NAME", "namespace": namespace_of(case.vm)},
                "stringData": {},
            },
        ),
        _KUBELET_TRIES,
    )


def _network(case: Case) -> Broken | None:
    waiting = _waiting(case)
    words = "network-attachment-definition"
    evidence = _said(case, *waiting, "FailedCreatePodSandBox", words) if waiting else None
    if evidence is None:
        return None
    name = evidence.message.partition("network-attachment-definition (")[2].partition(")")[0]
    config = '{"cniVersion": "0.3.1", "type": "bridge", "bridge": "BRIDGE"}'
    metadata = {"name": name or "NAME", "namespace": namespace_of(case.vm)}
    head = {"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": metadata}
    return Broken(
        f"the network {name} does not exist" if name else f"the network cannot be set up: {evidence.message}",
        (evidence,),
        "create the NetworkAttachmentDefinition, or name another one in the VM"
        if name
        else "see the CNI plugin of the network on the node",
        object_task("Create the network", "present", {**head, "spec": {"config": config}}),
        _KUBELET_TRIES,
    )


_IMAGE: Final = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable")


def _image(case: Case) -> Broken | None:
    waiting = _waiting(case)
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
        task(
            "Give the VM another image",
            f"{OURS}virtual_machine",
            **case.place,
            volumes=[{"name": name, "container_disk": "IMAGE"} for name in _container_disks(case.vm)],
        ),
        "kubelet tries again at growing intervals, up to 5 minutes, and the VM does not start",
    )


def _container_disks(vm: Manifest) -> list[str]:
    volumes = (vm["spec"]["template"].get("spec") or {}).get("volumes") or ()
    return [volume["name"] for volume in volumes if volume.get("containerDisk")]


LINKS: Final = (
    Link("device", _device, (POD, NODE)),
    Link("scheduling", _scheduling, (POD,)),
    Link("node", _node, (NODE,)),
    Link("files", _files, (POD, EVENT)),
    Link("network", _network, (POD, EVENT)),
    Link("image", _image, (POD,)),
)
