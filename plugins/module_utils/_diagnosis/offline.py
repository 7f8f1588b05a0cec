"""Diagnoses from the objects of a cluster, without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from .._resolver.api.kinds import KINDS
from .._resolver.api.manifest import (
    Manifest,
    last_seen,
    list_items,
    metadata_of,
    name_of,
    namespace_of,
    namespaced_name,
)
from .._resolver.change.drift import drift
from .._resolver.guest.effect import UNREAD_VMI
from .._resolver.kubevirt.cluster import Cluster, KubeVirt
from .._resolver.kubevirt.instancetype.lookup import Objects
from .._resolver.kubevirt.vm.readiness import has_guest
from .case import EVENT, KINDS_READ, LEASE, NODE, POD, VMI, Fleet, NodeReasons
from .chain import BROKEN, diagnose
from .deletion import LINK as DELETION
from .deletion import orphan

Result = dict[str, Any]

_VM: Final = "VirtualMachine"
_KINDS: Final = {**KINDS, **KINDS_READ}
_NEW_EVENTS: Final = "events.k8s.io"


def flattened(manifests: Iterable[Manifest]) -> Iterator[Manifest]:
    """The objects, with lists replaced by their items."""
    for manifest in manifests:
        items = list_items(manifest)
        if items is None:
            yield manifest
        else:
            yield from flattened(item for item in items if isinstance(item, dict))


def diagnoses(
    objects: Iterable[Manifest], kubevirt: KubeVirt, at: str = "", node_reasons: NodeReasons | None = None
) -> list[Result]:
    """{namespace, name, diagnosis} of each VM among the objects of a cluster, in order; see `chain.diagnose`.

    objects: the objects of `kubectl get -o yaml`, without lists; of an object that is there twice, the newer one
    counts. A kind of which there is none counts as unread. at: the time when they were read; by default the newest
    time in them.
    """
    by_kind = _by_kind(objects)
    known = {kind: by_kind[kind] for kind in KINDS_READ if by_kind[kind]}
    vmis = {namespaced_name(item): item for item in by_kind[VMI]}
    cluster = Cluster(Objects(item for items in by_kind.values() for item in items), kubevirt)

    def lister(kind: str, namespace: str) -> list[Manifest]:
        return [item for item in by_kind[kind] if not KINDS[kind].namespaced or namespace_of(item) == namespace]

    fleet = Fleet(known, at or newest(known), lister, node_reasons)
    results = []
    for vm in sorted(by_kind[_VM], key=namespaced_name):
        vmi = vmis.get(namespaced_name(vm))
        instance = UNREAD_VMI if vmi is None and VMI not in known and has_guest(vm) else vmi
        namespace, name = namespaced_name(vm)
        diagnosis = diagnose(fleet.case(drift(vm, instance, cluster)))
        results.append({"namespace": namespace, "name": name, "diagnosis": diagnosis})
    results += [_orphan(vmi, fleet, cluster) for vmi in by_kind[VMI] if _is_orphan(vmi, by_kind[_VM])]
    return sorted(results, key=lambda result: (result["namespace"], result["name"]))


def _is_orphan(vmi: Manifest, vms: Sequence[Manifest]) -> bool:
    """Whether the VM that owns a VMI does not exist. Without any VM, they may not have been read."""
    owners = [owner for owner in metadata_of(vmi).get("ownerReferences") or () if owner.get("kind") == _VM]
    uids = {metadata_of(vm).get("uid") for vm in vms}
    known = bool(vms) or bool(metadata_of(vmi).get("deletionTimestamp"))
    return known and any(owner.get("uid") not in uids for owner in owners)


def _orphan(vmi: Manifest, fleet: Fleet, cluster: Cluster) -> Result:
    """The diagnosis of a VMI without its VM, which is made up from it."""
    namespace, name = namespaced_name(vmi)
    spec = {"runStrategy": "Always", "template": {"spec": vmi.get("spec") or {}}}
    vm = {"apiVersion": "kubevirt.io/v1", "kind": _VM, "metadata": {"name": name, "namespace": namespace}, "spec": spec}
    broken = orphan(fleet.case(drift(vm, vmi, cluster)))
    diagnosis = {"state": BROKEN, "link": DELETION.name, **broken.as_result(), "passed": [], "unchecked": []}
    return {"namespace": namespace, "name": name, "diagnosis": diagnosis}


def _by_kind(objects: Iterable[Manifest]) -> dict[str, list[Manifest]]:
    """The objects with a name, by kind, each once: must-gather writes pods both into a list and by themselves."""
    newest_of: dict[tuple[str, str, str], Manifest] = {}
    for item in objects:
        kind, group = str(item.get("kind")), str(item.get("apiVersion") or "").rpartition("/")[0]
        if kind == EVENT and group == _NEW_EVENTS:
            item = _core_event(item)
        elif item.get("apiVersion") and kind in _KINDS and group != _KINDS[kind].group:
            continue  # OpenShift has a Node of its own.
        key = (kind, *namespaced_name(item))
        if name_of(item) and (key not in newest_of or _version(item) >= _version(newest_of[key])):
            newest_of[key] = item
    by_kind: dict[str, list[Manifest]] = defaultdict(list)
    for (kind, _namespace, _name), item in newest_of.items():
        by_kind[kind].append(item)
    return by_kind


def _version(manifest: Manifest) -> int:
    text = str(metadata_of(manifest).get("resourceVersion") or "")
    return int(text) if text.isdecimal() else 0


def _core_event(event: Manifest) -> Manifest:
    """An event of the newer API group as the older one has it."""
    times = {"lastTimestamp": event.get("deprecatedLastTimestamp")}
    return {**event, "involvedObject": event.get("regarding"), "message": event.get("note"), **times}


def newest(objects: dict[str, list[Manifest]]) -> str:
    """The newest time in objects, that is about when they were read; "" without any."""
    times = [last_seen(event) for event in objects.get(EVENT, ())]
    times += [str((lease.get("spec") or {}).get("renewTime") or "") for lease in objects.get(LEASE, ())]
    times += [
        str(condition.get("lastHeartbeatTime") or condition.get("lastTransitionTime") or "")
        for kind in (NODE, POD, VMI)
        for item in objects.get(kind, ())
        for condition in (item.get("status") or {}).get("conditions") or ()
    ]
    return max(times, default="")
