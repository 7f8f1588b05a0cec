"""Compares the desired with the live state, and says what to write and what it changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ..api import managed_fields, schema
from ..api.managed_fields import FieldPath, TakeOver, is_inside, keep_managers
from ..api.tree import copy, leaves, remove_at, set_at, value_at

NONE = "none"
CREATE = "create"
APPLY = "apply"
DELETE = "delete"
_TEMPLATE: Final = ("spec", "template")
_POD: Final = (*_TEMPLATE, "spec")
# The object differs from its declaration and is left alone on purpose.
KEEP = "keep"
WRITES = (CREATE, APPLY, DELETE)


class Plan(NamedTuple):
    """The planned write of an object.

    action: NONE, CREATE, APPLY or DELETE. manifest: the one to apply, or the name of the object to delete.
    before, after: the changed part of the object; {} if there is none.
    merge_patch: values to set by a merge patch before the apply; None removes the field.
    retained: fields that are no longer declared but stay, with the other managers that own them.
    conflict: why the API server will reject the apply, as far as values and owners show, or None.
    refusal: why the plan cannot be carried out, or None.
    taken_from: managers whose share of the fields is taken over before the apply. fields: these fields with their
    declared values; None for a field that is no longer declared.
    """

    action: str
    manifest: dict[str, Any]
    before: dict[str, Any]
    after: dict[str, Any]
    merge_patch: Mapping[FieldPath, Any] = MappingProxyType({})
    retained: tuple[tuple[FieldPath, tuple[str, ...]], ...] = ()
    conflict: str | None = None
    refusal: str | None = None
    taken_from: tuple[str, ...] = ()
    fields: Mapping[FieldPath, Any] = MappingProxyType({})


def present(
    manifest: dict[str, Any],
    live: dict[str, Any] | None,
    owned_fields: set[FieldPath] | None,
    manager: str = "",
    force: bool = False,
    take_over: TakeOver = keep_managers,
) -> Plan:
    """The plan that brings an object to its declared state.

    manifest: the result of schema.as_declared. live: as the API server returned it, or None. owned_fields: the fields
    that our field manager owns (`managed_fields.applied_fields`), or None if it never applied the object. manager: our
    field manager.
    force: remove undeclared fields even if other managers own them. take_over: whether to take over a manager's share.
    An object is unchanged if every declared field has its value and our manager owns exactly these fields.
    """
    if live is None:
        return Plan(CREATE, manifest, {}, _visible_parts(manifest))
    desired_fields = managed_fields.leaf_fields(manifest)
    # Most objects of a large task are unchanged, and equal as they are.
    changed = {field for field, value in desired_fields.items() if value_at(live, field) != value}
    current, canonical = live, manifest
    if changed:
        type_name = schema.type_of(manifest)
        canonical, current = (schema.canonical(type_name, _parts(source, changed)) for source in (manifest, live))
        same_fields = {field for field in changed if _same(field, desired_fields[field], canonical, current)}
        changed -= same_fields
        manifest = _spelled_as_stored(manifest, live, (field for field in same_fields if desired_fields[field] != {}))
    dropped = managed_fields.undeclared(owned_fields or set(), desired_fields)
    fields = {**desired_fields, **dict.fromkeys(dropped)}
    taken_from = managers_to_take(live, fields, manager, take_over)
    same = not (changed or dropped or taken_from)
    if same and owned_fields is not None and not managed_fields.unowned_fields(owned_fields, desired_fields):
        return Plan(NONE, manifest, {}, {})
    others = [entry for entry in managed_fields.fields_of_others(live, manager) if entry[0] not in taken_from]
    shared = {field: names for field in dropped if (names := managed_fields.sharers(others, field))}
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    removed = dropped if force else dropped - set(shared)
    for field in (*sorted(changed), *sorted(removed)):
        if (value := _current(current, live, field)) is not None:
            set_at(before, field, value)
    for field in sorted(changed):
        set_at(after, field, _shown(canonical, field, desired_fields[field]))
    to_patch: set[FieldPath] = set()
    if removed:
        # An apply removes neither what others own nor what another type of request has written.
        updated = [(manager, managed_fields.updated_fields(live, manager))]
        stays = {field for field in removed if field in shared or managed_fields.owners(updated, field)}
        to_patch = _to_patch(removed, stays, desired_fields, others, live)
    retained = () if force else tuple(sorted(shared.items()))
    conflict = None if force else _conflict(changed, others, live)
    return Plan(
        APPLY,
        manifest,
        before,
        after,
        dict.fromkeys(sorted(to_patch)),
        retained,
        conflict,
        taken_from=taken_from,
        fields=fields if taken_from else MappingProxyType({}),
    )


def _to_patch(
    removed: set[FieldPath],
    stays: set[FieldPath],
    desired_fields: dict[FieldPath, Any],
    others: list[tuple[str, set[FieldPath]]],
    live: dict[str, Any],
) -> set[FieldPath]:
    """The fields that a patch must remove before the apply. stays: the removed fields that an apply would leave."""

    def largest(fields: Iterable[FieldPath]) -> set[FieldPath]:
        return {largest_removed(field, removed, desired_fields, live) for field in fields}

    to_patch = {*_emptied_parents(desired_fields, removed, live), *largest(stays)}
    # The object must be valid after the patch: interfaces must not go without their networks. And admission writes
    # templates of volumes anew with a patch, so that they would be shared, and stay without their volume.
    if any(is_inside(field, _POD) for field in to_patch):
        # Only a VM has such fields.
        from .rewrites import TEMPLATES

        to_patch |= largest(field for field in removed if is_inside(field, _POD) or is_inside(field, TEMPLATES))
        to_patch = {field for field in to_patch if not any(field[:length] in to_patch for length in range(len(field)))}
    # Only these: without its memory, a VM could not start until the apply.
    return to_patch | largest(field for field in removed if _prunes_more(field, removed, desired_fields, others, live))


def _spelled_as_stored(manifest: dict[str, Any], live: dict[str, Any], fields: Iterable[FieldPath]) -> dict[str, Any]:
    """The manifest with the live spelling of these fields, which have the declared meaning.

    Another spelling of the same value, such as `1Gi` for `1024Mi`, would be a conflict with the manager that owns it.
    """
    stored = {field: value_at(live, field) for field in fields}
    result = copy(manifest) if stored else manifest
    for field, value in stored.items():
        set_at(result, field, value)
    return result


def _parts(manifest: dict[str, Any], fields: Iterable[FieldPath]) -> dict[str, Any]:
    """The parts of an object, such as its spec, in which the fields are."""
    return {part: manifest[part] for part in {field[0] for field in fields} if part in manifest}


def _conflict(
    changed: Iterable[FieldPath], others: Iterable[tuple[str, set[FieldPath]]], live: dict[str, Any]
) -> str | None:
    """The conflict of changed fields that other managers own, in the API server's words."""
    # The declared value may contain a part of theirs; only the server knows whether that conflicts.
    owned = [
        (manager, field)
        for manager, fields in others
        for field in changed
        if any(is_inside(owned_field, field) for owned_field in fields)
    ]
    if not owned:
        return None
    from ..ownership.writers import field_conflict
    from .rewrites import remedies, taken_back

    conflicts: dict[str, list[str]] = {}
    for manager, field in owned:
        if not taken_back(manager, field, live):
            conflicts.setdefault(manager, []).append(".".join(field))
    return f"{field_conflict(conflicts, live)}{remedies(conflicts, live)}" if conflicts else None


