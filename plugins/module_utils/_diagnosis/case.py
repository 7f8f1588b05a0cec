"""The objects and events of one VM, and the fleet that they are taken from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from .._resolver.api.kinds import KINDS, Kind
from .._resolver.api.manifest import Manifest, last_seen, name_of, namespace_of, namespaced_name
from .._resolver.change.drift import Drift
from .._resolver.choose.suggestions import Lister
from .._resolver.kubevirt.vm.readiness import HALTED, RUNNING, run_strategy
from .._resolver.preflight.references import claim_names
from .ages import age

NodeReasons = Callable[[Sequence[Manifest], Sequence[Manifest]], Callable[[Manifest], list[dict[str, Any]]]]
"""(nodes, pods) → a function: pod → what keeps it off the nodes, [{reasons, node_count, nodes}]."""

VIRTUAL_MACHINE: Final = "VirtualMachine"
VMI: Final = "VirtualMachineInstance"
MIGRATION: Final = "VirtualMachineInstanceMigration"
POD: Final = "Pod"
CLAIM: Final = "PersistentVolumeClaim"
DATA_VOLUME: Final = "DataVolume"
STORAGE_CLASS: Final = "StorageClass"
QUOTA: Final = "ResourceQuota"
NODE: Final = "Node"
EVENT: Final = "Event"
LEASE: Final = "Lease"
REVISION: Final = "ControllerRevision"
KINDS_READ: Final[dict[str, Kind]] = {
    **{kind: KINDS[kind] for kind in (VMI, CLAIM, DATA_VOLUME, STORAGE_CLASS, NODE)},
    MIGRATION: Kind(MIGRATION, "kubevirt.io", "v1", "virtualmachineinstancemigrations", True),
    POD: Kind(POD, "", "v1", "pods", True),
    EVENT: Kind(EVENT, "", "v1", "events", True),
    QUOTA: Kind(QUOTA, "", "v1", "resourcequotas", True),
    LEASE: Kind(LEASE, "coordination.k8s.io", "v1", "leases", True),
}
"""The kinds of a case, beside the VM and what it refers to."""

_LAUNCHER: Final = "virt-launcher"
_CONTROLLER: Final = "virt-controller"
_STOPPED: Final = (HALTED, "Manual")
_QUOTA_HOLDS: Final = (VIRTUAL_MACHINE, VMI, DATA_VOLUME, CLAIM)
# virt-controller tries again at least this often.
_LATELY: Final = 1000.0


class Volume(NamedTuple):
    """A volume of a VM that is a claim. data_volume, claim: None if there is none."""

    name: str
    data_volume: Manifest | None
    claim: Manifest | None


class User(NamedTuple):
    """A guest or a pod that uses a claim. kind: of the VM whose guest it is, or Pod."""

    kind: str
    name: str


@dataclass(frozen=True)
class Case:
    """The objects of one VM; nothing changes them.

    drift: the VM, its VMI and its revisions. pods: the Pods of its guest, the newest first. volumes: its claims.
    migration: the newest that has not ended. known: the kinds of which all objects are known. lease: virt-controller's
    Lease. at: the time of the diagnosis. quotas: of the namespace, by name. users_of: the guests and pods that
    use a claim of the namespace, without the VM's own. held_up: the last words about each other object of the namespace
    that a quota holds up.
    """

    drift: Drift
    pods: Sequence[Manifest]
    volumes: Sequence[Volume]
    migration: Manifest | None
    nodes: Mapping[str, Manifest]
    classes: Mapping[str, Manifest]
    lease: Manifest | None
    known: frozenset[str]
    at: str
    events_of: Callable[[Manifest], Sequence[Manifest]] = field(repr=False)
    node_reasons: Callable[[Manifest], list[dict[str, Any]]] = field(repr=False)
    lister: Lister = field(repr=False)
    quotas: Mapping[str, Manifest]
    users_of: Callable[[str], Sequence[User]] = field(repr=False)
    held_up: Callable[[str], Sequence[str]] = field(repr=False)

    @property
    def vm(self) -> Manifest:
        return self.drift.vm

    @property
    def vmi(self) -> Manifest | None:
        return self.drift.known_vmi

    @property
    def is_due(self) -> bool:
        """Whether the VM is to have a guest, or has one."""
        return run_strategy(self.vm) not in _STOPPED or self.vmi is not None

    @property
    def selection(self) -> dict[str, Any]:
        """The options by which a module selects the VM."""
        return {"namespace": namespace_of(self.vm), "names": [name_of(self.vm)]}

    @property
    def declared_spec(self) -> Manifest:
        """The spec of the guest as the VM declares it."""
        spec: Manifest = self.vm["spec"]["template"].get("spec") or {}
        return spec

    @property
    def status(self) -> str:
        return str((self.vm.get("status") or {}).get("printableStatus") or "")

    @property
    def kubevirt_namespace(self) -> str:
        """The namespace of KubeVirt, as far as it is known."""
        return namespace_of(self.lease) if self.lease is not None else "kubevirt"

    @property
    def starting_pod(self) -> Manifest | None:
        """The pod in which the guest is to start; None if there is none, or the guest is in it already."""
        if self.vmi is None and self.status in RUNNING:
            return None
        phase = ((self.vmi or {}).get("status") or {}).get("phase")
        return next(iter(self.pods), None) if phase in ("", None, "Pending", "Scheduling") else None

    def event(self, manifest: Manifest, *reasons: str) -> Manifest | None:
        """The newest event about an object with one of the reasons; None without one."""
        return next((event for event in self.events_of(manifest) if event.get("reason") in reasons), None)


class Fleet:
    """The objects of many VMs, by what a case looks for."""

    def __init__(
        self,
        objects: Mapping[str, Sequence[Manifest]],
        at: str,
        lister: Lister,
        node_reasons: NodeReasons | None = None,
    ) -> None:
        """Indexes the objects.

        objects: kind → objects, for the kinds of KINDS_READ that are known.

        at: the time of the diagnosis. lister: lists instancetypes and preferences, for suggestions. node_reasons:
        without it, kube-scheduler's words suffice.
        """
        self._known = frozenset(objects)
        self._at, self._lister = at, lister
        self._nodes = _by_name(objects.get(NODE, ()))
        self._classes = _by_name(objects.get(STORAGE_CLASS, ()))
        self._claims = {namespaced_name(item): item for item in objects.get(CLAIM, ())}
        self._data_volumes = {namespaced_name(item): item for item in objects.get(DATA_VOLUME, ())}
        self._pods = _grouped(objects.get(POD, ()), _guest_of)
        self._migrations = _grouped(objects.get(MIGRATION, ()), _migrated_guest)
        self._events = _grouped(sorted(objects.get(EVENT, ()), key=last_seen), _object_of_event)
        self._lease = next((item for item in objects.get(LEASE, ()) if name_of(item) == _CONTROLLER), None)
        self._quotas = _grouped(objects.get(QUOTA, ()), namespace_of)
        self._users = _users_of_claims(objects)
        self._objects, self._make_reasons = objects, node_reasons
        self._reasons: Callable[[Manifest], list[dict[str, Any]]] | None = None

    def case(self, drift: Drift) -> Case:
        """The case of a VM."""
        namespace, name = namespaced_name(drift.vm)
        volumes = [
            Volume(claim, self._data_volumes.get((namespace, claim)), self._claims.get((namespace, claim)))
            for claim in claim_names(drift.vm)
        ]
        return Case(
            drift=drift,
            pods=self._pods.get((namespace, name), ()),
            volumes=volumes,
            migration=next(iter(self._migrations.get((namespace, name), ())), None),
            nodes=self._nodes,
            classes=self._classes,
            lease=self._lease,
            known=self._known,
            at=self._at,
            events_of=lambda item: self._events.get((item.get("kind"), *namespaced_name(item)), ()),
            node_reasons=self._node_reasons,
            lister=self._lister,
            quotas=_by_name(self._quotas.get(namespace, ())),
            held_up=lambda quota: self._held_up(namespace, quota, {name, *(volume.name for volume in volumes)}),
            users_of=lambda claim: [
                user for user in self._users.get((namespace, claim), ()) if user != (VIRTUAL_MACHINE, name)
            ],
        )

    def _held_up(self, namespace: str, quota: str, own: Container[str]) -> list[str]:
        """The last words about each object that a quota has held up lately; without the VM's own objects.

        A guest with a pod has been let in since.
        """
        words = f"exceeded quota: {quota},"
        result = []
        for (kind, place, name), events in self._events.items():
            message = str(events[0].get("message"))
            late = age(self._at, last_seen(events[0])) > _LATELY
            if kind in _QUOTA_HOLDS and place == namespace and name not in own and words in message and not late:
                result += [] if (namespace, name) in self._pods else [message]
        return result

    def _node_reasons(self, pod: Manifest) -> list[dict[str, Any]]:
        """What keeps a pod off the nodes. Their free resources are computed only if a pod waits."""
        if self._make_reasons is None or not {NODE, POD} <= self._known:
            return []
        if self._reasons is None:
            self._reasons = self._make_reasons(self._objects[NODE], self._objects[POD])
        return self._reasons(pod)


def _by_name(items: Iterable[Manifest]) -> dict[str, Manifest]:
    return {name_of(item): item for item in items}


def _grouped(items: Iterable[Manifest], key: Callable[[Manifest], Any]) -> dict[Any, list[Manifest]]:
    """The items that have a key, by key, the newest first."""
    groups: dict[Any, list[Manifest]] = defaultdict(list)
    for item in items:
        if (found := key(item)) is not None:
            groups[found].append(item)
    return {found: sorted(group, key=last_seen, reverse=True) for found, group in groups.items()}


def _guest_of(pod: Manifest) -> tuple[str, str] | None:
    """Namespace and name of the VMI of a virt-launcher pod."""
    metadata = pod["metadata"]
    if (metadata.get("labels") or {}).get("kubevirt.io") != _LAUNCHER:
        return None
    return namespace_of(pod), str((metadata.get("annotations") or {}).get("kubevirt.io/domain") or "")


def _migrated_guest(migration: Manifest) -> tuple[str, str] | None:
    """Namespace and name of the VMI of a migration that has not ended."""
    if (migration.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return None
    return namespace_of(migration), str((migration.get("spec") or {}).get("vmiName") or "")


def _users_of_claims(objects: Mapping[str, Sequence[Manifest]]) -> dict[tuple[str, str], list[User]]:
    """The users of each claim, by its namespace and name. A guest or pod that has ended, or has no node, uses none."""
    users: dict[tuple[str, str], dict[User, None]] = defaultdict(dict)
    for kind in (VMI, POD):
        for item in objects.get(kind, ()):
            spec, status = item.get("spec") or {}, item.get("status") or {}
            if status.get("phase") in ("Succeeded", "Failed") or not (status.get("nodeName") or spec.get("nodeName")):
                continue
            guest = namespaced_name(item) if kind == VMI else _guest_of(item)
            user = User(POD, name_of(item)) if guest is None else User(VIRTUAL_MACHINE, guest[1])
            for volume in spec.get("volumes") or ():
                claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
                claim = claim or (volume.get("dataVolume") or {}).get("name")
                if claim:
                    users[namespace_of(item), claim][user] = None
    return {claim: list(found) for claim, found in users.items()}


def _object_of_event(event: Manifest) -> tuple[str, str, str]:
    about = event.get("involvedObject") or {}
    return str(about.get("kind")), str(about.get("namespace") or ""), str(about.get("name"))
