"""Checks the replacements of deprecated and obsolete objects: their problems, and the changes that they bring."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from .._resolver.api.manifest import Manifest
from .._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, PREFERENCE, ObjectKey
from .._resolver.api.name_rules import first_names
from .._resolver.api.release import NEWEST, Release
from .._resolver.api.state import ACTIVE, State, state_of
from .._resolver.catalog.lost_fields import guest_differences
from .._resolver.choose.fitting import rejection_of_pair

_NAMED = 5


class Replacement(NamedTuple):
    """A deprecated or obsolete object and its replacement.

    object: its manifest. state: the state of the object. problems: errors of the replacement, one line each.
    changes: the changed fields of the VMI spec of a VM that moves to it, [{field, before, after}].
    """

    object: Manifest
    state: State
    problems: tuple[str, ...] = ()
    changes: tuple[dict[str, Any], ...] = ()


def replacements(
    objects: Iterable[Manifest], others: Iterable[Manifest] = (), release: Release = NEWEST
) -> list[Replacement]:
    """The objects that are not active, in order, with a judgement of their replacements.

    others: further objects that may be replacements.
    """
    objects = list(objects)
    by_key = {ObjectKey.of(manifest): manifest for manifest in (*others, *objects)}
    return [
        replacement(manifest, by_key.get(_replacement_key(manifest)), _counterparts(manifest, objects), release)
        for manifest in objects
        if state_of(manifest).name != ACTIVE
    ]


def as_facts(replacement: Replacement) -> dict[str, Any]:
    """{kind, namespace, name, state, replacement, obsolete_from, problems, changes}."""
    return {
        **ObjectKey.of(replacement.object)._asdict(),
        "state": replacement.state.name,
        "replacement": replacement.state.replacement,
        "obsolete_from": replacement.state.obsolete_from,
        "problems": list(replacement.problems),
        "changes": list(replacement.changes),
    }


def unknown_replacements(objects: Iterable[Manifest]) -> list[ObjectKey]:
    """The replacements that are not among the objects."""
    objects = list(objects)
    keys = {ObjectKey.of(manifest) for manifest in objects}
    named = {_replacement_key(manifest): None for manifest in objects if state_of(manifest).replacement}
    return [key for key in named if key not in keys]


def replacement(
    manifest: Manifest, successor: Manifest | None, counterparts: Iterable[Manifest], release: Release = NEWEST
) -> Replacement:
    """The judgement of one object that is not active.

    successor: the object that its replacement names; None if there is none. counterparts: the preferences with which an
    instancetype, or the instancetypes with which a preference, may be used.
    """
    state, name = state_of(manifest), manifest["metadata"]["name"]
    if not state.replacement:
        return Replacement(manifest, state)
    where = f"the replacement {state.replacement}"
    if state.replacement == name:
        return Replacement(manifest, state, ("an object cannot replace itself; name another object",))
    if successor is None:
        return Replacement(manifest, state, (f"{where} does not exist; add it, or name another object",))
    problems, other = [], state_of(successor)
    if other.name != ACTIVE:
        problems.append(f"{where} is itself {other.text}")
    lost = [
        str(counterpart["metadata"]["name"])
        for counterpart in counterparts
        if _pair(manifest, counterpart) and not _pair(successor, counterpart)
    ]
    if lost:
        is_instancetype = MATCHER_FIELD_OF_KIND[manifest["kind"]] is INSTANCETYPE
        others = f"{'preferences' if is_instancetype else 'instancetypes'} {first_names(lost, _NAMED)}"
        problems.append(f"{where} does not fit the {others}, which {name} fits")
    return Replacement(manifest, state, tuple(problems), _changes(manifest, successor, release))


def _changes(manifest: Manifest, successor: Manifest, release: Release) -> tuple[dict[str, Any], ...]:
    # The requirements say which instancetypes a VM may have, and change no guest.
    before, after = (
        ({field: value for field, value in (item.get("spec") or {}).items() if field != "requirements"}, release)
        for item in (manifest, successor)
    )
    return guest_differences(MATCHER_FIELD_OF_KIND[manifest["kind"]], before, after)


def _pair(obj: Manifest, counterpart: Manifest) -> bool:
    """Whether an instancetype and a preference, in either order, fit together."""
    instancetype, preference = sorted(
        (obj, counterpart), key=lambda manifest: MATCHER_FIELD_OF_KIND[manifest["kind"]] is PREFERENCE
    )
    return not rejection_of_pair(instancetype, preference, "", NEWEST)


def _counterparts(manifest: Manifest, objects: list[Manifest]) -> list[Manifest]:
    kind, namespace, _name = ObjectKey.of(manifest)
    return [
        item
        for item in objects
        if MATCHER_FIELD_OF_KIND[item["kind"]] is not MATCHER_FIELD_OF_KIND[kind]
        and (not namespace or ObjectKey.of(item).namespace in ("", namespace))
    ]


def _replacement_key(manifest: Manifest) -> ObjectKey:
    return ObjectKey.of(manifest)._replace(name=state_of(manifest).replacement)
