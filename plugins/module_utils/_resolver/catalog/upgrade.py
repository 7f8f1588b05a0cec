"""What deploying a catalog does to what is deployed of it: new, changed and gone objects, and the VMs that use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..api import managed_fields as ownership
from ..api import schema
from ..api.matcher import ROLE_OF_KIND, ROLES
from ..api.tree import copy, differences
from ..instancetype.find.lookup import Lookup, Problem
from ..instancetype.vmi.cluster import Cluster
from ..refresh.drift import Drift, drift
from .bundle import CATALOG_LABEL

__all__ = ["Place", "Planned", "affected", "changes", "gone", "place_of", "predicted", "references"]

Manifest = dict[str, Any]


class Place(NamedTuple):
    """Names an object; namespace is "" for the cluster-wide kinds."""

    kind: str
    namespace: str
    name: str


def place_of(manifest: Manifest) -> Place:
    metadata = manifest["metadata"]
    return Place(manifest["kind"], metadata.get("namespace") or "", metadata["name"])


def references(vm: Manifest) -> list[Place]:
    """The instancetype and the preference that a VM's matchers name."""
    found = []
    for role in ROLES:
        matcher = role.matcher_of(vm) or {}
        kind = role.kind_of(matcher)
        if matcher.get("name") and kind is not None:
            namespace = "" if kind == role.cluster_kind else vm["metadata"].get("namespace") or ""
            found.append(Place(kind, namespace, matcher["name"]))
    return found


def gone(live: Iterable[Manifest], wanted: Iterable[Place], catalog: str) -> list[Manifest]:
    """The live objects that are labelled as of the catalog and are wanted no more."""
    kept = set(wanted)
    return [
        one
        for one in live
        if (one["metadata"].get("labels") or {}).get(CATALOG_LABEL) == catalog and place_of(one) not in kept
    ]


def predicted(manifest: Manifest, live: Manifest | None, owner: set[ownership.Field] | None) -> Manifest:
    """The canonical spec that an object has once the manifest is applied over the live one.

    owner: the fields that our field manager owns of the live one: those that are declared no more go, others stay.
    """
    role = ROLE_OF_KIND[manifest["kind"]]
    result = {"spec": copy((live or {}).get("spec") or {})}
    for field in ownership.undeclared(owner or set(), ownership.declared(manifest)):
        ownership.take(result, field)
    for field, value in ownership.leaves({"spec": manifest.get("spec") or {}}):
        ownership.put(result, field, value)
    return schema.canonical(role.spec_type, result["spec"])


def changes(live: Manifest, spec: Manifest) -> list[dict[str, Any]]:
    """[{field, before, after}] between a live object's spec and a canonical one."""
    role = ROLE_OF_KIND[live["kind"]]
    return differences(schema.canonical(role.spec_type, live.get("spec")), spec)


class Planned:
    """A find.Lookup of a cluster as it will be.

    after: by place the manifests that will be there, None for those that will not. now: the cluster as it is.
    """

    def __init__(self, after: Mapping[Place, Manifest | None], now: Lookup) -> None:
        self._after = after
        self._now = now

    def get(self, kind: str, namespace: str, name: str) -> Manifest | Problem | None:
        """See find.Lookup."""
        place = Place(kind, namespace, name)
        return self._after[place] if place in self._after else self._now.get(kind, namespace, name)


def affected(
    vms: Iterable[Manifest], after: Mapping[Place, Manifest | None], now: Cluster
) -> list[tuple[Manifest, list[Place], Drift]]:
    """The VMs that refer to one of the objects in `after`, with these, and what a refresh will then do to each."""
    planned = Planned(after, now.objects)
    found = []
    for vm in vms:
        used = [place for place in references(vm) if place in after]
        if used:
            found.append((vm, used, drift(vm, planned, now.kubevirt)))
    return found
