"""The effect of deploying a catalog on what is deployed, and on the VMs that use it; and instancetypes and preferences
before and after an upgrade of KubeVirt, of their catalog, or of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ..api import release_schema
from ..api.keys import CATALOG_LABEL
from ..api.manifest import Manifest, labels_of
from ..api.matcher import MATCHER_FIELD_OF_KIND, ObjectKey, references
from ..api.release import Release
from ..api.schema import equal
from ..api.tree import differences
from ..change.drift import Drift, drift
from ..guest.effect import MaybeVMI
from ..kubevirt.cluster import Cluster
from ..kubevirt.instancetype.lookup import Lookup
from .lost_fields import guest_differences


def no_longer_declared(live: Iterable[Manifest], declared: Iterable[ObjectKey], catalog: str) -> list[Manifest]:
    """The live objects with the catalog's label that are no longer declared."""
    declared_keys = set(declared)
    return [
        manifest
        for manifest in live
        if labels_of(manifest).get(CATALOG_LABEL) == catalog and ObjectKey.of(manifest) not in declared_keys
    ]


class PlannedLookup:
    """A find.Lookup of the cluster after the deployment.

    after: key → manifest, None for a removed object.
    """

    def __init__(self, after: Mapping[ObjectKey, Manifest | None], current: Lookup) -> None:
        self._after = after
        self._current = current

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        """See find.Lookup."""
        object_key = ObjectKey(kind, namespace, name)
        return self._after[object_key] if object_key in self._after else self._current.get(kind, namespace, name)


def affected(
    vms: Iterable[tuple[Manifest, MaybeVMI]], after: Mapping[ObjectKey, Manifest | None], current: Cluster
) -> list[tuple[Manifest, list[ObjectKey], Drift]]:
    """The VMs that refer to objects in `after`: each VM, these objects, and its drift after the deployment.

    vms: VMs and their VMIs, see `guest.effect`.
    """
    planned = Cluster(PlannedLookup(after, current.objects), current.kubevirt)
    result = []
    for vm, vmi in vms:
        used = [object_key for object_key in references(vm) if object_key in after]
        if used:
            result.append((vm, used, drift(vm, vmi, planned)))
    return result


UNCHANGED: Final = "unchanged"
NEW: Final = "new"
CHANGED: Final = "changed"
REMOVED: Final = "gone"


class ObjectChange(NamedTuple):
    """A change of an object of the cluster, or of the new catalog, by an upgrade.

    status: UNCHANGED, NEW, CHANGED or REMOVED. changes: the changed fields of its spec. lost: its fields that the new
    API drops.
    effects: the fields of a plain VM with it that differ by the release alone. Both lists have {field, before, after}.
    """

    object_key: ObjectKey
    status: str
    changes: tuple[dict[str, Any], ...] = ()
    lost: tuple[str, ...] = ()
    effects: tuple[dict[str, Any], ...] = ()

    @property
    def affected(self) -> bool:
        """Whether the upgrade makes a difference to the object."""
        return self.status != UNCHANGED or bool(self.lost or self.effects)


def deployed(live: Iterable[Manifest], catalog: Iterable[Manifest]) -> dict[ObjectKey, Manifest | None]:
    """Maps each object to its successor in the new catalog, or to None if the catalog no longer has it.

    The deployment removes objects with the catalog label of any object that the new version replaces.
    """
    live = list(live)
    after: dict[ObjectKey, Manifest | None] = {ObjectKey.of(manifest): manifest for manifest in catalog}
    labels = {labels_of(manifest).get(CATALOG_LABEL) for manifest in live if ObjectKey.of(manifest) in after}
    for label in sorted(name for name in labels if name):
        after.update({ObjectKey.of(manifest): None for manifest in no_longer_declared(live, list(after), label)})
    return after


def objects(
    live: Iterable[Manifest], replaced: Mapping[ObjectKey, Manifest | None], before: Release, after: Release
) -> list[ObjectChange]:
    """All objects in order. live: the objects of the cluster. after: see `deployed`."""
    live_by_key = {ObjectKey.of(manifest): manifest for manifest in live}
    desired = {**live_by_key, **replaced}
    return [_object_change(key, live_by_key.get(key), desired[key], before, after) for key in sorted(desired)]


def _object_change(
    object_key: ObjectKey,
    live: Manifest | None,
    desired: Manifest | None,
    release_before: Release,
    release_after: Release,
) -> ObjectChange:
    if desired is None:
        return ObjectChange(object_key, REMOVED)
    matcher_field = MATCHER_FIELD_OF_KIND[object_key.kind]
    spec = desired.get("spec") or {}
    lost_before, lost_after = (
        [field.path for field in release_schema.unknown(matcher_field.spec_type, spec, release, "spec")]
        for release in (release_before, release_after)
    )
    lost = tuple(path for path in lost_after if live is not desired or path not in lost_before)
    if live is None:
        return ObjectChange(object_key, NEW, lost=lost)
    before, after = (
        release_schema.canonical(matcher_field.spec_type, manifest.get("spec"), release)
        for manifest, release in ((live, release_before), (desired, release_after))
    )
    unchanged = live is desired or equal(matcher_field.spec_type, before, after)
    live_spec = live.get("spec") or {}
    return ObjectChange(
        object_key,
        UNCHANGED if unchanged else CHANGED,
        tuple(() if unchanged else differences(before, after)),
        lost,
        guest_differences(matcher_field, (live_spec, release_before), (live_spec, release_after)),
    )
