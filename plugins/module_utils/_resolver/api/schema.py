"""The canonical form of KubeVirt objects, as its Go types parse and write them.

`fields` holds the types as data; this module compiles a type to a function on first use. The canonical form has no
unknown fields, no empty optional fields, quantities in canonical text, and all fields that Go always writes
(``encoding/json`` with the types of KubeVirt's API).

The empty value of a field with the note `empty: undeclared` stays in the canonical form, but declares nothing, because
admission drops it or fills it in: an empty ``nodeSelector``, which Go would not write, conflicts with an instancetype,
unlike an absent one; `apply.applier` removes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Callable, Final, NamedTuple

from . import errors, fields, quantity
from .errors import FieldError
from .name_rules import did_you_mean, quoted
from .quantity import parse

Value = Any
Convert = Callable[[Value], Value]
Check = Callable[[Value], "tuple[str, str] | None"]

TYPES: Final = fields.TYPES


def canonical(type_name: str, value: dict[str, Any] | None) -> dict[str, Any]:
    """A new, canonical copy of an object of the named type (a key of TYPES); None counts as {}.

    Raises FieldError for a value of a wrong type, an invalid quantity or a number out of range.
    """
    return _converter(type_name, _CANONICAL)(value if value is not None else {})


def check_value(expression: str, value: Any) -> None:
    """Raises FieldError for a value of another type than the expression, such as `Quantity` or `[]string`."""
    _reader(expression, True, _CANONICAL)[1](value)


def as_declared(type_name: str, value: dict[str, Any]) -> dict[str, Any]:
    """A declared value in the API's spelling. Unlike `canonical`, it keeps unknown fields, and adds only to lists.

    A list belongs to one field manager as a whole, so that another spelling of an item is a conflict: items have what
    the server stores. Removes nulls and empty optional fields, which declare nothing. Raises FieldError like canonical.
    """
    return _converter(type_name, _DECLARED)(value)


@dataclass(frozen=True, eq=False, repr=False)
class Checks:
    """Checks beyond the types; each returns None, or (path below the field, what is wrong).

    fields: the checks by type and field. types: the checks of whole objects, by type. unknown_fields: reject unknown
    fields.
    """

    fields: Mapping[tuple[str, str], Check]
    types: Mapping[str, Check]
    unknown_fields: bool


def checked(type_name: str, value: dict[str, Any], checks: Checks) -> dict[str, Any]:
    """The result of `as_declared`. Raises FieldError for the findings of checks, too (see `formats.checked`)."""
    mode = _Mode(fill=False, unknown="refuse" if checks.unknown_fields else "keep", checks=checks)
    return _converter(type_name, mode)(value)


def type_of(manifest: dict[str, Any]) -> str:
    """The type of a manifest: its kind; cluster-wide kinds have the types of the namespaced kinds."""
    return str(manifest["kind"]).replace("VirtualMachineCluster", "VirtualMachine")


def field_type(declaration: Any) -> str:
    """The type expression of a field's declaration, without notes."""
    return declaration if isinstance(declaration, str) else declaration[0]


def bare(expression: str) -> str:
    """A type expression without the marks of a pointer and of a field that is always written."""
    return expression.strip("*!")


def field_notes(declaration: Any) -> dict[str, str]:
    """The notes of a field's declaration; see `release_schema`."""
    return {} if isinstance(declaration, str) else declaration[1]


# A reader's result for a value that an optional field omits.
_EMPTY: Final = object()


# How to read a field's value: the class whose non-empty values are already canonical (most fields are strings or
# booleans, and so need no call), and a function for all other values except None. Python unpacks a plain tuple faster
# than a named one.
_Reader = tuple["type | None", Convert]


class _Mode(NamedTuple):
    """A mode of reading objects.

    fill: add the fields that Go always writes. unknown: the treatment of unknown fields. checks: beyond the types.
    nulls: fill in nulls, too, which the server does not store.
    """

    fill: bool
    unknown: str
    checks: Checks | None = None
    nulls: bool = False


_CANONICAL: Final = _Mode(fill=True, unknown="drop", nulls=True)
_DECLARED: Final = _Mode(fill=False, unknown="keep")


def _field_reader(type_name: str, name: str, mode: _Mode) -> _Reader:
    declaration = TYPES[type_name][name]
    expression = field_type(declaration)
    keeps_empty = mode.fill if "empty" in field_notes(declaration) else expression.endswith("!")
    reader = _reader(expression.rstrip("!"), keeps_empty, mode)
    check = mode.checks.fields.get((type_name, name)) if mode.checks is not None else None
    return reader if check is None else (None, _with_check(reader[1], check))


