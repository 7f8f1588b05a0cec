"""Objects as the API of an older KubeVirt release has them.

A field's notes (`fields/`) name the first release that knows it, `since`, and earlier patches to which it was
backported, `backported`. For a field that KubeVirt omits when empty, they name the first release that does so: before
it the field was always written (`written_until`), or kept if declared empty (`kept_until`). API servers silently drop
unknown fields.
"""

from __future__ import annotations

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


def fields(expression: str, value: Any, path: str = "", release: Release = NEWEST) -> list[Field]:
    """The fields of a value at every depth, except inside of unknown ones, with paths such as ``gpus[0].claimName``."""
    found: list[Field] = []
    _add_fields(found, schema.bare(expression), value, path, release)
    return found


def _add_fields(found: list[Field], expression: str, value: Any, path: str, release: Release) -> None:
    prefix = f"{path}." if path and isinstance(value, dict) else path
    for name, entry, below in _contents(expression, value, release):
        field_path = f"{prefix}{name}"
        found.append(Field(field_path, expression, name, entry, below))
        if below and isinstance(entry, (dict, list)):
            _add_fields(found, below, entry, field_path, release)


def _contents(expression: str, value: Any, release: Release) -> list[tuple[str, Any, str]]:
    """Name, value and type of the fields of an object or the entries of a list; "" for the type of an unknown field.

    expression: without marks.
    """
    if isinstance(value, dict) and expression in schema.TYPES:
        known = _known_fields(expression, release)
        return [(name, entry, known.get(name, "")) for name, entry in value.items()]
    if isinstance(value, list) and expression.startswith("[]"):
        below = schema.bare(expression[2:])
        return [(f"[{index}]", entry, below) for index, entry in enumerate(value)]
    return []


@cache
def _known_fields(type_name: str, release: Release) -> dict[str, str]:
    """The fields of a type that a release knows, and their types."""
    return {
        name: schema.bare(schema.field_type(declaration))
        for name, declaration in schema.TYPES.get(type_name, {}).items()
        if _is_known(schema.field_notes(declaration), release)
    }


def unknown(expression: str, value: Any, release: Release, path: str = "") -> list[Field]:
    """The fields that the release does not know."""
    return [field for field in fields(expression, value, path, release) if not field.expression]


def without_unknown_fields(expression: str, value: Any, release: Release) -> Any:
    """The value without unknown fields. A value of a wrong shape stays, for schema.canonical to reject."""
    expression = schema.bare(expression)
    if isinstance(value, dict) and expression in schema.TYPES:
        return {
            name: without_unknown_fields(below, entry, release) if isinstance(entry, (dict, list)) else entry
            for name, entry, below in _contents(expression, value, release)
            if below
        }
    if isinstance(value, list) and expression.startswith("[]"):
        return [without_unknown_fields(expression[2:], entry, release) for entry in value]
    return value


def missing_fields(expression: str, spec: Any, release: Release, scalars: bool) -> list[str]:
    """The paths of required fields that a spec of the type lacks.

    A null is missing, too, and so is an entry that is null. scalars: whether texts, numbers and truth values are
    required: by KubeVirt's CustomResourceDefinitions, but not by virt-api, whose OpenAPI
    has defaults for them.
    """
    missing = []
    root = Field("spec", "", "", spec, schema.bare(expression))
    for field in (root, *fields(expression, spec, "spec", release)):
        if isinstance(field.value, dict):
            missing += [
                f"{field.path}.{name}"
                for name, scalar in _required(field.expression, release)
                if field.value.get(name) is None and (scalars or not scalar)
            ]
        elif field.value is None and field.type_name.startswith("[]"):
            missing.append(field.path)
    return missing


@cache
def _required(type_name: str, release: Release) -> tuple[tuple[str, bool], ...]:
    """The required fields of a type, and whether each is a text, a number or a truth value."""
    return tuple(
        (name, expression in _SCALARS)
        for name, expression in _known_fields(type_name, release).items()
        if is_required(type_name, name, release)
    )


def is_required(type_name: str, name: str, release: Release = NEWEST) -> bool:
    """Whether an object without the field is rejected."""
    declaration = schema.TYPES[type_name][name]
    always_written = schema.field_type(declaration).endswith("!") and (type_name, name) not in _OPTIONAL
    written = always_written or _is_before(schema.field_notes(declaration).get("written_until"), release)
    return written and has_field(type_name, name, release)


_SCALARS: Final = frozenset({"string", "bool", *schema.INTEGERS})
# Go always writes these fields, but users may omit them.
_OPTIONAL: Final = frozenset(
    {("Machine", "type"), ("TypedLocalObjectReference", "apiGroup"), ("TypedObjectReference", "apiGroup")}
)


def _fill(expression: str, value: Any, original: Any, release: Release) -> None:
    """Adds the zero values that newer releases omit to a canonical value. original: the value as declared."""
    expression = schema.bare(expression)
    for name, zero, if_declared in _written_when_empty(expression, release):
        if not if_declared or original.get(name) is not None:
            value.setdefault(name, zero)
    originals = {name: entry for name, entry, _below in _contents(expression, original, release)}
    for name, entry, below in _contents(expression, value, release):
        _fill(below, entry, originals.get(name) or {}, release)


@cache
def _written_when_empty(type_name: str, release: Release) -> list[tuple[str, Any, bool]]:
    """The fields of a type that a release writes even if they are empty: name, zero value, whether only if declared."""
    return [
        (name, "" if expression == "string" else 0, not _is_before(notes.get("written_until"), release))
        for name, expression in _known_fields(type_name, release).items()
        for notes in [schema.field_notes(schema.TYPES[type_name][name])]
        if any(_is_before(notes.get(note), release) for note in ("written_until", "kept_until"))
    ]


def has_field(expression: str, name: str, release: Release) -> bool:
    """Whether a release knows the field of a type."""
    return name in _known_fields(schema.bare(expression), release)


def _is_known(notes: dict[str, str], release: Release) -> bool:
    since = notes.get("since")
    return since is None or release.has(since) or release.is_patched(notes.get("backported", ""))


def _is_before(version: str | None, release: Release) -> bool:
    return version is not None and not release.has(version)
