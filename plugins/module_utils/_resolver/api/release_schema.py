"""Objects as the API of an older KubeVirt release has them.

A field's notes (`fields/`) name the first release that knows it, `since`, and earlier patches to which it was
backported, `backported`. For a field that KubeVirt omits when empty, they name the first release that does so: before
it the field was always written (`written_until`), or kept if declared empty (`kept_until`). API servers silently drop
unknown fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from . import schema
from .release import NEWEST, Release


def canonical(type_name: str, value: dict[str, Any] | None, release: Release = NEWEST) -> dict[str, Any]:
    """The canonical value (`schema.canonical`) with only the fields and spellings that the release knows."""
    if release is NEWEST:
        return schema.canonical(type_name, value)
    declared = without_unknown_fields(type_name, value, release)
    result = schema.canonical(type_name, declared)
    _fill(type_name, result, declared, release)
    return result


class Field(NamedTuple):
    """A field that an object sets, or an entry of a list, whose name is its index (``[0]``).

    type_name: the type of the object around it. expression: its type; "" for a field that a release does not know.
    """

    path: str
    type_name: str
    name: str
    value: Any
    expression: str


def fields(expression: str, value: Any, path: str = "") -> Iterator[Field]:
    """The fields of a value at every depth, except inside of unknown ones, with paths such as ``gpus[0].claimName``."""
    # Thousands of VMs have hundreds of fields each, so a field takes as few steps as possible.
    remaining = list(_fields_of(schema.bare(expression), value, path))[::-1]
    while remaining:
        field = remaining.pop()
        yield field
        if field.expression and isinstance(field.value, (dict, list)):
            remaining += list(_fields_of(field.expression, field.value, field.path))[::-1]


def _fields_of(expression: str, value: Any, path: str) -> Iterator[Field]:
    """The fields of an object, or the entries of a list. expression: without marks."""
    if isinstance(value, dict):
        if expression in schema.TYPES:
            known = _known_fields(expression, NEWEST)
            prefix = f"{path}." if path else ""
            for name, entry in value.items():
                yield Field(f"{prefix}{name}", expression, name, entry, known.get(name, ""))
    elif isinstance(value, list) and expression.startswith("[]"):
        below = schema.bare(expression[2:])
        for index, entry in enumerate(value):
            yield Field(f"{path}[{index}]", expression, f"[{index}]", entry, below)


@cache
def _known_fields(type_name: str, release: Release) -> dict[str, str]:
    """The fields of a type that a release knows, and their types."""
    later = _later_fields(type_name, release)
    return {
        name: schema.bare(schema.field_type(declaration))
        for name, declaration in schema.TYPES[type_name].items()
        if name not in later
    }


def unknown(expression: str, value: Any, release: Release, path: str = "") -> Iterator[Field]:
    """The fields that the release does not know."""
    return iter(_unknown(schema.bare(expression), value, release, path))


def _unknown(expression: str, value: Any, release: Release, path: str) -> list[Field]:
    """See `unknown`. expression: without marks. Only what contains others is followed."""
    found: list[Field] = []
    if isinstance(value, dict) and expression in schema.TYPES:
        known = _known_fields(expression, release)
        for name, entry in value.items():
            below = known.get(name)
            if below is None:
                found.append(Field(f"{path}.{name}" if path else name, expression, name, entry, ""))
            elif entry and isinstance(entry, (dict, list)):
                found += _unknown(below, entry, release, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and expression.startswith("[]"):
        below = schema.bare(expression[2:])
        if below in schema.TYPES or below.startswith("[]"):
            for index, entry in enumerate(value):
                found += _unknown(below, entry, release, f"{path}[{index}]")
    return found


def without_unknown_fields(expression: str, value: Any, release: Release) -> Any:
    """The value without unknown fields. A value of a wrong shape stays, for schema.canonical to reject."""
    return _without_unknown(schema.bare(expression), value, release) if isinstance(value, (dict, list)) else value


def _without_unknown(expression: str, value: Any, release: Release) -> Any:
    """See `without_unknown_fields`. expression: without marks. value: an object or a list."""
    if isinstance(value, dict) and expression in schema.TYPES:
        known = _known_fields(expression, release)
        return {
            name: _without_unknown(known[name], entry, release) if isinstance(entry, (dict, list)) else entry
            for name, entry in value.items()
            if name in known
        }
    if isinstance(value, list) and expression.startswith("[]"):
        below = schema.bare(expression[2:])
        return [
            _without_unknown(below, entry, release) if isinstance(entry, (dict, list)) else entry for entry in value
        ]
    return value


def missing_fields(expression: str, spec: Any, release: Release, scalars: bool) -> list[str]:
    """The paths of required fields that a spec of the type lacks.

    A null is missing, too, and so is an entry that is null. scalars: whether texts, numbers and truth values are
    required: by KubeVirt's CustomResourceDefinitions, but not by virt-api, whose OpenAPI
    has defaults for them.
    """
    return _missing(schema.bare(expression), spec, release, "spec", scalars)


def _missing(expression: str, value: Any, release: Release, path: str, scalars: bool) -> list[str]:
    """See `missing_fields`. expression: a type without marks. path: the position of the value."""
    found: list[str] = []
    if isinstance(value, dict) and expression in schema.TYPES:
        for name, scalar in _required(expression, release):
            if value.get(name) is None and (scalars or not scalar):
                found.append(f"{path}.{name}")
        known = _known_fields(expression, release)
        for name, entry in value.items():
            if name in known and isinstance(entry, (dict, list)):
                found += _missing(known[name], entry, release, f"{path}.{name}", scalars)
    elif isinstance(value, list) and expression.startswith("[]"):
        below = schema.bare(expression[2:])
        for index, entry in enumerate(value):
            if entry is None:
                found.append(f"{path}[{index}]")
            elif isinstance(entry, (dict, list)):
                found += _missing(below, entry, release, f"{path}[{index}]", scalars)
    return found


@cache
def _required(type_name: str, release: Release) -> tuple[tuple[str, bool], ...]:
    """The required fields of a type, and whether each is a text, a number or a truth value."""
    return tuple(
        (name, schema.field_type(declaration).rstrip("!") in _SCALARS)
        for name, declaration in schema.TYPES.get(type_name, {}).items()
        if is_required(type_name, name, release)
    )


def is_required(type_name: str, name: str, release: Release = NEWEST) -> bool:
    """Whether an object without the field is rejected."""
    if not has_field(type_name, name, release):
        return False
    declaration = schema.TYPES[type_name][name]
    always_written = schema.field_type(declaration).endswith("!") and (type_name, name) not in _OPTIONAL
    return always_written or _is_before(schema.field_notes(declaration).get("written_until"), release)


_SCALARS: Final = frozenset({"string", "bool", *schema.INTEGERS})
# Go always writes these fields, but users may omit them.
_OPTIONAL: Final = frozenset(
    {("Machine", "type"), ("TypedLocalObjectReference", "apiGroup"), ("TypedObjectReference", "apiGroup")}
)


def _fill(expression: str, value: Any, original: Any, release: Release) -> None:
    """Adds the zero values that newer releases omit to a canonical value. original: the value as declared."""
    for name, (notes, zero) in _written_when_empty(schema.bare(expression)).items():
        if not has_field(expression, name, release):
            continue
        if _is_before(notes.get("written_until"), release) or (
            _is_before(notes.get("kept_until"), release) and original.get(name) is not None
        ):
            value.setdefault(name, zero)
    originals = {name: entry for name, entry, _range in _entries(expression, original)}
    for name, entry, below in _entries(expression, value):
        _fill(below, entry, originals.get(name) or {}, release)


@cache
def _written_when_empty(type_name: str) -> dict[str, tuple[dict[str, str], Any]]:
    """Notes and zero value of a type's fields that older releases write even if they are empty."""
    return {
        name: (schema.field_notes(declaration), "" if schema.field_type(declaration) == "string" else 0)
        for name, declaration in schema.TYPES.get(type_name, {}).items()
        if schema.field_notes(declaration).keys() & {"written_until", "kept_until"}
    }


