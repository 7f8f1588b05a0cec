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
    """Like schema.canonical, without fields that the release does not know, and written as it writes them."""
    if release is NEWEST:
        return schema.canonical(type_name, value)
    declared = without_unknown_fields(type_name, value, release)
    result = schema.canonical(type_name, declared)
    _fill(type_name, result, declared, release)
    return result


class Field(NamedTuple):
    """A field that an object sets, or an entry of a list, whose name is its index (``[0]``).

    type_name: of the object around it. expression: its type; "" for a field that a release does not know.
    """

    path: str
    type_name: str
    name: str
    value: Any
    expression: str


def fields(expression: str, value: Any, release: Release = NEWEST, path: str = "") -> Iterator[Field]:
    """The fields of a value at every depth, except inside of unknown ones, with paths such as ``gpus[0].claimName``."""
    if not isinstance(value, (dict, list)):
        return
    type_name = schema.bare(expression)
    later = _later_fields(type_name, release)
    for name, entry, below in _entries(expression, value):
        field_path = path + (name if name.startswith("[") or not path else f".{name}")
        known = "" if name in later else schema.bare(below)
        yield Field(field_path, type_name, name, entry, known)
        if known:
            yield from fields(known, entry, release, field_path)


def unknown(expression: str, value: Any, release: Release, path: str = "") -> Iterator[Field]:
    """The fields that the release does not know."""
    return (field for field in fields(expression, value, release, path) if not field.expression)


def without_unknown_fields(expression: str, value: Any, release: Release) -> Any:
    """The value without unknown fields. A value of a wrong shape stays, for schema.canonical to reject."""
    if not isinstance(value, (dict, list)):
        return value
    later = _later_fields(schema.bare(expression), release)
    kept = (
        (name, without_unknown_fields(below, entry, release))
        for name, entry, below in _entries(expression, value)
        if below and name not in later
    )
    if isinstance(value, dict) and schema.bare(expression) in schema.TYPES:
        return dict(kept)
    if isinstance(value, list) and schema.bare(expression).startswith("[]"):
        return [entry for _name, entry in kept]
    return value


def missing_fields(expression: str, value: Any, release: Release, path: str, scalars: bool) -> Iterator[str]:
    """The paths of required fields that an object of the type, or a list of such objects, lacks.

    A null is missing, too, and so is an entry that is null. path: of the value. scalars: whether texts, numbers and
    truth values are required: by KubeVirt's CustomResourceDefinitions, but not by virt-api, whose OpenAPI has defaults
    for them.
    """
    for field in (Field(path, "", "", value, expression), *fields(expression, value, release, path)):
        if field.value is None and field.name.startswith("["):
            yield field.path
        if isinstance(field.value, dict):
            for name, scalar in _required(field.expression, release):
                if field.value.get(name) is None and (scalars or not scalar):
                    yield f"{field.path}.{name}"


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
