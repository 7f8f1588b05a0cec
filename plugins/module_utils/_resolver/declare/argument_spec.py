"""Turns the fields of the schema into options of an Ansible module, and back.

An option has the field's name in snake case (`dedicatedCPUPlacement` → `dedicated_cpu_placement`) and the field's own
name as an alias. `schema.canonical` checks ranges and quantities.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from ..api.fields import ENUMS
from ..api.kinds import kind_meant
from ..api.manifest import Options
from ..api.matcher import MATCHER_FIELDS
from ..api.schema import INTEGERS, TYPES, bare, field_notes, field_type
from .option_checks import own_name

# A word starts at a capital after a small letter or digit, and at the last of several capitals.
_WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

# Exceptions: a module's option `annotations` sets the object's metadata.
_RENAMED: Final = {
    ("VirtualMachineInstancetypeSpec", "annotations"): "vm_annotations",
    ("VirtualMachinePreferenceSpec", "annotations"): "vm_annotations",
}

_PLAIN: Final = {
    "string": "str",
    "Time": "str",
    "Quantity": "str",
    "IntOrString": "str",
    "bool": "bool",
    **dict.fromkeys(INTEGERS, "int"),
    "any": "raw",
}


class OptionField(NamedTuple):
    """A field of a type, and its option.

    name: the field of the API. option: the name of the option. type: the type expression, without `*` and `!`.
    required: the API requires the field wherever the type is used.
    since: the KubeVirt releases that know it (older ones drop it silently), as `Release.has` reads them; "" for all.
    Descriptions are in `tools/descriptions`, because no module needs them at run time.
    """

    name: str
    option: str
    type: str
    required: bool
    since: str


@cache
def fields(type_name: str) -> tuple[OptionField, ...]:
    """The fields of a type (a key of `schema.TYPES`), in the order of the API."""
    return tuple(_field(type_name, name, declaration) for name, declaration in TYPES[type_name].items())


def options(type_name: str, *, required: bool = True) -> dict[str, dict[str, Any]]:
    """The argument spec of a type's fields: option name → type, elements, options, choices, required, aliases.

    required: mark the outermost options as required. A module that deletes objects or takes lists of them does not.
    """
    result = {}
    for field in fields(type_name):
        option = _option(field.type)
        if field.required and required:
            option["required"] = True
        if field.option != field.name and (type_name, field.name) not in _RENAMED:
            option["aliases"] = [field.name]
        if "pass" in field.option:
            # Ansible mistakes a passthrough for a password.
            option["no_log"] = False
        result[field.option] = option
    return result


def to_manifest(type_name: str, params: dict[str, Any]) -> dict[str, Any]:
    """A new object with the values of the options, in the spelling of the API.

    params: the parameters that Ansible passes. None means not given, at every depth; other values stay, also empty
    objects. Names that are no option of the type are ignored, so a module can pass all its parameters.
    """
    return {
        field.name: _value(field.type, params[field.option])
        for field in fields(type_name)
        if params.get(field.option) is not None
    }


def _field(type_name: str, name: str, declaration: Any) -> OptionField:
    expression = field_type(declaration)
    return OptionField(
        name=name,
        option=_RENAMED.get((type_name, name)) or _WORD.sub("_", name).lower(),
        type=bare(expression),
        required=expression.endswith("!"),
        since=field_notes(declaration).get("since", ""),
    )


def _option(expression: str) -> dict[str, Any]:
    if expression.startswith("map["):
        return {"type": "dict"}
    if expression.startswith("[]"):
        option = _option(expression[2:])
        return {**option, "type": "list", "elements": option["type"]}
    if expression in ENUMS:
        return {"type": "str", "choices": list(ENUMS[expression])}
    if expression in TYPES:
        inner = options(expression)
        return {"type": "dict", "options": inner} if inner else {"type": "dict"}
    return {"type": _PLAIN[expression]}


def _value(expression: str, value: Any) -> Any:
    if expression.startswith("[]") and isinstance(value, list):
        return [_value(expression[2:], entry) for entry in value]
    if expression in TYPES and isinstance(value, dict):
        return to_manifest(expression, value)
    return copy.deepcopy(value)


Spec = dict[str, Any]


# A text names the instancetype, or the preference, in every module that takes one.
_MATCHERS: Final = {matcher_field.name: "name" for matcher_field in MATCHER_FIELDS}


def expand_shorthand(options: Options, spec: Spec, shorthand: Mapping[str, str]) -> Options:
    """The options without shorthand: objects instead of texts, kinds as in the API. Invalid values stay unchanged.

    shorthand: options for which a text is short → the suboption that the text sets.
    """
    result = dict(options)
    for name, part in {**_MATCHERS, **shorthand}.items():
        # Ansible parses a text that contains an object.
        takes_object = (spec.get(name) or {}).get("type") == "dict"
        if takes_object and isinstance(result.get(name), str) and not set(result[name]) & set("{="):
            result[name] = {part: result[name]}
    for field in MATCHER_FIELDS:
        if field.name in spec and isinstance(result.get(field.name), dict):
            result[field.name] = _with_kind(result[field.name], (field.kind, field.cluster_kind))
    return _with_kind(result, spec["kind"].get("choices", ())) if "kind" in spec else result


def _with_kind(options: Options, kinds: Collection[str]) -> Options:
    """The options with the spelling of the API for their kind."""
    kind = options.get("kind")
    return {**options, "kind": kind_meant(kind, kinds) or kind} if isinstance(kind, str) else options


def merge_options(below: Options, above: Options, spec: Spec, exclusive: Iterable[Iterable[str]] = ()) -> Options:
    """Options on top of others: objects are merged, null removes the value below, other values replace it.

    spec: the argument spec of both. exclusive: groups of options that exclude each other; an option above removes the
    others of its group below.
    """
    result = dict(below)
    overrides = {own_name(key, spec): value for key, value in above.items()}
    for group in exclusive:
        if any(overrides.get(name) is not None for name in group):
            for name in group:
                if overrides.get(name) is None:
                    result.pop(name, None)
    for name, value in overrides.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            inner = spec.get(name) or {}
            inherited = result.get(name)
            result[name] = merge_options(
                inherited if isinstance(inherited, dict) else {},
                value,
                inner.get("options") or {},
                inner.get("mutually_exclusive") or (),
            )
        else:
            result[name] = value
    return result
