"""The effect of deploying a catalog on its deployed objects, and on the VMs that use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..instancetype.find.lookup import Lookup, Problem
from ..instancetype.vmi.cluster import Cluster
from ..refresh.drift import Drift, drift
from .labels import CATALOG_LABEL
from .place import Place, place_of, references

Manifest = dict[str, Any]


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
