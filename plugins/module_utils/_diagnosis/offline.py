"""Diagnoses from the objects of a cluster, without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from .._resolver.api.kinds import KINDS
from .._resolver.api.manifest import Manifest, namespace_of, namespaced_name
from .._resolver.guest.effect import ASSUMED
from .._resolver.kubevirt.config.cluster import Cluster, KubeVirt
from .._resolver.kubevirt.find.lookup import Objects
from .._resolver.kubevirt.vm.readiness import has_guest
from .._resolver.refresh.drift import drift
from .case import EVENT, KINDS_READ, LEASE, NODE, POD, VMI, Fleet, NodeReasons, last_seen
from .chain import diagnose

Result = dict[str, Any]

_VM = "VirtualMachine"


def flattened(manifests: Iterable[Manifest]) -> Iterator[Manifest]:
    """The objects, those of lists among them."""
    for manifest in manifests:
        items = manifest.get("items")
        if isinstance(items, list) and str(manifest.get("kind", "")).endswith("List"):
            kind = str(manifest["kind"])[: -len("List")]
            yield from flattened({"kind": kind, **item} if kind else item for item in items)
        elif isinstance(manifest.get("metadata"), dict) and manifest["metadata"].get("name"):
            yield manifest


def diagnoses(
    manifests: Iterable[Manifest], kubevirt: KubeVirt, at: str = "", node_reasons: NodeReasons | None = None
) -> list[Result]:
    """{namespace, name, diagnosis} of each VM among the objects of a cluster, in order; see `chain.diagnose`.

    manifests: as `kubectl get -o yaml` prints them, lists too. A kind of which there is none counts as unread. at: the
    time when they were read; by default the newest time in them.
    """
    by_kind: dict[str, list[Manifest]] = defaultdict(list)
    for item in flattened(manifests):
        by_kind[str(item.get("kind"))].append(item)
    objects = {kind: by_kind[kind] for kind in KINDS_READ if by_kind[kind]}
    vmis = {namespaced_name(item): item for item in by_kind[VMI]}
    cluster = Cluster(Objects(item for items in by_kind.values() for item in items), kubevirt)

    def lister(kind: str, namespace: str) -> list[Manifest]:
        return [item for item in by_kind[kind] if not KINDS[kind].namespaced or namespace_of(item) == namespace]

    fleet = Fleet(objects, at or newest(objects), lister, node_reasons)
    results = []
    for vm in sorted(by_kind[_VM], key=namespaced_name):
        vmi = vmis.get(namespaced_name(vm))
        instance = ASSUMED if vmi is None and VMI not in objects and has_guest(vm) else vmi
        namespace, name = namespaced_name(vm)
        diagnosis = diagnose(fleet.case(drift(vm, instance, cluster), vmi))
        results.append({"namespace": namespace, "name": name, "diagnosis": diagnosis})
    return results


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
