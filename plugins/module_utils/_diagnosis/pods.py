"""The links of the pod: devices, scheduling, node, files, networks, images."""

from __future__ import annotations

import re
from typing import Final

from .._resolver.api.manifest import Manifest, condition_of, name_of, namespace_of
from .._resolver.api.name_rules import one_line
from .ages import age
from .case import EVENT, NODE, POD, Case
from .handlers import freed, out_of_service, restarted_handler, silent_handler, silent_node
from .link import (
    Broken,
    Evidence,
    Link,
    created,
    ended,
    ending,
    kubectl,
    of_condition,
    of_event,
    of_status,
    vm_task,
)

_KUBELET_TRIES: Final = "kubelet keeps trying, and the guest does not start"


def _node(case: Case) -> Broken | None:
    status = (case.vmi or {}).get("status") or {}
    pod = case.starting_pod
    name = str(status.get("nodeName") or ((pod or {}).get("spec") or {}).get("nodeName") or "")
    if status.get("phase") in ("Succeeded", "Failed"):
        return None
    evidence = silent_node(case, name)
    if evidence is not None:
        return Broken(
            f"the node {name} {'does not answer' if name in case.nodes else 'does not exist any more'}",
            (evidence,),
            "start the node again; if it is off for good, mark it as out of service, so that its VMs start elsewhere",
            out_of_service(name) if name in case.nodes else freed(case),
            "Kubernetes deletes the pod after 5 minutes, but it stays until the node answers; until then the VM"
            " does not start elsewhere",
        )
    evidence = silent_handler(case, name)
    if evidence is None:
        return None
    return Broken(
        f"virt-handler of the node {name} has been {evidence.message}",
        (evidence,),
        "see its log, and start it again",
        restarted_handler(case, name),
        "guests of the node run on, and none of them starts, stops or migrates",
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


_ATTACHED: Final = re.compile(r"Multi-Attach error|already (exclusively )?attached|[Vv]olume is already used by pod")


def _files(case: Case) -> Broken | None:
    waiting = _waiting_container(case)
    evidence = _kubelet_report(case, *waiting, "MountVolume", "FailedMount", "FailedAttachVolume") if waiting else None
    if waiting is None or evidence is None:
        return None
    if (missing := missing_file(case, evidence)) is not None:
        return missing
    attached = case.event(waiting[0], "FailedAttachVolume")
    if attached is not None and _ATTACHED.search(str(attached.get("message"))):
        return _attached_elsewhere(case, of_event(attached))
    if age(case.at, waiting[0]["metadata"].get("creationTimestamp")) < _MOUNTED:
        return None
    problem = f"the pod cannot mount a volume: {evidence.message}"
    return Broken(problem, (evidence,), "see the volume, and the driver of its storage", None, _KUBELET_TRIES)


def _attached_elsewhere(case: Case, evidence: Evidence) -> Broken:
    """A volume that only one node can have, and another one has."""
    remedy = "wait until the other node lets the volume go; see the driver of its storage and its VolumeAttachment"
    cure: Manifest | None = kubectl("Which node has the volume?", "get", "volumeattachments")
    holders = [user for volume in case.volumes for user in case.users_of(volume.name)]
    off = [
        name for pod in case.pods[1:] if silent_node(case, name := str(pod["spec"].get("nodeName") or "")) is not None
    ]
    if holders:
        remedy = f"{ended(holders)}, or give the VM a disk of its own"
        cure = ending(case, holders)
    elif off:
        remedy = f"start the node {off[0]} again; if it is off for good, mark it as out of service"
        cure = out_of_service(off[0])
    return Broken(f"another node has a volume of the VM: {evidence.message}", (evidence,), remedy, cure, _KUBELET_TRIES)


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


def _unpulled(case: Case) -> tuple[Evidence, Manifest | None] | None:
    """The evidence that an image cannot be pulled, and kubelet's event about it."""
    waiting = _waiting_container(case)
    if waiting is not None and waiting[1].get("reason") in _IMAGE:
        pod, waits = waiting
        return of_status(pod, str(waits["reason"]), one_line(waits.get("message"))), case.event(pod, "Failed")
    # KubeVirt copies the state of a container to the VMI, and from there to the VM.
    for item in filter(None, (case.vmi, case.vm)):
        condition = condition_of(item, "Synchronized")
        if POD not in case.known and condition.get("reason") in _IMAGE:
            return of_condition(item, condition), None
    return None


def _image(case: Case) -> Broken | None:
    found = _unpulled(case)
    if found is None:
        return None
    evidence, event = (found[0],), found[1]
    words = one_line((event or {}).get("message")) or evidence[0].message or evidence[0].reason
    return Broken(
        f"an image cannot be pulled: {words}",
        (*evidence, *([of_event(event)] if event else [])),
        "correct the image, or give the VM a pull secret for its registry",
        _another_image(case, words),
        "kubelet tries again at growing intervals, up to 5 minutes, and the VM does not start",
    )


def _another_image(case: Case, words: str) -> Manifest | None:
    """A task that replaces the images that the words name; None if they name none."""
    changes = {
        f"/template/spec/volumes/{index}/containerDisk/image": "IMAGE"
        for index, volume in enumerate(case.declared_spec.get("volumes") or ())
        if (image := (volume.get("containerDisk") or {}).get("image")) and str(image) in words
    }
    return vm_task("Give the VM another image", case, changes) if changes else None


_NOT_RUNNING: Final = (
    *("CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"),
    *("ContainerCannotRun", "StartError", "PostStartHookError"),
)


def _container(case: Case) -> Broken | None:
    """A container of the pod that ends, or that its runtime cannot start."""
    waiting = _waiting_container(case)
    if waiting is None or waiting[1].get("reason") not in _NOT_RUNNING:
        return None
    pod, waits = waiting
    event = case.event(pod, "Failed", "BackOff")
    evidence = of_status(pod, str(waits["reason"]), one_line(waits.get("message")))
    words = one_line((event or {}).get("message")) or evidence.message or evidence.reason
    return Broken(
        f"a container of the pod does not run: {words}",
        (evidence, *([of_event(event)] if event else [])),
        "see its log, and the container runtime of the node; a container disk of KubeVirt 1.9 needs a runtime with"
        " image volumes, or the feature gate ImageVolume disabled",
        kubectl("Read the log", "logs", name_of(pod), "--all-containers", namespace=namespace_of(pod)),
        _KUBELET_TRIES,
    )


LINKS: Final = (
    Link("node", _node, (NODE,)),
    Link("files", _files, (POD, EVENT)),
    Link("network", _network, (POD, EVENT)),
    Link("image", _image, (POD,)),
    Link("container", _container, (POD,)),
)
