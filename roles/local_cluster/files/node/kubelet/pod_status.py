"""The status of a pod, as kubelet writes it. All of this is pure but for the time."""

from __future__ import annotations

import hashlib
from typing import Any

from node.api.clock import now
from node.kubelet.programs import Outcome
from node.launcher_pods import SILENT, behaviour

Manifest = dict[str, Any]

HOST = "127.0.0.1"


def address(pod: Manifest) -> str:
    """The pod's IP: that of the node in its network, else one that follows from the uid."""
    if pod["spec"].get("hostNetwork"):
        return HOST
    address_before = (pod.get("status") or {}).get("podIP")
    if address_before:
        return str(address_before)
    digest = hashlib.sha256(pod["metadata"]["uid"].encode()).digest()
    return f"10.{128 + digest[0] % 128}.{digest[1]}.{1 + digest[2] % 254}"


def is_final(pod: Manifest) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def is_running(pod: Manifest) -> bool:
    return (pod.get("status") or {}).get("phase") == "Running"


def gates_open(pod: Manifest, answers: bool = True) -> bool:
    """Whether every readiness gate's condition is true, and the guest answers its probe, if it has one."""
    if (behaviour(pod) == SILENT or not answers) and any(
        entry.get("readinessProbe") for entry in pod["spec"]["containers"]
    ):
        return False
    statuses = {entry["type"]: entry["status"] for entry in (pod.get("status") or {}).get("conditions") or []}
    return all(statuses.get(gate["conditionType"]) == "True" for gate in pod["spec"].get("readinessGates") or [])


def is_ready(pod: Manifest) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(entry["type"] == "Ready" and entry["status"] == "True" for entry in conditions)


def waiting(pod: Manifest, message: str, reason: str = "ContainerCreating") -> Manifest:
    """A pod whose volumes, networks or images are not there."""
    state = {"waiting": {"reason": reason, "message": message}}
    return {
        **_common(pod, "Pending"),
        "containerStatuses": [_container(pod, entry, state) for entry in pod["spec"]["containers"]],
        "conditions": _conditions(pod, containers=False, ready=False),
    }


def running(pod: Manifest, answers: bool = True) -> Manifest:
    """A pod whose containers run. It is ready when its gates are open. answers: whether its guest answers a probe."""
    started = {"running": {"startedAt": _started(pod)}}
    return {
        **_common(pod, "Running"),
        "podIP": address(pod),
        "podIPs": [{"ip": address(pod)}],
        **_init_containers(pod),
        "containerStatuses": [_container(pod, entry, started, ready=True) for entry in pod["spec"]["containers"]],
        "conditions": _conditions(pod, containers=True, ready=gates_open(pod, answers)),
    }


def ended(pod: Manifest, outcome: Outcome) -> Manifest:
    """A pod whose containers have ended for good."""
    state = {"terminated": _terminated(pod, outcome)}
    containers = [_container(pod, entry, state) for entry in pod["spec"]["containers"]]
    if outcome.image_id:
        containers = [{**entry, "imageID": outcome.image_id} for entry in containers]
    return {
        **_common(pod, "Failed" if outcome.code else "Succeeded"),
        **_init_containers(pod, ended=True),
        "containerStatuses": containers,
        "conditions": _conditions(pod, containers=False, ready=False, reason="PodCompleted"),
    }


def failed(pod: Manifest, outcome: Outcome) -> Manifest:
    """A pod whose containers have failed, or could not be started, and are tried again."""
    state: Manifest = {"terminated": _terminated(pod, outcome)}
    if outcome.reason:
        state = {"waiting": {"reason": outcome.reason, "message": outcome.message}}
    return _not_running(pod, state)


def backing_off(pod: Manifest, seconds: float) -> Manifest:
    """A pod whose containers have failed, and are started again after some time."""
    message = f"back-off {seconds:.0f}s restarting failed container"
    return _not_running(pod, {"waiting": {"reason": "CrashLoopBackOff", "message": message}})


