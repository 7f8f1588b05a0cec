"""Compares the desired with the live state: what to write, and what it changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ..api import managed_fields as ownership
from ..api import schema
from ..api.errors import field_conflict
from ..api.managed_fields import Field
from ..api.tree import copy
from .take_over import TakeOver, holders, nobody

NONE = "none"
CREATE = "create"
APPLY = "apply"
DELETE = "delete"
# A declared run strategy is taken back from this manager, which owns it after a start or stop.
TAKEN_BACK: Final = ("virt-api", ("spec", "runStrategy"))
_POD: Final = ("spec", "template", "spec")
# The object differs from its declaration and is left alone on purpose.
KEEP = "keep"
WRITES = (CREATE, APPLY, DELETE)


class Plan(NamedTuple):
    """action: NONE, CREATE, APPLY or DELETE. manifest: to apply, or the name of the object to delete.
    before, after: the changed part of the object; {} if there is none.
    first: values to set by a merge patch before the apply; None removes the field.
    kept: fields that are no longer declared but stay, with the other managers that own them.
    conflict: why the API server will reject the apply, as far as values and owners show, or None.
    refusal: why the plan cannot be carried out, or None.
    taken: managers whose share of the fields is taken over before the apply. fields: these fields with their declared
    values; None for a field that is no longer declared.
    """

    action: str
    manifest: dict[str, Any]
    before: dict[str, Any]
    after: dict[str, Any]
    first: Mapping[Field, Any] = MappingProxyType({})
    kept: tuple[tuple[Field, tuple[str, ...]], ...] = ()
    conflict: str | None = None
    refusal: str | None = None
    taken: tuple[str, ...] = ()
    fields: Mapping[Field, Any] = MappingProxyType({})


def present(
    manifest: dict[str, Any],
    live: dict[str, Any] | None,
    owner: set[Field] | None,
    manager: str = "",
    force: bool = False,
    take_over: TakeOver = nobody,
) -> Plan:
    """The plan that brings an object to its declared state.

    manifest: from schema.declared. live: as the API server returned it, or None. owner: the fields that our field
    manager owns (ownership.owned), or None if it never applied the object. manager: our field manager.
    force: remove undeclared fields even if other managers own them. take_over: whether to take over a manager's share.
    An object is unchanged if every declared field has its value and our manager owns exactly these fields.
    """
    if live is None:
        return Plan(CREATE, manifest, {}, _body(manifest))
    desired = ownership.declared(manifest)
    # Most objects of a large task are unchanged, and equal as they are.
    changed = {field for field, value in desired.items() if ownership.lookup(live, field) != value}
    current = live
    if changed:
        type_name = schema.type_of(manifest)
        wanted, current = (schema.canonical(type_name, _parts(one, changed)) for one in (manifest, live))
        changed = {field for field in changed if not _same(field, desired[field], wanted, current, live)}
    dropped = ownership.undeclared(owner or set(), desired)
    fields = {**desired, **dict.fromkeys(dropped)}
    gained = holders(live, fields, manager, take_over)
    if not (changed or dropped or gained or owner is None or ownership.unclaimed(owner, desired)):
        return Plan(NONE, manifest, {}, {})
    others = [entry for entry in ownership.others(live, manager) if entry[0] not in gained]
    shared = {field: names for field in dropped if (names := ownership.owners(others, field))}
    # An apply does not remove what another type of request has written.
    patched = {field for field in dropped if ownership.owners([(manager, ownership.updated(live, manager))], field)}
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for field in sorted(changed):
        _put(before, field, _current(current, live, field))
        _put(after, field, desired[field])
    gone = dropped if force else dropped - set(shared)
    for field in sorted(gone):
        _put(before, field, _current(current, live, field))
    taken = {_whole(field, gone, desired, live) for field in (*(patched & gone), *(shared if force else ()))}
    out = {*_emptied(desired, gone, live), *taken}
    # The object must be valid after the patch: interfaces must not go without their networks.
    if any(field[: len(_POD)] == _POD for field in out):
        out |= {_whole(field, gone, desired, live) for field in gone if field[: len(_POD)] == _POD}
        out = {field for field in out if not any(field[:length] in out for length in range(1, len(field)))}
    kept = () if force else tuple(sorted(shared.items()))
    conflict = None if force else _conflict(changed, others)
    return Plan(
        APPLY,
        manifest,
        before,
        after,
        dict.fromkeys(sorted(out)),
        kept,
        conflict,
        taken=gained,
        fields=fields if gained else MappingProxyType({}),
    )


def _parts(manifest: dict[str, Any], fields: Iterable[Field]) -> dict[str, Any]:
    """The parts of an object, such as its spec, in which the fields are."""
    return {part: manifest[part] for part in {field[0] for field in fields} if part in manifest}


def _conflict(changed: Iterable[Field], others: Iterable[tuple[str, set[Field]]]) -> str | None:
    """The conflict of changed fields that other managers own, in the API server's words."""
    found: dict[str, list[str]] = {}
    for manager, fields in others:
        for field in changed:
            # The declared value may contain a part of theirs; only the server knows whether that conflicts.
            theirs = any(own[: len(field)] == field for own in fields)
            if theirs and (manager, field) != TAKEN_BACK:
                found.setdefault(manager, []).append(".".join(field))
    return field_conflict(found) if found else None