def _entries(expression: str, value: Any) -> Iterator[tuple[str, Any, str]]:
    """Name, value and type expression of the contents of an object or a list; "" for a field that no release knows."""
    expression = schema.bare(expression)
    if isinstance(value, dict) and expression in schema.TYPES:
        declarations = schema.TYPES[expression]
        for name, entry in value.items():
            yield name, entry, schema.field_type(declarations[name]) if name in declarations else ""
    elif isinstance(value, list) and expression.startswith("[]"):
        for index, entry in enumerate(value):
            yield f"[{index}]", entry, expression[2:]


def has_field(expression: str, name: str, release: Release) -> bool:
    """Whether a release knows the field of a type."""
    return name not in _later_fields(schema.bare(expression), release)


@cache
def _later_fields(type_name: str, release: Release) -> frozenset[str]:
    """The fields of a type that only newer releases know."""
    return frozenset(
        name
        for name, declaration in schema.TYPES.get(type_name, {}).items()
        if not _is_known(schema.field_notes(declaration), release)
    )


def _is_known(notes: dict[str, str], release: Release) -> bool:
    since = notes.get("since")
    return since is None or release.has(since) or release.is_patched(notes.get("backported", ""))


def _is_before(version: str | None, release: Release) -> bool:
    return version is not None and not release.has(version)
