"""What keeps a VM that is not ready in time: its DataVolumes, its VMI or its pod, and the newest events about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..._resolver.api.kinds import BY_NAME, Kind
from ..._resolver.preflight.references import claim_names
from ..client.errors import ApiError, ConnectionFailed
from ..client.session import Session

Manifest = dict[str, Any]

_KINDS = ("DataVolume", "PersistentVolumeClaim", "VirtualMachineInstance")
_POD = Kind("Pod", "", "v1", "pods", True)
_LAUNCHER = "kubevirt.io=virt-launcher"
_OF_VM = "vm.kubevirt.io/name"
# Phases that block nothing.
_DONE = frozenset({"Succeeded", "Running", "Bound"})


def blockers(session: Session, namespace: str, vms: Mapping[str, Manifest | None]) -> dict[str, list[str]]:
    """One line for each DataVolume, claim, VMI and pod that is not ready, by VM name.

    The number of LISTs does not grow with the number of VMs. Kinds that the user may not list are left out.
    """
    known = {kind: _listed(session, BY_NAME[kind], namespace) for kind in _KINDS}
    pods: dict[str, list[Manifest]] = {}
    for pod in _listed(session, _POD, namespace, labelSelector=_LAUNCHER).values():
        pods.setdefault((pod["metadata"].get("labels") or {}).get(_OF_VM, ""), []).append(pod)
    return {name: list(_of(name, vm, known, pods.get(name, ()))) for name, vm in vms.items() if vm is not None}


def _of(
    name: str, vm: Manifest, known: Mapping[str, Mapping[str, Manifest]], pods: Iterable[Manifest]
) -> Iterator[str]:
    for claim in claim_names(vm):
        volume = known["DataVolume"].get(claim)
        if volume is not None:
            yield from _late("DataVolume", volume, ("Running", "Bound"))
        elif claim in known["PersistentVolumeClaim"]:
            yield from _late("PersistentVolumeClaim", known["PersistentVolumeClaim"][claim], ())
    if name in known["VirtualMachineInstance"]:
        yield from _late("VirtualMachineInstance", known["VirtualMachineInstance"][name], ("Synchronized", "Ready"))
    for pod in pods:
        yield from _late("pod", pod, ("PodScheduled",))


def _late(what: str, item: Manifest, telling: tuple[str, ...]) -> Iterator[str]:
    """`DataVolume web-boot: ImportInProgress 35.2%: why`; nothing if the object is ready."""
    status = item.get("status") or {}
    phase = str(status.get("phase") or "without a phase")
    if phase in _DONE:
        return
    progress = str(status.get("progress") or "")
    told = phase if progress in ("", "N/A") else f"{phase} {progress}"
    reason = _container(status) or _condition(status, telling)
    yield f"{what} {item['metadata']['name']}: {told}" + (f": {reason}" if reason else "")


def _condition(status: Manifest, telling: tuple[str, ...]) -> str:
    """The message of the first of these conditions that is false."""
    conditions = {condition.get("type"): condition for condition in status.get("conditions") or []}
    for name in telling:
        found = conditions.get(name) or {}
        if found.get("status") == "False" and (found.get("message") or found.get("reason")):
            return " ".join(str(found.get("message") or found["reason"]).split())
    return ""


def _container(status: Manifest) -> str:
    """Why a container of a pod has not started."""
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        waits = (container.get("state") or {}).get("waiting") or {}
        if waits.get("reason"):
            text = f"{waits['reason']}: {waits['message']}" if waits.get("message") else waits["reason"]
            return " ".join(str(text).split())
    return ""


def _listed(session: Session, kind: Kind, namespace: str, **query: str) -> dict[str, Manifest]:
    try:
        items, _version = session.list(kind, namespace, **query)
    except (ApiError, ConnectionFailed):
        return {}
    return {item["metadata"]["name"]: item for item in items}


_EVENT = Kind("Event", "", "v1", "events", True)
_TOLD = 3
# The name of a VM's pod is virt-launcher-VM-SUFFIX.
_POD_PREFIX = "virt-launcher-"


def newest_events(session: Session, namespace: str, names: Iterable[str]) -> dict[str, list[str]]:
    """The newest events about these VMs and their VMIs, pods, DataVolumes and claims, the newest last.

    One LIST. Empty if the user may not list events or the request fails.
    """
    try:
        items, _version = session.list(_EVENT, namespace)
    except (ApiError, ConnectionFailed):
        return {}
    items.sort(key=_time)
    found: dict[str, list[Manifest]] = {name: [] for name in names}
    for event in items:
        for name in _about(event):
            if name in found:
                found[name].append(event)
    return {name: [_text(event) for event in about[-_TOLD:]] for name, about in found.items() if about}


def _about(event: Manifest) -> Iterator[str]:
    """The names that the VM of an event may have."""
    about = event.get("involvedObject") or {}
    name = str(about.get("name", ""))
    yield name
    if about.get("kind") == "Pod" and name.startswith(_POD_PREFIX):
        yield name[len(_POD_PREFIX) :].rpartition("-")[0]


def _time(event: Manifest) -> str:
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return next((str(time) for time in times if time), str(event["metadata"].get("creationTimestamp", "")))


def _text(event: Manifest) -> str:
    return f"{event.get('reason', '')}: {' '.join(str(event.get('message', '')).split())}"
