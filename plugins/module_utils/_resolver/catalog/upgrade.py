"""The effect of deploying a catalog, or one of its objects, on what is deployed, and on the VMs that use it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..api import managed_fields as ownership
from ..api import schema
from ..api.matcher import ROLE_OF_KIND
from ..api.tree import copy, differences
from ..kubevirt.find.lookup import Lookup, Problem
from ..kubevirt.vmi.cluster import Cluster
from ..refresh.drift import Drift, drift
from .labels import CATALOG_LABEL
from .place import Place, place_of, references

Manifest = dict[str, Any]


def predicted(manifest: Manifest, live: Manifest | None, owner: set[ownership.Field] | None) -> Manifest:
    """The canonical spec after the manifest is applied to the live object.

    owner: the fields of the live object that our field manager owns; those that are no longer declared go, others stay.
    """
    role = ROLE_OF_KIND[manifest["kind"]]
    result = {"spec": copy((live or {}).get("spec") or {})}
    for field in ownership.undeclared(owner or set(), ownership.declared(manifest)):
        ownership.take(result, field)
    for field, value in ownership.leaves({"spec": manifest.get("spec") or {}}):
        ownership.put(result, field, value)
    return schema.canonical(role.spec_type, result["spec"])


def changes(live: Manifest, spec: Manifest) -> list[dict[str, Any]]:
    """[{field, before, after}] between a live object's spec and a canonical spec."""
    role = ROLE_OF_KIND[live["kind"]]
    return differences(schema.canonical(role.spec_type, live.get("spec")), spec)


def gone(live: Iterable[Manifest], wanted: Iterable[Place], catalog: str) -> list[Manifest]:
    """The live objects with the catalog's label that are no longer wanted."""
    kept = set(wanted)
    return [
        one
        for one in live
        if (one["metadata"].get("labels") or {}).get(CATALOG_LABEL) == catalog and place_of(one) not in kept
    ]


class Planned:
    """A find.Lookup of the cluster after the deployment.

    after: place → manifest, None for a removed object. now: the current cluster.
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
    """The VMs that refer to objects in `after`: each VM, these objects, and its drift after the deployment."""
    planned = Planned(after, now.objects)
    found = []
    for vm in vms:
        used = [place for place in references(vm) if place in after]
        if used:
            found.append((vm, used, drift(vm, planned, now.kubevirt)))
    return found
