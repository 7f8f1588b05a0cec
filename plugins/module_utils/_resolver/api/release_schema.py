"""Objects as the API of an older KubeVirt release has them.

A field's notes (`fields`) name releases as `Release.has` reads them: those that know the field (`since`). For a field
that KubeVirt omits when empty, they name those that always wrote it (`written`), or kept it if declared empty (`kept`).
`values` are those that virt-api's OpenAPI permits. API servers silently drop unknown fields.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from . import schema
from .release import NEWEST, Release

# Type → field → type.
_Types = dict[str, dict[str, str]]


def canonical(type_name: str, value: dict[str, Any] | None, release: Release = NEWEST) -> dict[str, Any]:
    """The canonical value (`schema.canonical`) with only the fields and spellings that the release knows."""
    if release is NEWEST:
        return schema.canonical(type_name, value)
    declared = without_unknown_fields(type_name, value, release)
    result = schema.canonical(type_name, declared)
    _fill(type_name, result, declared, release)
    return result


class ReleaseField(NamedTuple):
    """A field that an object sets, or an entry of a list, whose name is its index (``[0]``).

    type_name: the type of the object around it. expression: its type; "" for a field that a release does not know.
    """

    path: str
    type_name: str
    name: str
    value: Any
    expression: str


def fields(expression: str, value: Any, path: str = "", release: Release = NEWEST) -> list[ReleaseField]:
    """The fields of a value at every depth, except inside of unknown ones, with paths such as ``gpus[0].claimName``."""
    return _fields(expression, value, path, release, object)


def unknown(expression: str, value: Any, release: Release, path: str = "") -> list[ReleaseField]:
    """The fields that the release does not know."""
    return _fields(expression, value, path, release, ())


def _fields(expression: str, value: Any, path: str, release: Release, classes: Any) -> list[ReleaseField]:
    """The unknown fields, and the known ones whose values have one of the classes."""
    found: list[ReleaseField] = []
    _add_fields(found, schema.bare(expression), value, path, _known_fields(release), classes)
    return found


def _add_fields(found: list[ReleaseField], expression: str, value: Any, path: str, types: _Types, classes: Any) -> None:
    prefix = f"{path}." if path and isinstance(value, dict) else path
    # Thousands of VMs have hundreds of fields each, so a field takes as few steps as possible.
    for name, entry, below in _contents(expression, value, types):
        if not below or isinstance(entry, classes):
            found.append(ReleaseField(f"{prefix}{name}", expression, name, entry, below))
        if below and entry.__class__ is not str and isinstance(entry, (dict, list)):
            _add_fields(found, below, entry, f"{prefix}{name}", types, classes)


def _contents(expression: str, value: Any, types: _Types) -> list[tuple[str, Any, str]]:
    """Name, value and type of the fields of an object or the entries of a list; "" for the type of an unknown field.

    expression: without marks.
    """
    if isinstance(value, dict):
        known = types.get(expression)
        return [] if known is None else [(name, entry, known.get(name, "")) for name, entry in value.items()]
    if isinstance(value, list) and expression.startswith("[]"):
        below = schema.bare(expression[2:])
        return [(f"[{index}]", entry, below) for index, entry in enumerate(value)]
    return []


@cache
def _known_fields(release: Release) -> _Types:
    """The fields that a release knows, by type, and their types."""
    return {
        type_name: {
            name: schema.bare(schema.field_type(declaration))
            for name, declaration in declarations.items()
            if _is_known(schema.field_notes(declaration), release)
        }
        for type_name, declarations in schema.TYPES.items()
    }


def without_unknown_fields(expression: str, value: Any, release: Release) -> Any:
    """The value without unknown fields. A value of a wrong shape stays, for schema.canonical to reject."""
    return _without_unknown(schema.bare(expression), value, _known_fields(release))


def _without_unknown(expression: str, value: Any, types: _Types) -> Any:
    if isinstance(value, dict) and expression in types:
        known = types[expression]
        return {
            name: _without_unknown(known[name], entry, types) if isinstance(entry, (dict, list)) else entry
            for name, entry in value.items()
            if name in known
        }
    if isinstance(value, list) and expression.startswith("[]"):
        below = schema.bare(expression[2:])
        return [_without_unknown(below, entry, types) for entry in value]
    return value


def missing_fields(expression: str, spec: Any, release: Release, scalars: bool) -> list[str]:
    """The paths of required fields that a spec of the type lacks.

    A null is missing, too, and so is an entry that is null. scalars: whether texts, numbers and truth values are
    required: by KubeVirt's CustomResourceDefinitions, but not by virt-api, whose OpenAPI
    has defaults for them.
    """
    missing, required = [], _required(release)
    root = ReleaseField("spec", "", "", spec, schema.bare(expression))
    for field in (root, *_fields(expression, spec, "spec", release, (dict, type(None)))):
        if isinstance(field.value, dict):
            missing += [
                f"{field.path}.{name}"
                for name, scalar in required.get(field.expression, ())
                if field.value.get(name) is None and (scalars or not scalar)
            ]
        elif field.value is None and field.type_name.startswith("[]"):
            missing.append(field.path)
    return missing


@cache
def _required(release: Release) -> dict[str, list[tuple[str, bool]]]:
    """The required fields, by type, and whether each is a text, a number or a truth value."""
    return {
        type_name: [(name, kind in _SCALARS) for name, kind in known.items() if is_required(type_name, name, release)]
        for type_name, known in _known_fields(release).items()
    }


def is_required(type_name: str, name: str, release: Release = NEWEST) -> bool:
    """Whether an object without the field is rejected."""
    declaration = schema.TYPES[type_name][name]
    always_written = schema.field_type(declaration).endswith("!") and (type_name, name) not in _OPTIONAL
    written = always_written or _has(release, schema.field_notes(declaration), "written")
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
    types = _known_fields(release)
    originals = {name: entry for name, entry, _below in _contents(expression, original, types)}
    for name, entry, below in _contents(expression, value, types):
        _fill(below, entry, originals.get(name) or {}, release)


@cache
def _written_when_empty(type_name: str, release: Release) -> list[tuple[str, Any, bool]]:
    """The fields of a type that a release writes even if they are empty: name, zero value, whether only if declared."""
    return [
        (name, "" if expression == "string" else 0, not _has(release, notes, "written"))
        for name, expression in _known_fields(release).get(type_name, {}).items()
        for notes in [schema.field_notes(schema.TYPES[type_name][name])]
        if _has(release, notes, "written") or _has(release, notes, "kept")
    ]


def has_field(expression: str, name: str, release: Release) -> bool:
    """Whether a release knows the field of a type."""
    return name in _known_fields(release).get(schema.bare(expression), ())


def _is_known(notes: dict[str, str], release: Release) -> bool:
    return "since" not in notes or release.has(notes["since"])


def _has(release: Release, notes: dict[str, str], note: str) -> bool:
    return note in notes and release.has(notes[note])