def _unknown_reader(type_name: str, name: str, mode: _Mode) -> _Reader:
    if mode.unknown == "refuse":
        hint = did_you_mean(name, TYPES[type_name])
        otherwise = " Otherwise" if hint.endswith("?") else "; or"
        raise FieldError(
            "", f"unknown field{hint}{otherwise} set accept_unknown_fields if a newer KubeVirt has the field"
        )
    return (None, lambda value: value if mode.unknown == "keep" else _EMPTY)


def _with_check(read: Convert, check: Check) -> Convert:
    """A reader that also checks the value."""

    def convert(value: Value) -> Value:
        result = read(value)
        finding = None if result is _EMPTY else check(result)
        if finding is not None:
            raise FieldError(*finding)
        return result

    return convert


@cache
def _converter(type_name: str, mode: _Mode) -> Callable[[Value], dict[str, Any]]:
    """A function that reads a Go struct."""
    declarations = TYPES[type_name]
    # Each is made on first use, because most of an API is never used; a plain dict is the fastest to read.
    readers: dict[str, _Reader] = {}
    zeros, types = _always_written(declarations) if mode.fill else ({}, {})
    if not mode.nulls:
        zeros = {name: zero for name, zero in zeros.items() if zero is not None}
    structs = [(name, partial(_converter(struct, mode), {})) for name, struct in types.items()]

    def make(name: str) -> _Reader:
        if name not in declarations:
            # Not kept: the number of unknown fields is unlimited.
            return _unknown_reader(type_name, name, mode)
        return readers.setdefault(name, _field_reader(type_name, name, mode))

    # The resolver spends nearly all its time here, so a field takes as few steps as possible.
    def convert(value: Value) -> dict[str, Any]:
        if value.__class__ is not dict and not isinstance(value, dict):
            raise FieldError("", f"expected an object, found {_describe(value)}")
        result = zeros.copy()
        if value:
            name = ""
            try:
                for name, entry in value.items():
                    if entry is None:
                        continue
                    try:
                        as_is, read = readers[name]
                    except KeyError:
                        as_is, read = make(name)
                    if entry.__class__ is as_is and entry:
                        result[name] = entry
                        continue
                    entry = read(entry)
                    if entry is not _EMPTY:
                        result[name] = entry
            except FieldError as error:
                raise error.with_parent(name) from None
        for name, make_empty in structs:
            if name not in result:
                result[name] = make_empty()
        return result

    check = mode.checks.types.get(type_name) if mode.checks is not None else None
    return convert if check is None else _with_check(convert, check)


def _always_written(declarations: dict[str, Any]) -> tuple[dict[str, Value], dict[str, str]]:
    """The fields that Go writes even if unset: plain fields with their zero value, structs with their type."""
    zeros: dict[str, Value] = {}
    structs: dict[str, str] = {}
    for name, declaration in declarations.items():
        expression = field_type(declaration)
        required = expression.endswith("!")
        expression = expression.rstrip("!")
        if expression in TYPES:
            structs[name] = expression
        elif required or _is_struct(expression):
            zeros[name] = _zero_value(expression)
    return zeros, structs


def _is_struct(expression: str) -> bool:
    """Whether Go holds the value as a struct, which `omitempty` never drops."""
    return expression in TYPES or expression in ("Quantity", "Time")