def managers_to_take(
    live: dict[str, Any], fields: Mapping[FieldPath, Any], own: str, take_over: TakeOver
) -> tuple[str, ...]:
    """The managers to take over that own some of the fields. See `ownership.take_over`."""
    if take_over is keep_managers:
        return ()
    from ..ownership.take_over import owners_to_take

    return owners_to_take(live, fields, own, take_over)


def changed_fields(plan: Plan) -> set[FieldPath]:
    """The fields of a live object that a plan changes, removes or takes over."""
    return {*managed_fields.leaf_fields(plan.before), *managed_fields.leaf_fields(plan.after), *plan.fields}


def patched_fields(plan: Plan, live: dict[str, Any]) -> dict[FieldPath, Any]:
    """All values that a plan changes in a live object, as one merge patch: None removes a field."""
    after = managed_fields.leaf_fields(plan.after) if plan.after else {}
    removed = (managed_fields.leaf_fields(plan.before) if plan.before else {}).keys() - after.keys()
    desired = managed_fields.leaf_fields(plan.manifest)
    # An apply also removes the parents that nobody owns then, such as a matcher without its name.
    gone = {largest_removed(field, set(removed), desired, live) for field in removed}
    patch = dict(plan.merge_patch)
    for field, value in {**dict.fromkeys(sorted(gone)), **after}.items():
        if not any(is_inside(field, part) or is_inside(part, field) for part in plan.merge_patch):
            patch[field] = value
    return patch