def _not_running(pod: Manifest, state: Manifest) -> Manifest:
    return {
        **_common(pod, "Running"),
        "containerStatuses": [_container(pod, entry, state) for entry in pod["spec"]["containers"]],
        "conditions": _conditions(pod, containers=False, ready=False),
    }


def restarts(pod: Manifest) -> int:
    statuses = (pod.get("status") or {}).get("containerStatuses") or []
    return max((int(entry.get("restartCount") or 0) for entry in statuses), default=0)


def _common(pod: Manifest, phase: str) -> Manifest:
    started = (pod.get("status") or {}).get("startTime") or now()
    return {"phase": phase, "startTime": started, "hostIP": HOST, "hostIPs": [{"ip": HOST}]}


def _started(pod: Manifest) -> str:
    """When the containers were started, if they run already."""
    for entry in (pod.get("status") or {}).get("containerStatuses") or []:
        running = (entry.get("state") or {}).get("running")
        if running:
            return str(running["startedAt"])
    return now()


def _terminated(pod: Manifest, outcome: Outcome) -> Manifest:
    state = {
        "exitCode": outcome.code,
        "reason": "Error" if outcome.code else "Completed",
        "startedAt": _started(pod),
        "finishedAt": now(),
    }
    return {**state, "message": outcome.message} if outcome.message else state


def _container(pod: Manifest, container: Manifest, state: Manifest, ready: bool = False) -> Manifest:
    """The status of a container. One that had ended, and runs now, has been restarted."""
    name = container["name"]
    before = (pod.get("status") or {}).get("containerStatuses") or []
    previous: Manifest = next((entry for entry in before if entry["name"] == name), {})
    state_before = previous.get("state") or {}
    last = previous.get("lastState") or {}
    if state_before.get("terminated") and not state.get("terminated"):
        last = {"terminated": state_before["terminated"]}
    restarted = "running" in state and "running" not in state_before and bool(last)
    status = {
        "name": name,
        "image": container.get("image", ""),
        "imageID": _image_id(container.get("image", "")),
        "containerID": f"simulated://{pod['metadata']['uid']}/{name}",
        "ready": ready,
        "started": ready,
        "restartCount": int(previous.get("restartCount") or 0) + restarted,
        "state": state,
    }
    return {**status, "lastState": last} if last else status


def _image_id(image: str) -> str:
    """The image with a digest, which nodes know even where only a tag was asked for; it follows from the name."""
    if "@" in image:
        return image
    return f"{image}@sha256:{hashlib.sha256(image.encode()).hexdigest()}"


def _init_containers(pod: Manifest, ended: bool = False) -> Manifest:
    """Init containers are done, but those that always restart run as long as the others."""
    statuses = []
    for entry in pod["spec"].get("initContainers") or []:
        if entry.get("restartPolicy") == "Always" and not ended:
            statuses.append(_container(pod, entry, {"running": {"startedAt": _started(pod)}}, ready=True))
        else:
            done = {"terminated": _terminated(pod, Outcome())}
            is_sidecar = entry.get("restartPolicy") == "Always"
            statuses.append({**_container(pod, entry, done, ready=not is_sidecar), "started": False})
    return {"initContainerStatuses": statuses} if statuses else {}


def _conditions(pod: Manifest, containers: bool, ready: bool, reason: str = "") -> list[Manifest]:
    """Changed conditions get a new time, and those of others stay: the patch names only these."""
    before = {entry["type"]: entry for entry in (pod.get("status") or {}).get("conditions") or []}
    not_ready_reason = reason or ("ReadinessGatesNotReady" if containers else "ContainersNotReady")
    values = {"PodReadyToStartContainers": containers, "Initialized": containers or bool(reason)}
    values |= {"ContainersReady": containers, "Ready": ready, "PodScheduled": True}
    conditions = []
    for kind, value in values.items():
        status = "True" if value else "False"
        previous = before.get(kind) or {}
        since = previous.get("lastTransitionTime") if previous.get("status") == status else None
        entry = {"type": kind, "status": status, "lastTransitionTime": since or now()}
        conditions.append({**entry, "reason": None if value else not_ready_reason, "message": None})
    return conditions