def absent(manifest: dict[str, Any], live: dict[str, Any] | None) -> Plan:
    """The plan to delete an object."""
    if live is None:
        return Plan(NONE, manifest, {}, {})
    return Plan(DELETE, manifest, _body(live), {})


def _emptied(desired: dict[Field, Any], dropped: set[Field], live: dict[str, Any]) -> tuple[Field, ...]:
    """Dropped fields that are the whole contents of an object that stays declared as empty.

    Server-side apply would set the object to null (`devices: null`), which KubeVirt's schema rejects.
    """
    found: list[Field] = []
    for parent, value in desired.items():
        inside = ownership.lookup(live, parent) if value == {} else None
        if inside:
            children = [(*parent, *rest) for rest, _value in ownership.leaves(inside)]
            if all(any(child[: len(field)] == field for field in dropped) for child in children):
                found += [(*parent, key) for key in inside]
    return tuple(found)


def _whole(field: Field, dropped: set[Field], desired: dict[Field, Any], live: dict[str, Any]) -> Field:
    """A dropped field, or the largest parent that would become empty."""
    while len(field) > 1:
        parent = field[:-1]
        children = [(*parent, *rest) for rest, _value in ownership.leaves(ownership.lookup(live, parent))]
        gone = all(any(child[: len(other)] == other for other in dropped) for child in children)
        if not gone or any(other[: len(parent)] == parent for other in desired):
            break
        field = parent
    return field


def _same(field: Field, value: Any, wanted: dict[str, Any], current: dict[str, Any], live: dict[str, Any]) -> bool:
    """Whether a field has its declared value. wanted, current: the canonical forms of both objects."""
    meant = ownership.lookup(wanted, field)
    if meant is None:
        # Unknown to the schema: a field of a newer KubeVirt.
        return bool(ownership.lookup(live, field) == value)
    found = ownership.lookup(current, field)
    # An empty object declares only its presence; others may own its contents.
    return isinstance(found, dict) if meant == {} else bool(found == meant)


def _current(current: dict[str, Any], live: dict[str, Any], field: Field) -> Any:
    """A field's live value; canonical if the schema knows the field."""
    value = ownership.lookup(current, field)
    return value if value is not None else ownership.lookup(live, field)


def _body(manifest: dict[str, Any]) -> dict[str, Any]:
    """The parts of an object that users want to see."""
    metadata = {key: manifest["metadata"][key] for key in ("labels", "annotations") if manifest["metadata"].get(key)}
    body = {"metadata": metadata} if metadata else {}
    return {**body, "spec": manifest["spec"]} if "spec" in manifest else body


def _put(target: dict[str, Any], field: Field, value: Any) -> None:
    if value is None:
        return
    for key in field[:-1]:
        target = target.setdefault(key, {})
    target[field[-1]] = value


def merged(step: Plan, live: dict[str, Any] | None) -> dict[str, Any]:
    """The object after the plan, before admission; without managed fields. It may share parts with the live object."""
    if live is None:
        return step.manifest
    removed = ownership.declared(step.before)
    touched = {field[0] for field in (*removed, *step.first)} | step.after.keys()
    result = {**live, "metadata": {key: value for key, value in live["metadata"].items() if key != "managedFields"}}
    for part in touched & result.keys():
        result[part] = copy(result[part])
    for field in removed:
        ownership.take(result, field)
    for field, value in step.first.items():
        if value is None:
            ownership.take(result, field)
        else:
            ownership.put(result, field, value)
    for field, value in ownership.declared(step.manifest).items() if touched else ():
        if field[0] in touched:
            ownership.put(result, field, value)
    return result