def absent(manifest: dict[str, Any], live: dict[str, Any] | None) -> Plan:
    """The plan to delete an object."""
    if live is None:
        return Plan(NONE, manifest, {}, {})
    return Plan(DELETE, manifest, _visible_parts(live), {})


def _emptied_parents(desired: dict[FieldPath, Any], dropped: set[FieldPath], live: dict[str, Any]) -> set[FieldPath]:
    """Dropped fields that are the entire contents of an object that stays declared as empty.

    Server-side apply would set the object to null (`devices: null`), which KubeVirt's schema rejects.
    """
    empty = {parent: value_at(live, parent) or {} for parent, value in desired.items() if value == {}}
    return {
        (*parent, key)
        for parent, contents in empty.items()
        if _is_dropped(leaves(contents, parent), dropped)
        for key in contents
    }


def _is_dropped(contents: Iterable[FieldPath], dropped: set[FieldPath]) -> bool:
    """Whether all contents are dropped, each by itself or with what it is in."""
    return all(any(is_inside(leaf, field) for field in dropped) for leaf in contents)


def largest_removed(
    field: FieldPath, dropped: set[FieldPath], desired: dict[FieldPath, Any], live: dict[str, Any]
) -> FieldPath:
    """A dropped field, or the largest parent that would become empty."""
    while len(field) > 1:
        parent = field[:-1]
        empties = _is_dropped(leaves(value_at(live, parent), parent), dropped)
        if not empties or any(is_inside(declared, parent) for declared in desired):
            break
        field = parent
    return field


def _prunes_more(
    field: FieldPath,
    dropped: set[FieldPath],
    desired: dict[FieldPath, Any],
    others: list[tuple[str, set[FieldPath]]],
    live: dict[str, Any],
) -> bool:
    """Whether server-side apply would remove more of the template than a dropped field.

    It also removes the parents that nobody owns, with all that admission has put there: with the bootloader the
    firmware's UUID and serial.
    """
    if not is_inside(field, _TEMPLATE):
        return False
    retained_fields = [*desired, *(owned_field for _manager, fields in others for owned_field in fields)]
    for length in range(len(_TEMPLATE), len(field)):
        parent = field[:length]
        if not any(is_inside(kept_field, parent) for kept_field in retained_fields):
            return not _is_dropped(leaves(value_at(live, parent), parent), dropped)
    return False


def _same(field: FieldPath, value: Any, desired: dict[str, Any], current: dict[str, Any]) -> bool:
    """Whether a field with another live value has its declared one. desired, current: both objects' canonical forms."""
    desired_value = value_at(desired, field)
    if desired_value is None:
        # Unknown to the schema: a field of a newer KubeVirt.
        return False
    live_value = value_at(current, field)
    # An empty object declares only its presence; others may own its contents, and the canonical form may have some.
    return isinstance(live_value, dict) if value == {} else bool(live_value == desired_value)


def _shown(canonical: dict[str, Any], field: FieldPath, value: Any) -> Any:
    """A declared value as a diff shows it: a list in the canonical form, like the live one, or what Go always writes
    would be a difference.
    """
    form = value_at(canonical, field) if isinstance(value, list) else None
    return value if form is None else form


def _current(current: dict[str, Any], live: dict[str, Any], field: FieldPath) -> Any:
    """A field's live value; canonical if the schema knows the field."""
    value = value_at(current, field)
    return value if value is not None else value_at(live, field)


def _visible_parts(manifest: dict[str, Any]) -> dict[str, Any]:
    """The parts of an object that users want to see."""
    metadata = {key: manifest["metadata"][key] for key in ("labels", "annotations") if manifest["metadata"].get(key)}
    body = {"metadata": metadata} if metadata else {}
    return {**body, "spec": manifest["spec"]} if "spec" in manifest else body


def merged(plan: Plan, live: dict[str, Any] | None) -> dict[str, Any]:
    """The object after the plan, before admission; without managed fields. It may share parts with the live object."""
    if live is None:
        return plan.manifest
    removed = managed_fields.leaf_fields(plan.before)
    parts = {field[0] for field in (*removed, *plan.merge_patch)} | plan.after.keys()
    result = {**live, "metadata": {key: value for key, value in live["metadata"].items() if key != "managedFields"}}
    for part in parts & result.keys():
        result[part] = copy(result[part])
    for field in removed:
        remove_at(result, field)
    for field, value in plan.merge_patch.items():
        if value is None:
            remove_at(result, field)
        else:
            set_at(result, field, value)
    declared = {part: plan.manifest[part] for part in parts if part in plan.manifest}
    for field, value in managed_fields.leaf_fields(declared).items():
        set_at(result, field, value)
    return result