INTEGERS: Final = {
    "int": (-(2**63), 2**63 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint": (0, 2**64 - 1),
    "uint32": (0, 2**32 - 1),
}
"""Go's types of whole numbers, with the least and the largest."""

_ZEROS: Final[dict[str, Value]] = {
    "Quantity": "0",
    "Time": None,
    "bool": False,
    **dict.fromkeys((*INTEGERS, "IntOrString"), 0),
}


def _zero_value(expression: str) -> Value:
    """Go's zero value; nil for pointers, lists and maps."""
    if expression.startswith(("*", "[]", "map[")):
        return None
    # Everything else is a string, perhaps with choices.
    return _ZEROS.get(expression, "")


def _reader(expression: str, keeps_empty: bool, mode: _Mode) -> _Reader:
    if expression.startswith("*"):
        return _reader(expression[1:], True, mode)
    if expression.startswith("[]"):
        items = _reader(expression[2:], True, mode._replace(fill=True))
        return (None, _list(items, _null(expression[2:]), keeps_empty))
    if expression.startswith("map[string]"):
        inside = expression[len("map[string]") :]
        return (None, _map(_reader(inside, True, mode), _null(inside), keeps_empty))
    if expression in TYPES:
        return (None, _converter(expression, mode))
    scalar = "string" if expression in fields.ENUMS else expression
    read = _SCALARS[scalar]
    if not keeps_empty and not _is_struct(expression):
        read = _without_zero(read)
    return (_AS_IS.get(scalar), read)


def _without_zero(read: Convert) -> Convert:
    return lambda value: read(value) or _EMPTY


def _null(expression: str) -> Value:
    """The meaning of a null in a list or a map."""
    return {} if expression in TYPES else _zero_value(expression)


def _list(reader: _Reader, null: Value, keeps_empty: bool) -> Convert:
    as_is, read = reader

    def convert(value: Value) -> Value:
        if not isinstance(value, list):
            raise FieldError("", f"expected a list, found {_describe(value)}")
        if not value:
            return [] if keeps_empty else _EMPTY
        result = []
        try:
            for entry in value:
                result.append(entry if entry.__class__ is as_is else read(null if entry is None else entry))
        except FieldError as error:
            raise error.with_parent(f"[{len(result)}]") from None
        return result

    return convert


def _map(reader: _Reader, null: Value, keeps_empty: bool) -> Convert:
    as_is, read = reader

    def convert(value: Value) -> Value:
        if not isinstance(value, dict):
            raise FieldError("", f"expected an object, found {_describe(value)}")
        if not value:
            return {} if keeps_empty else _EMPTY
        result = {}
        for name, entry in value.items():
            if name.__class__ is not str and not isinstance(name, str):
                raise FieldError("", f"expected a string as key, found {_describe(name)}")
            try:
                result[name] = entry if entry.__class__ is as_is else read(null if entry is None else entry)
            except FieldError as error:
                raise error.with_parent(name) from None
        return result

    return convert


def _string(value: Value) -> str:
    if not isinstance(value, str):
        raise FieldError("", f"expected a string, found {_describe(value)}")
    return value


def _bool(value: Value) -> bool:
    if value is not True and value is not False:
        raise FieldError("", f"expected true or false, found {_describe(value)}")
    return value


def _integer(low: int, high: int) -> Convert:
    def convert(value: Value) -> int:
        if value.__class__ is not int and (not isinstance(value, int) or value is True or value is False):
            raise FieldError("", f"expected a whole number, found {_describe(value)}")
        if not low <= value <= high:
            raise FieldError("", f"{quoted(value)} is not between {low} and {high}")
        return value

    return convert


def _quantity(value: Value) -> str:
    if not isinstance(value, str):
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise FieldError("", f"expected a quantity such as 512Mi, found {_describe(value)}")
        value = quoted(value)
    try:
        return quantity.canonical(value.strip())
    except errors.QuantityError as error:
        raise FieldError("", f"{quoted(value)} is not a quantity; write a quantity such as 512Mi, 4Gi or 4G") from error


def _int_or_string(value: Value) -> int | str:
    return value if isinstance(value, str) else int(_SCALARS["int32"](value))


def _describe(value: Value) -> str:
    kinds = {dict: "an object", list: "a list", bool: "a boolean", type(None): "null"}
    return kinds.get(type(value)) or quoted(value)


# Scalars for which the class decides, whatever the value.
_AS_IS: Final = {"string": str, "Time": str, "bool": bool}

_SCALARS: Final[dict[str, Convert]] = {
    "string": _string,
    "bool": _bool,
    **{name: _integer(*bounds) for name, bounds in INTEGERS.items()},
    "Quantity": _quantity,
    "IntOrString": _int_or_string,
    "Time": _string,
    "any": lambda value: value,
}


def equal(expression: str, left: Any, right: Any) -> bool:
    """Whether two canonical values of a schema type expression have the same meaning.

    ``4Gi`` equals ``4294967296``; an empty list or map equals an absent one (None), but an empty object does not.
    """
    expression = bare(expression)
    if expression.startswith(("[]", "map[")) and not left and not right:
        return True
    if left is None or right is None:
        return left is right
    if expression.startswith("[]"):
        return len(left) == len(right) and all(equal(expression[2:], *pair) for pair in zip(left, right))
    if expression.startswith("map[string]"):
        value_type = expression[len("map[string]") :]
        return left.keys() == right.keys() and all(equal(value_type, left[key], right[key]) for key in left)
    if expression in TYPES:
        fields = TYPES[expression]
        return all(equal(field_type(fields[name]), left.get(name), right.get(name)) for name in {*left, *right})
    if expression == "Quantity":
        return parse(left).nanos == parse(right).nanos
    return bool(left == right)
