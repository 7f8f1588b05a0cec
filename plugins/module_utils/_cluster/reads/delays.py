"""The reasons why objects, mostly VMs, are late: the objects that they wait for, and events about these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest, Progress, last_seen, name_of
from ..._resolver.api.name_rules import one_line
from ..._resolver.preflight.references import claim_names, storage_class_of, templates_of
from ..client.errors import value_or_default
from ..client.session import Session
from .snapshot import EVENT, POD

# Reasons and words about a pod, by a kubelet, or a claim, by Kubernetes or CDI, that needs what does not exist.
_NOT_MOUNTED = frozenset({"FailedMount", "FailedCreatePodSandBox"})
_NOT_PROVISIONED = frozenset({"ErrClaimNotValid", "FailedBinding", "ProvisioningFailed"})
_ABSENT = ("not found", "cannot find", "no storage class", "no storageClass")
_CLAIMS = ("DataVolume", "PersistentVolumeClaim")
# The kinds that a VM waits for, besides pods.
_KINDS = ("DataVolume", "PersistentVolumeClaim", "VirtualMachineInstance")
_LAUNCHER_LABEL = "kubevirt.io=virt-launcher"
_VM_LABEL = "vm.kubevirt.io/name"
# Phases that block nothing.
_DONE_PHASES = frozenset({"Succeeded", "Running", "Bound"})
# The number of events that a message names.
_SHOWN = 3
# The name of a VM's pod is virt-launcher-VM-SUFFIX.
_POD_PREFIX = "virt-launcher-"


def timeout_text(timeout: float, state: Progress, item: Manifest | None, blocked: list[str], events: list[str]) -> str:
    """Why an object is late, on one line."""
    parts = [f"not ready after {round(timeout, 1):g} s"]
    if state.stuck:
        parts[0] += f": {state.stuck}"
    elif state.pending:
        parts[0] += f", waiting for {state.pending}"
    parts += blocked
    conditions = [_condition(condition) for condition in ((item or {}).get("status") or {}).get("conditions") or []]
    if conditions:
        parts.append(f"conditions: {', '.join(conditions)}")
    if events:
        parts.append(f"events: {', '.join(events)}")
    return "; ".join(parts)


def _condition(condition: Manifest) -> str:
    """`Ready=False (VMINotExists: VMI does not exist)`."""
    why = ": ".join(str(condition[name]) for name in ("reason", "message") if condition.get(name))
    return f"{condition['type']}={condition['status']}" + (f" ({one_line(why)})" if why else "")


def blockers(session: Session, namespace: str, vms: Mapping[str, Manifest | None]) -> dict[str, list[str]]:
    """One line for each DataVolume, claim, VMI and pod that is not ready, by VM name.

    The number of LISTs does not grow with the number of VMs. Kinds that the user may not list are left out.
    """
    live = {kind: _listed(session, KINDS[kind], namespace) for kind in _KINDS}
    pods: dict[str, list[Manifest]] = {}
    for pod in _listed(session, POD, namespace, labelSelector=_LAUNCHER_LABEL).values():
        pods.setdefault((pod["metadata"].get("labels") or {}).get(_VM_LABEL, ""), []).append(pod)
    return {name: list(_blockers_of(name, vm, live, pods.get(name, ()))) for name, vm in vms.items() if vm is not None}


def _blockers_of(
    name: str, vm: Manifest, live: Mapping[str, Mapping[str, Manifest]], pods: Iterable[Manifest]
) -> Iterator[str]:
    for claim in claim_names(vm):
        volume = live["DataVolume"].get(claim)
        if volume is not None:
            yield from _not_ready("DataVolume", volume, ("Running", "Bound"))
        elif claim in live["PersistentVolumeClaim"]:
            yield from _not_ready("PersistentVolumeClaim", live["PersistentVolumeClaim"][claim], ())
    if name in live["VirtualMachineInstance"]:
        yield from _not_ready("VirtualMachineInstance", live["VirtualMachineInstance"][name], ("Synchronized", "Ready"))
    for pod in pods:
        yield from _not_ready("pod", pod, ("PodScheduled",))


def _not_ready(kind: str, item: Manifest, conditions: tuple[str, ...]) -> Iterator[str]:
    """`DataVolume web-boot: ImportInProgress 35.2%: why`; nothing if the object is ready."""
    status = item.get("status") or {}
    phase = str(status.get("phase") or "without a phase")
    if phase in _DONE_PHASES:
        return
    progress = str(status.get("progress") or "")
    progress_text = phase if progress in ("", "N/A") else f"{phase} {progress}"
    reason = _container(status) or _false_condition(status, conditions)
    yield f"{kind} {item['metadata']['name']}: {progress_text}" + (f": {reason}" if reason else "")


def _false_condition(status: Manifest, names: tuple[str, ...]) -> str:
    """The message of the first of these conditions that is false."""
    by_type = {condition.get("type"): condition for condition in status.get("conditions") or []}
    for name in names:
        condition = by_type.get(name) or {}
        if condition.get("status") == "False" and (condition.get("message") or condition.get("reason")):
            return one_line(condition.get("message") or condition["reason"])
    return ""


def _container(status: Manifest) -> str:
    """Why a container of a pod has not started."""
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        waits = (container.get("state") or {}).get("waiting") or {}
        if waits.get("reason"):
            text = f"{waits['reason']}: {waits['message']}" if waits.get("message") else waits["reason"]
            return one_line(text)
    return ""


def _listed(session: Session, kind: Kind, namespace: str, **query: str) -> dict[str, Manifest]:
    return {
        item["metadata"]["name"]: item for item in value_or_default(lambda: session.list(kind, namespace, **query), [])
    }


def absent_objects(session: Session, namespace: str, items: Mapping[str, Manifest | None]) -> dict[str, str]:
    """The newest event about the pod or a disk of each of these VMs that says that an object does not exist: a Secret,
    a ConfigMap, a network or a StorageClass. One LIST; empty if the user may not list events.

    items: VMs or DataVolumes by name; None for one that does not exist.
    """
    owners = {claim: name for name, item in items.items() if item is not None for claim in _claims_of(item)}
    newest: dict[tuple[str, str, str], Manifest] = {}
    for event in sorted(value_or_default(lambda: session.list(EVENT, namespace), []), key=last_seen):
        about = event.get("involvedObject") or {}
        subject = str(about.get("name"))
        if about.get("kind") == "Pod":
            vms = [name for name in _names_of(event) if name in items and not _is_volume(items[name])]
            newest.update({("Pod", name, ""): event for name in vms})
        elif about.get("kind") in _CLAIMS and subject in owners:
            newest[about["kind"], owners[subject], subject] = event
    found: dict[str, str] = {}
    for (kind, name, claim), event in newest.items():
        reasons = _NOT_PROVISIONED if claim else _NOT_MOUNTED
        if event.get("reason") in reasons and any(words in str(event.get("message")) for words in _ABSENT):
            where = f"{kind} {claim}: " if claim and claim != name else ""
            remedy = _remedy(items[name] or {}, claim) if claim else "create it"
            found.setdefault(name, f"{where}{_event_text(event)}; {remedy}")
    return found


def _is_volume(item: Manifest | None) -> bool:
    return (item or {}).get("kind") == "DataVolume"


def _claims_of(item: Manifest) -> list[str]:
    return [name_of(item)] if _is_volume(item) else claim_names(item)


def _remedy(item: Manifest, claim: str) -> str:
    """The remedy for a claim for which no volume can be provisioned."""
    volumes = [item] if _is_volume(item) else templates_of(item)
    named = (storage_class_of(volume)[1] for volume in volumes if name_of(volume) == claim)
    owner = "DataVolume" if _is_volume(item) else "VM"
    if storage_class := next(named, ""):
        return f"create the StorageClass {storage_class}, or delete the {owner} and name another one"
    return f"mark a StorageClass as the default, or delete the {owner} and name one"


def newest_events(session: Session, namespace: str, names: Iterable[str]) -> dict[str, list[str]]:
    """The newest events about these VMs and their VMIs, pods, DataVolumes and claims, the newest last.

    One LIST. Empty if the user may not list events or the request fails.
    """
    by_name: dict[str, list[Manifest]] = {name: [] for name in names}
    for event in sorted(value_or_default(lambda: session.list(EVENT, namespace), []), key=last_seen):
        for name in _names_of(event):
            if name in by_name:
                by_name[name].append(event)
    return {name: [_event_text(event) for event in about[-_SHOWN:]] for name, about in by_name.items() if about}


def _names_of(event: Manifest) -> Iterator[str]:
    """The names that the VM of an event may have."""
    about = event.get("involvedObject") or {}
    name = str(about.get("name", ""))
    yield name
    if about.get("kind") == "Pod" and name.startswith(_POD_PREFIX):
        yield name[len(_POD_PREFIX) :].rpartition("-")[0]


def _event_text(event: Manifest) -> str:
    return f"{event.get('reason', '')}: {one_line(event.get('message'))}"
