"""Compares a plan with the answer to its apply or dry run: the admission of the cluster has the last word."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, Final, NamedTuple

from ..api import managed_fields, schema
from ..api.managed_fields import FieldPath, is_inside
from ..api.manifest import Manifest
from ..api.name_rules import quoted
from ..api.tree import Place, copy, leaves, path_of, remove_at, scan, set_at, value_at
from ..secrets.redaction import redact
from .plan import NONE, Plan, merged

_OVERRIDDEN: Final = "declared {declared}, but {who} makes it {found}; declare that, or change what sets it"
_REMOVED: Final = "declared {declared}, but {who} removes it; do not declare it, or change what removes it"
_STAYS: Final = "no longer declared, but {who} keeps it at {found}"
_RENEWED: Final = "{who} sets another value at each write, so every run changes the object; declare the value"
# Fields that only the server writes.
_OF_SERVER: Final = ("apiVersion", "kind", "metadata", "status")


class Deviation(NamedTuple):
    """A field that the answer has otherwise than the plan.

    text: what differs, with {who} in the place of what has set the value. manager: the field manager that owns the
    field instead of ours; "" if an admission webhook or policy has set it.
    """

    text: str
    manager: str = ""

    def line(self, admission: str) -> str:
        """The warning. admission: the webhooks and policies that may have set the value."""
        return self.text.replace("{who}", f'the field manager "{self.manager}"' if self.manager else admission)


class Answered(NamedTuple):
    """A plan as it turned out.

    live: the object of the answer, as it is to be kept: it shares unchanged parts with the object before.
    """

    plan: Plan
    live: Manifest
    deviations: tuple[Deviation, ...] = ()


def answered(
    step: Plan, live: Manifest | None, answer: Manifest, plan_rest: Callable[[], Plan], manager: str
) -> Answered:
    """The plan to create or apply an object, as it turned out.

    live: the object before, or None. answer: the object after the apply or its dry run. plan_rest: the plan of the
    same declaration for the answer; most answers need none. manager: our field manager.
    The action is NONE if neither the fields that the plan wanted to change nor the rest of the spec nor our managed
    fields have changed. A value that the answer adds to a declared list or object is no deviation.
    Raises FieldError if an object cannot be parsed.
    """
    expected = {**merged(step, live), "metadata": answer["metadata"]}
    planned = {*managed_fields.leaf_fields(step.before), *managed_fields.leaf_fields(step.after)}
    has_metadata = _has_metadata(step, answer, planned)
    has_body = (
        not any(_missing(_body(step.manifest), _body(answer)))
        if live is None
        else planned and _body(answer) == _body(expected)
    )
    if has_metadata and has_body:
        # Most answers end here. The additions of admission to a new object are of no interest.
        return Answered(step, expected)
    rest = plan_rest()
    if has_metadata and live is None and rest.action == NONE:
        # The server writes a value in another way, such as a quantity.
        return Answered(step, expected)
    type_name = schema.type_of(step.manifest)
    after, wanted = _canonical(type_name, answer), _canonical(type_name, step.manifest)
    missing = {
        field: places
        for field in managed_fields.leaf_fields(rest.after)
        # The next run may declare more, such as the memory of a VM that loses its instancetype now.
        if _is_declared(field, step.manifest)
        and (places := [*_missing(value_at(rest.after, field), _value(after, answer, field))])
    }
    unmet = tuple(
        deviation
        for field in sorted(missing)
        for deviation in _unmet(field, missing[field], rest, after, answer, manager)
    )
    if live is None:
        return Answered(_as_created(step, missing, after, answer), answer, unmet)
    before = _canonical(type_name, live)
    old: Manifest = {}
    new: Manifest = {}
    others: list[Deviation] = []
    for field in sorted(planned):
        was, now = _value(before, live, field), _value(after, answer, field)
        declared = _value(wanted, step.manifest, field)
        if was == now:
            if now is not None and not _is_declared(field, step.manifest):
                others.append(_deviation(field, (), _STAYS, answer, manager, found=now))
            continue
        if field not in missing and (place := _renewed(declared, was, now)) is not None:
            others.append(_deviation(field, place, _RENEWED, answer, manager))
        _set(old, field, value_at(step.before, field))
        _set(new, field, value_at(step.after, field) if now == declared else now)
    for field, was, now in _unplanned(planned, before, after, live, answer, manager):
        _set(old, field, was)
        _set(new, field, now)
    owned = managed_fields.applied_fields(live, manager) != managed_fields.applied_fields(answer, manager)
    kept = answer if old.get("spec") or new.get("spec") else {**live, "metadata": answer["metadata"]}
    turned = step
    if (old, new) != (step.before, step.after):
        turned = step._replace(before=old, after=new)
    if not (old or new or owned or step.taken_from):
        turned = Plan(NONE, step.manifest, {}, {})
    return Answered(turned, kept, (*unmet, *others))


def _has_metadata(step: Plan, answer: Manifest, planned: Collection[FieldPath]) -> bool:
    """Whether an answer has the declared metadata, and the metadata that the plan wanted to change. planned: fields."""
    declared = managed_fields.leaf_fields({"metadata": step.manifest["metadata"]})
    wanted = {field: value_at(step.after, field) for field in planned if field[0] == "metadata"}
    return all(value_at(answer, field) == value for field, value in (*wanted.items(), *declared.items()))


def _body(manifest: Manifest) -> Manifest:
    return {part: value for part, value in manifest.items() if part not in _OF_SERVER}


def _canonical(type_name: str, manifest: Manifest) -> Manifest:
    return schema.canonical(type_name, _body(manifest))


def _value(canonical: Manifest, manifest: Manifest, field: FieldPath) -> Any:
    """The value of a field; canonical if the schema knows the field."""
    value = value_at(canonical, field)
    return value if value is not None else value_at(manifest, field)


def _set(target: Manifest, field: FieldPath, value: Any) -> None:
    if value is not None:
        set_at(target, field, value)


def _is_declared(field: FieldPath, manifest: Manifest) -> bool:
    """Whether a manifest declares a field, a part of it, or what it is in."""
    return any(is_inside(other, field) or is_inside(field, other) for other in managed_fields.leaf_fields(manifest))


def _missing(declared: Any, found: Any, place: Place = (), at: Place = ()) -> Iterator[tuple[Place, Place | None]]:
    """The places at which the found value lacks a part of the declared one: (declared, found), None for no place there.

    Items with a name belong together; others may have any position.
    """
    # Most parts of a VM come back as they were sent.
    if declared in (None, "", []) or declared == found:
        return
    if isinstance(declared, dict) and isinstance(found, dict):
        for key, value in declared.items():
            yield from _missing(value, found.get(key), (*place, key), (*at, key))
    elif isinstance(declared, list) and isinstance(found, list):
        for index, item in enumerate(declared):
            name = item.get("name") if isinstance(item, dict) else None
            named = (n for n, entry in enumerate(found) if isinstance(entry, dict) and entry.get("name") == name)
            same = next(named, None) if name else None
            if same is not None:
                yield from _missing(item, found[same], (*place, index), (*at, same))
            elif not any(not [*_missing(item, entry)] for entry in found):
                yield (*place, index), None
    else:
        yield place, None if found is None else at


def _unmet(
    field: FieldPath,
    places: list[tuple[Place, Place | None]],
    rest: Plan,
    after: Manifest,
    answer: Manifest,
    manager: str,
) -> Iterator[Deviation]:
    """The declared values of a field that the answer does not have."""
    declared: Manifest = {}
    found: Manifest = {}
    set_at(declared, field, value_at(rest.after, field))
    _set(found, field, _value(after, answer, field))
    found, declared = redact(found, declared)
    for place, other in places:
        value = _at(declared, (*field, *place))
        text, there = (_REMOVED, None) if other is None else (_OVERRIDDEN, _at(found, (*field, *other)))
        yield _told(field, place, text, answer, manager, declared=quoted(value), found=quoted(there))


def _at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


def _deviation(
    field: FieldPath, place: Place, text: str, answer: Manifest, manager: str, found: Any = None
) -> Deviation:
    tree: Manifest = {}
    _set(tree, field, found)
    shown, _same = redact(tree, tree)
    return _told(field, place, text, answer, manager, found=quoted(value_at(shown, field)))


def _told(field: FieldPath, place: Place, text: str, answer: Manifest, manager: str, **values: str) -> Deviation:
    ours = managed_fields.applied_fields(answer, manager) or set()
    theirs = (
        ()
        if any(is_inside(field, own) or is_inside(own, field) for own in ours)
        else managed_fields.owners(managed_fields.fields_of_others(answer, manager), field)
    )
    path: Place = ()
    for key in (*field, *place):
        path = path, key
    words = text.format(who="{who}", **values)
    return Deviation(f"{path_of(path)}: {words}", theirs[0] if theirs else "")


def _as_created(step: Plan, missing: dict[FieldPath, Any], after: Manifest, answer: Manifest) -> Plan:
    if not missing:
        return step
    shown = copy(step.after)
    for field in missing:
        remove_at(shown, field)
        _set(shown, field, _value(after, answer, field))
    return step._replace(after=shown)


def _renewed(declared: Any, was: Any, now: Any) -> Place | None:
    """The place of an undeclared value that has changed, if both values contain the declared one; or None."""
    if declared is None or now == declared or [*_missing(declared, was)] or [*_missing(declared, now)]:
        return None
    old, new = (dict(scan(value)) for value in (was, now))
    if old.keys() != new.keys():
        return None
    place = [place for place, part in new.items() if part != old[place]][-1]
    keys: list[Any] = []
    while place:
        place, key = place
        keys.append(key)
    return tuple(reversed(keys))


def _unplanned(
    planned: set[FieldPath], before: Manifest, after: Manifest, live: Manifest, answer: Manifest, manager: str
) -> Iterator[tuple[FieldPath, Any, Any]]:
    """The other changes of the spec that nobody else has written meanwhile: (field, before, after)."""
    old, new = (leaves(source.get("spec") or {}, ("spec",)) for source in (before, after))
    entries = managed_fields.entries(live)
    written = [entry for entry in managed_fields.entries(answer) if entry not in entries]
    others = managed_fields.fields_of_others({"metadata": {"managedFields": written}}, manager)
    for field in sorted({*old, *new}):
        if old.get(field) == new.get(field):
            continue
        if any(is_inside(field, part) or is_inside(part, field) for part in planned):
            continue
        if not managed_fields.owners(others, field):
            yield field, old.get(field), new.get(field)
