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


class _Compared(NamedTuple):
    """A declared object, the object before ({} for a new one), and the answer.

    wanted, before, after: their canonical forms, in this order.
    """

    manager: str
    manifest: Manifest
    live: Manifest
    answer: Manifest
    wanted: Manifest
    before: Manifest
    after: Manifest

    @classmethod
    def of(cls, manager: str, manifest: Manifest, live: Manifest, answer: Manifest) -> _Compared:
        type_name = schema.type_of(manifest)
        forms = (schema.canonical(type_name, _body(source)) for source in (manifest, live, answer))
        return cls(manager, manifest, live, answer, *forms)

    def declared(self, field: FieldPath) -> Any:
        return _value(self.wanted, self.manifest, field)

    def old(self, field: FieldPath) -> Any:
        return _value(self.before, self.live, field)

    def new(self, field: FieldPath) -> Any:
        return _value(self.after, self.answer, field)


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
    if has_metadata and _has_body(step, live, answer, expected, planned):
        # Most answers end here. The additions of admission to a new object are of no interest.
        return Answered(step, expected)
    rest = plan_rest()
    if has_metadata and live is None and rest.action == NONE:
        # The server writes a value in another way, such as a quantity.
        return Answered(step, expected)
    compared = _Compared.of(manager, step.manifest, live or {}, answer)
    missing = _missing_of(rest, compared)
    unmet = tuple(deviation for field in sorted(missing) for deviation in _unmet(field, missing[field], rest, compared))
    if live is None:
        return Answered(_as_created(step, missing, compared), answer, unmet)
    turned, others = _as_applied(step, planned, missing, compared)
    kept = answer if turned.before.get("spec") or turned.after.get("spec") else {**live, "metadata": answer["metadata"]}
    owned = managed_fields.applied_fields(live, manager) != managed_fields.applied_fields(answer, manager)
    if not (turned.before or turned.after or owned or step.taken_from):
        turned = Plan(NONE, step.manifest, {}, {})
    return Answered(turned, kept, (*unmet, *others))


def _has_metadata(step: Plan, answer: Manifest, planned: Collection[FieldPath]) -> bool:
    """Whether an answer has the declared metadata, and the metadata that the plan wanted to change. planned: fields."""
    declared = managed_fields.leaf_fields({"metadata": step.manifest["metadata"]})
    wanted = {field: value_at(step.after, field) for field in planned if field[0] == "metadata"}
    return all(value_at(answer, field) == value for field, value in (*wanted.items(), *declared.items()))


def _has_body(
    step: Plan, live: Manifest | None, answer: Manifest, expected: Manifest, planned: Collection[FieldPath]
) -> bool:
    """Whether the rest of an answer is as planned; a new object may have more."""
    if live is None:
        return not any(_missing(_body(step.manifest), _body(answer)))
    return bool(planned) and _body(answer) == _body(expected)


def _body(manifest: Manifest) -> Manifest:
    return {part: value for part, value in manifest.items() if part not in _OF_SERVER}


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


def _missing_of(rest: Plan, compared: _Compared) -> dict[FieldPath, list[tuple[Place, Place | None]]]:
    """The declared fields whose values the answer lacks in part, with the places. rest: the plan for the answer."""
    return {
        field: places
        for field in managed_fields.leaf_fields(rest.after)
        # The next run may declare more, such as the memory of a VM that loses its instancetype now.
        if _is_declared(field, compared.manifest)
        and (places := [*_missing(value_at(rest.after, field), compared.new(field))])
    }


def _unmet(
    field: FieldPath, places: list[tuple[Place, Place | None]], rest: Plan, compared: _Compared
) -> Iterator[Deviation]:
    """The declared values of a field that the answer does not have."""
    declared: Manifest = {}
    found: Manifest = {}
    set_at(declared, field, value_at(rest.after, field))
    _set(found, field, compared.new(field))
    found, declared = redact(found, declared)
    for place, other in places:
        value = _at(declared, (*field, *place))
        text, there = (_REMOVED, None) if other is None else (_OVERRIDDEN, _at(found, (*field, *other)))
        yield _told(field, place, text, compared, declared=quoted(value), found=quoted(there))


def _at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


def _deviation(field: FieldPath, place: Place, text: str, compared: _Compared, found: Any = None) -> Deviation:
    tree: Manifest = {}
    _set(tree, field, found)
    shown, _same = redact(tree, tree)
    return _told(field, place, text, compared, found=quoted(value_at(shown, field)))


def _told(field: FieldPath, place: Place, text: str, compared: _Compared, **values: str) -> Deviation:
    ours = managed_fields.applied_fields(compared.answer, compared.manager) or set()
    theirs = (
        ()
        if any(is_inside(field, own) or is_inside(own, field) for own in ours)
        else managed_fields.owners(managed_fields.fields_of_others(compared.answer, compared.manager), field)
    )
    path: Place = ()
    for key in (*field, *place):
        path = path, key
    words = text.format(who="{who}", **values)
    return Deviation(f"{path_of(path)}: {words}", theirs[0] if theirs else "")


def _as_created(step: Plan, missing: Collection[FieldPath], compared: _Compared) -> Plan:
    """The plan of a new object, with the values that the answer has in the place of declared ones."""
    if not missing:
        return step
    shown = copy(step.after)
    for field in missing:
        remove_at(shown, field)
        _set(shown, field, compared.new(field))
    return step._replace(after=shown)


def _as_applied(
    step: Plan, planned: Collection[FieldPath], missing: Collection[FieldPath], compared: _Compared
) -> tuple[Plan, list[Deviation]]:
    """The plan with what has changed of a live object; and the fields that stay or are renewed at each write.

    planned: the fields that the plan wanted to change. missing: the declared ones whose values the answer lacks.
    """
    old: Manifest = {}
    new: Manifest = {}
    others: list[Deviation] = []
    for field in sorted(planned):
        was, now, declared = compared.old(field), compared.new(field), compared.declared(field)
        if was == now:
            if now is not None and not _is_declared(field, step.manifest):
                others.append(_deviation(field, (), _STAYS, compared, found=now))
            continue
        if field not in missing and (place := _renewed(declared, was, now)) is not None:
            others.append(_deviation(field, place, _RENEWED, compared))
        _set(old, field, value_at(step.before, field))
        _set(new, field, value_at(step.after, field) if now == declared else now)
    for field, was, now in _unplanned(planned, compared):
        _set(old, field, was)
        _set(new, field, now)
    return (step if (old, new) == (step.before, step.after) else step._replace(before=old, after=new)), others


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


def _unplanned(planned: Collection[FieldPath], compared: _Compared) -> Iterator[tuple[FieldPath, Any, Any]]:
    """The other changes of the spec that nobody else has written meanwhile: (field, before, after)."""
    old, new = (leaves(form.get("spec") or {}, ("spec",)) for form in (compared.before, compared.after))
    entries = managed_fields.entries(compared.live)
    written = [entry for entry in managed_fields.entries(compared.answer) if entry not in entries]
    others = managed_fields.fields_of_others({"metadata": {"managedFields": written}}, compared.manager)
    for field in sorted({*old, *new}):
        if old.get(field) == new.get(field):
            continue
        if any(is_inside(field, part) or is_inside(part, field) for part in planned):
            continue
        if not managed_fields.owners(others, field):
            yield field, old.get(field), new.get(field)
