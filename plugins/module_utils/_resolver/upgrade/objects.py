"""Instancetypes and preferences before and after an upgrade of KubeVirt, of their catalog, or of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ..api import release_schema
from ..api.matcher import ROLE_OF_KIND
from ..api.release import Release
from ..api.semantic import equal
from ..api.tree import differences
from ..catalog.labels import CATALOG_LABEL
from ..catalog.lost_fields import shown
from ..catalog.place import Place, place_of
from ..catalog.upgrade import gone

Manifest = dict[str, Any]

KEPT: Final = "kept"
NEW: Final = "new"
CHANGED: Final = "changed"
GONE: Final = "gone"


class Held(NamedTuple):
    """An object of the cluster, or of the new catalog.

    becomes: KEPT, NEW, CHANGED or GONE. changes: of its spec. lost: its fields that the new API drops.
    effects: what of a plain VM with it is different by the release alone. Both lists have {field, before, after}.
    """

    place: Place
    becomes: str
    changes: tuple[dict[str, Any], ...] = ()
    lost: tuple[str, ...] = ()
    effects: tuple[dict[str, Any], ...] = ()

    @property
    def concerned(self) -> bool:
        """Whether the upgrade makes a difference to the object."""
        return self.becomes != KEPT or bool(self.lost or self.effects)


def deployed(live: Iterable[Manifest], catalog: Iterable[Manifest]) -> dict[Place, Manifest | None]:
    """What the new catalog puts in the place of objects; None for those that it no longer has.

    The objects are gone that carry the label of the same catalog as one of those that the new version replaces.
    """
    live = list(live)
    after: dict[Place, Manifest | None] = {place_of(one): one for one in catalog}
    labels = {(one["metadata"].get("labels") or {}).get(CATALOG_LABEL) for one in live if place_of(one) in after}
    for label in sorted(name for name in labels if name):
        after.update({place_of(one): None for one in gone(live, list(after), label)})
    return after


def objects(live: Iterable[Manifest], after: Mapping[Place, Manifest | None], old: Release, new: Release) -> list[Held]:
    """All objects in order. live: those of the cluster. after: see `deployed`."""
    now = {place_of(one): one for one in live}
    return [
        _held(place, now.get(place), after.get(place, now.get(place)), old, new) for place in sorted({*now, *after})
    ]


def _held(place: Place, now: Manifest | None, then: Manifest | None, old: Release, new: Release) -> Held:
    if then is None:
        return Held(place, GONE)
    role = ROLE_OF_KIND[place.kind]
    spec = then.get("spec") or {}
    known = {path for path, _value in release_schema.unknown(role.spec_type, spec, old, "spec")} if now is then else ()
    dropped = [path for path, _value in release_schema.unknown(role.spec_type, spec, new, "spec")]
    lost = tuple(path for path in dropped if path not in known)
    if now is None:
        return Held(place, NEW, lost=lost)
    before, after = (
        release_schema.canonical(role.spec_type, one.get("spec"), release) for one, release in ((now, old), (then, new))
    )
    same = now is then or equal(role.spec_type, before, after)
    was, will = shown(role, now.get("spec") or {}, old), shown(role, now.get("spec") or {}, new)
    effects = differences(was, will) if was is not None and will is not None else []
    return Held(
        place, KEPT if same else CHANGED, tuple(() if same else differences(before, after)), lost, tuple(effects)
    )
