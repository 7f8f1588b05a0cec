"""The reasons why objects, mostly VMs, are late: the objects that they wait for, and events about these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ..._resolver.api.finalizers import PVC_PROTECTION, holders
from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest, Progress, created_at, last_seen, metadata_of, name_of
from ..._resolver.api.name_rules import one_line
from ..._resolver.api.tree import value_at
from ..._resolver.kubevirt.vm.readiness import NO_REASONS
from ..._resolver.preflight.references import claim_names, sole_owner, storage_class_of, templates_of
from ..client.errors import value_or_default
from ..client.session import Session
from .surroundings import EVENT, POD

# Reasons and words about a pod, by a kubelet or Multus, or a claim, by Kubernetes or CDI, that needs what is not there.
_NOT_MOUNTED = frozenset({"FailedMount", "FailedCreatePodSandBox", "NoNetworkFound"})
_NOT_PROVISIONED = frozenset({"ErrClaimNotValid", "FailedBinding", "ProvisioningFailed"})
_ABSENT = ("not found", "cannot find", "no storage class", "no storageClass")
_CLAIMS = ("DataVolume", "PersistentVolumeClaim")
# The kinds that a VM waits for, besides pods.
_KINDS = ("DataVolume", "PersistentVolumeClaim", "VirtualMachineInstance")
_LAUNCHER_LABEL = "kubevirt.io=virt-launcher"
_VM_LABEL = "vm.kubevirt.io/name"
# The conditions that say why an object is not ready.
_CONDITIONS = {
    "DataImportCron": ("UpToDate",),
    "DataVolume": ("Running", "Bound"),
    "VirtualMachineInstance": ("Synchronized", "Ready"),
    "pod": ("PodScheduled",),
}
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
    held = holders(item or {})
    parts += held
    parts += blocked
    conditions = [_condition(condition) for condition in ((item or {}).get("status") or {}).get("conditions") or []]
    if held:
        # Conditions and events say nothing of the deletion.
        return "; ".join(parts)
    if conditions:
        parts.append(f"conditions: {', '.join(conditions)}")
    told = "; ".join(parts)
    news = [event for event in dict.fromkeys(events) if event not in told]
    return "; ".join([told, f"events: {', '.join(news)}"]) if news else told


def failure_text(failure: str, blocked: Iterable[str]) -> str:
    """Why an object has failed, on one line: the failure with the names of the objects that say the same, and what the
    others say.
    """
    names, others = [], []
    for line in blocked:
        if line.rpartition(": ")[2] in failure:
            names.append(line.partition(": ")[0])
        else:
            others.append(line)
    return "; ".join([f"{failure} ({', '.join(names)})" if names else failure, *others])


def _condition(condition: Manifest) -> str:
    """`Ready=False (VMINotExists: VMI does not exist)`."""
    why = ": ".join(str(condition[name]) for name in ("reason", "message") if condition.get(name))
    return f"{condition['type']}={condition['status']}" + (f" ({one_line(why)})" if why else "")


def blockers(
    session: Session, kind: str, namespace: str, items: Mapping[str, Manifest | None], events: Iterable[Manifest] = ()
) -> dict[str, list[str]]:
    """The objects that keep objects of a kind from being ready or gone, by name: a line for each, in its own words.

    A VM is kept by DataVolumes, claims, its VMI and its pod; a DataVolume by its claim; a DataSource by its
    DataImportCron and DataVolumes; a deleted claim by pods. The number of LISTs does not grow with the number of
    objects. Kinds that the user may not list are left out. events: of the namespace, see `listed_events`.
    """
    known = {name: item for name, item in items.items() if item is not None}
    if kind == "VirtualMachine":
        return _Blockers(session, namespace, _KINDS, events).of_vms(known)
    if kind == "DataVolume":
        found = _Blockers(session, namespace, ("PersistentVolumeClaim",), events)
        return {name: list(found.lines("PersistentVolumeClaim", name)) for name in known}
    if kind == "DataSource":
        found = _Blockers(session, namespace, ("DataImportCron", "DataVolume"), events)
        return {name: list(found.of_data_source(name, item)) for name, item in known.items()}
    if kind == "PersistentVolumeClaim":
        held = [name for name, item in known.items() if PVC_PROTECTION in (metadata_of(item).get("finalizers") or ())]
        return _users_of(session, namespace, held) if held else {}
    return {}


def _users_of(session: Session, namespace: str, claims: Iterable[str]) -> dict[str, list[str]]:
    """A line for each pod that uses a claim, by claim."""
    found: dict[str, list[str]] = {claim: [] for claim in claims}
    for pod in _listed(session, POD, namespace).values():
        volumes = (pod.get("spec") or {}).get("volumes") or ()
        for claim in {(volume.get("persistentVolumeClaim") or {}).get("claimName") for volume in volumes}:
            if claim in found and (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed"):
                found[claim].append(f"pod {name_of(pod)}: uses the claim")
    return found


class _Blockers:
    """The objects of a namespace that may keep others from being ready, and the warnings about them."""

    def __init__(self, session: Session, namespace: str, kinds: Iterable[str], events: Iterable[Manifest]) -> None:
        self._session, self._namespace = session, namespace
        self._live = {kind: _listed(session, KINDS[kind], namespace) for kind in kinds}
        # The newest event about each object, and about the pods of each VM.
        self._warned: dict[tuple[str, str], Manifest] = {}
        self._pods_warned: dict[str, Manifest] = {}
        for event in events:
            about = event.get("involvedObject") or {}
            if event.get("type") == "Warning":
                key = str(about.get("kind")), str(about.get("name"))
                self._warned[key] = event
                if key[0] == "Pod":
                    self._pods_warned.update(dict.fromkeys(_names_of(event), event))

    def of_vms(self, vms: Mapping[str, Manifest]) -> dict[str, list[str]]:
        pods: dict[str, list[Manifest]] = {}
        for pod in _listed(self._session, POD, self._namespace, labelSelector=_LAUNCHER_LABEL).values():
            pods.setdefault((pod["metadata"].get("labels") or {}).get(_VM_LABEL, ""), []).append(pod)
        owned: dict[str, list[str]] = {}
        for name, volume in self._live["DataVolume"].items():
            owned.setdefault(sole_owner(volume), []).append(name)
        return {
            name: list(self._of_vm(name, vm, owned.get(str(metadata_of(vm).get("uid")), ()), pods.get(name, ())))
            for name, vm in vms.items()
        }

    def _of_vm(self, name: str, vm: Manifest, owned: Iterable[str], pods: Iterable[Manifest]) -> Iterator[str]:
        for volume in dict.fromkeys((*claim_names(vm), *owned)):
            kind = "DataVolume" if volume in self._live["DataVolume"] else "PersistentVolumeClaim"
            yield from self.lines(kind, volume)
        yield from self.lines("VirtualMachineInstance", name)
        for pod in pods:
            yield from self._lines("pod", pod)
        gone = self._pods_warned.get(name)
        if gone is not None and not pods and _is_of(gone, vm):
            yield f"pod {gone['involvedObject']['name']}: {_event_text(gone)}"

    def of_data_source(self, name: str, source: Manifest) -> Iterator[str]:
        volumes = [value_at(source, ("spec", "source", "pvc", "name"))]
        for cron in self._live["DataImportCron"].values():
            if value_at(cron, ("spec", "managedDataSource")) == name:
                yield from self._lines("DataImportCron", cron)
                imports = (cron.get("status") or {}).get("currentImports") or ()
                volumes += [item.get("DataVolumeName") for item in imports]
        for volume in dict.fromkeys(filter(None, volumes)):
            yield from self.lines("DataVolume", str(volume))

    def lines(self, kind: str, name: str) -> Iterator[str]:
        item = self._live[kind].get(name)
        if item is not None:
            yield from self._lines(kind, item)

    def _lines(self, kind: str, item: Manifest) -> Iterator[str]:
        """`DataVolume web-boot: ImportInProgress 35.2%: why`; nothing if the object is ready."""
        name, status = item["metadata"]["name"], item.get("status") or {}
        phase = str(status.get("phase") or "")
        deleted = item["metadata"].get("deletionTimestamp")
        if deleted and phase != "Failed":
            yield f"{kind} {name}: {', and '.join(['is being deleted', *holders(item)])}"
        if deleted or phase in _DONE_PHASES:
            return
        progress = str(status.get("progress") or "")
        said = phase if progress in ("", "N/A") else f"{phase} {progress}"
        abouts = {"DataVolume": ("DataVolume", "PersistentVolumeClaim"), "pod": ("Pod",)}.get(kind, (kind,))
        events = (self._warned.get((about, name)) for about in abouts)
        warnings = (_event_text(event) for event in events if event is not None and _is_of(event, item))
        reasons: list[str] = []
        for words in (_container(status), _false_condition(status, _CONDITIONS.get(kind, ())), *warnings):
            # Events mostly repeat what a condition or a container says.
            message = words.partition(": ")[2] or words
            if words and not any(message in told or told in words for told in reasons):
                reasons.append(words)
        yield f"{kind} {name}: {': '.join(filter(None, [said, ', '.join(reasons)])) or 'without a phase'}"


def _false_condition(status: Manifest, names: tuple[str, ...]) -> str:
    """The message of the first of these conditions that is false."""
    by_type = {condition.get("type"): condition for condition in status.get("conditions") or []}
    for name in names:
        condition = by_type.get(name) or {}
        says_why = condition.get("reason") not in NO_REASONS and (condition.get("message") or condition.get("reason"))
        if condition.get("status") == "False" and says_why:
            return one_line(condition.get("message") or condition["reason"])
    return ""


def _container(status: Manifest) -> str:
    """Why a container of a pod has not started, or has failed."""
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        states = container.get("state") or {}
        ended, waits = states.get("terminated") or {}, states.get("waiting") or {}
        state = ended if ended.get("exitCode") else waits
        if state.get("reason"):
            return one_line(f"{state['reason']}: {state['message']}" if state.get("message") else state["reason"])
    return ""


def _listed(session: Session, kind: Kind, namespace: str, **query: str) -> dict[str, Manifest]:
    return {
        item["metadata"]["name"]: item for item in value_or_default(lambda: session.list(kind, namespace, **query), [])
    }


def listed_events(session: Session, namespace: str) -> list[Manifest]:
    """The events of a namespace, the newest last; [] if the user may not list them or the request fails."""
    return sorted(value_or_default(lambda: session.list(EVENT, namespace), []), key=last_seen)


def absent_objects(session: Session, namespace: str, items: Mapping[str, Manifest | None]) -> dict[str, str]:
    """The newest event about the pod or a disk of each of these VMs that says that an object does not exist: a Secret,
    a ConfigMap, a network or a StorageClass. One LIST; empty if the user may not list events.

    items: VMs or DataVolumes by name; None for one that does not exist.
    """
    owners = {claim: name for name, item in items.items() if item is not None for claim in _claims_of(item)}
    newest: dict[tuple[str, str, str], Manifest] = {}
    for event in listed_events(session, namespace):
        about = event.get("involvedObject") or {}
        subject = str(about.get("name"))
        if about.get("kind") == "Pod":
            vms = [name for name in _names_of(event) if name in items and not _is_volume(items[name])]
            newest.update({("Pod", name, ""): event for name in vms if _is_of(event, items[name])})
        elif about.get("kind") in _CLAIMS and subject in owners and _is_of(event, items[owners[subject]]):
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


def newest_events(events: Iterable[Manifest], items: Mapping[str, Manifest | None]) -> dict[str, list[str]]:
    """The newest events about these VMs and their VMIs, pods, DataVolumes and claims, the newest last.

    events: see `listed_events`. items: the objects by name; None for one that does not exist.
    """
    by_name: dict[str, list[Manifest]] = {name: [] for name in items}
    for event in events:
        for name in _names_of(event):
            if name in by_name and _is_of(event, items[name]):
                by_name[name].append(event)
    return {name: [_event_text(event) for event in about[-_SHOWN:]] for name, about in by_name.items() if about}


def _is_of(event: Manifest, item: Manifest | None) -> bool:
    """Whether an event is not older than an object, so that it is not about an earlier one of its name."""
    made, created = created_at(event), created_at(item or {})
    return not (made and created) or made >= created


def _names_of(event: Manifest) -> Iterator[str]:
    """The names that the VM of an event may have."""
    about = event.get("involvedObject") or {}
    name = str(about.get("name", ""))
    yield name
    if about.get("kind") == "Pod" and name.startswith(_POD_PREFIX):
        yield name[len(_POD_PREFIX) :].rpartition("-")[0]


def _event_text(event: Manifest) -> str:
    return f"{event.get('reason', '')}: {one_line(event.get('message'))}"
