"""The effect of deploying a catalog, or one of its objects, on what is deployed, and on the VMs that use it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..api import managed_fields as ownership
from ..api import schema
from ..api.matcher import ROLE_OF_KIND, ObjectKey, key_of, references
from ..api.tree import copy, differences
from ..kubevirt.find.lookup import Lookup, Problem
from ..kubevirt.vmi.cluster import Cluster
from ..refresh.drift import Drift, drift
from .labels import CATALOG_LABEL, labels_of

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


def obsolete(live: Iterable[Manifest], declared: Iterable[ObjectKey], catalog: str) -> list[Manifest]:
    """The live objects with the catalog's label that are no longer declared."""
    declared_keys = set(declared)
    return [
        manifest
        for manifest in live
        if labels_of(manifest).get(CATALOG_LABEL) == catalog and key_of(manifest) not in declared_keys
    ]


class PlannedLookup:
    """A find.Lookup of the cluster after the deployment.

    after: key → manifest, None for a removed object. now: the current cluster.
    """

    def __init__(self, after: Mapping[ObjectKey, Manifest | None], current: Lookup) -> None:
        self._after = after
        self._current = current

    def get(self, kind: str, namespace: str, name: str) -> Manifest | Problem | None:
        """See find.Lookup."""
        object_key = ObjectKey(kind, namespace, name)
        return self._after[object_key] if object_key in self._after else self._current.get(kind, namespace, name)


def affected(
    vms: Iterable[Manifest], after: Mapping[ObjectKey, Manifest | None], current: Cluster
) -> list[tuple[Manifest, list[ObjectKey], Drift]]:
    """The VMs that refer to objects in `after`: each VM, these objects, and its drift after the deployment."""
    planned = PlannedLookup(after, current.objects)
    result = []
    for vm in vms:
        used = [object_key for object_key in references(vm) if object_key in after]
        if used:
            result.append((vm, used, drift(vm, planned, current.kubevirt)))
    return result
