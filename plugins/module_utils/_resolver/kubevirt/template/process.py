"""From a VirtualMachineTemplate and parameters to a VirtualMachine, as virt-template's API server and virtctl do it.

Also what its webhook says of a template. The VM is converted by apimachinery (``FromUnstructuredWithValidation``): by
reflection, field by field as Go declares them, down to a type that reads JSON by itself.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ...api import go_json, release_schema
from ...api.fields.domain import ENUMS
from ...api.names import nearest
from ...api.release import NEWEST, Release
from ...api.schema import INTEGERS, TYPES, bare, field_type
from .parameters import ExpressionError, generate
from .substitution import SubstitutionError, has_reference, references, substitute, substitute_text

_READS_JSON: Final = ("VirtualMachineInstanceSpec", "Quantity", "IntOrString")
_KINDS: Final = {str: "string", bool: "bool", list: "slice", dict: "map", int: "float64", float: "float64"}
_LAYOUT: Final = (
    *(("2006", r"[0-9]{4}"), ("-", "-"), ("01", r"[0-9]{2}"), ("-", "-"), ("02", r"[0-9]{2}"), ("T", "T")),
    *(("15", r"[0-9]{2}"), (":", ":"), ("04", r"[0-9]{2}"), (":", ":"), ("05", r"[0-9]{2}([.,][0-9]+)?")),
    ("Z07:00", r"Z|[+-][0-9]{2}:[0-9]{2}"),
)


def conversion_error(type_name: str, value: dict[str, Any]) -> str | None:
    """The error of a JSON object as a type (a key of schema.TYPES), or None.

    value: with whole numbers as int, however they are written.
    """
    unknown: list[str] = []
    try:
        _convert(type_name, value, "", unknown)
    except _Failed as error:
        return str(error)
    named = ", ".join(sorted(f'unknown field "{path}"' for path in unknown))
    return f"strict decoding error: {named}" if named else None


class _Failed(Exception):
    """The first error, in Go's words."""


def _convert(expression: str, value: Any, path: str, unknown: list[str]) -> None:
    expression = bare(expression)
    if value is None or expression == "any":
        return
    kind = _KINDS[type(value)]
    if expression in _READS_JSON:
        problem = go_json.type_error(expression, as_read(expression, value))
        if problem:
            raise _Failed(problem)
    elif expression == "Time":
        _check_time(value)
    elif expression in TYPES:
        if kind != "map":
            raise _Failed(f"cannot restore struct from: {kind}")
        for name, declaration in TYPES[expression].items():
            if name in value:
                _convert(field_type(declaration), value[name], f"{path}.{name}" if path else name, unknown)
        unknown += [f"{path}.{name}" if path else name for name in value if name not in TYPES[expression]]
    elif expression.startswith("[]"):
        if kind != "slice":
            raise _Failed(f"cannot restore slice from {kind}")
        for index, entry in enumerate(value):
            _convert(expression[2:], entry, f"{path}[{index}]", unknown)
    elif expression.startswith("map[string]"):
        if kind != "map":
            raise _Failed(f"cannot restore map from {kind}")
        for entry in value.values():
            _convert(expression[len("map[string]") :], entry, path, unknown)
    else:
        _check_scalar("string" if expression in ENUMS else expression, kind, value)


def _check_scalar(expression: str, kind: str, value: Any) -> None:
    if expression in INTEGERS and kind == "float64":
        if not isinstance(value, int) and value != 0:
            raise _Failed(f"cannot convert float64 to {expression}")
    elif expression != kind:
        raise _Failed(f"unrecognized type: {expression}")


def _check_time(value: Any) -> None:
    if not isinstance(value, str):
        kind = {list: "array", dict: "object", bool: "bool"}.get(type(value), "number")
        raise _Failed(f"json: cannot unmarshal {kind} into Go value of type string")
    rest = value
    for name, pattern in _LAYOUT:
        match = re.match(pattern, rest)
        if not match:
            raise _Failed(f'parsing time "{value}" as "2006-01-02T15:04:05Z07:00": cannot parse "{rest}" as "{name}"')
        rest = rest[match.end() :]
    if rest:
        raise _Failed(f'parsing time "{value}": extra text: "{rest}"')


def as_read(expression: str, value: Any) -> Any:
    """A JSON value with its fields in the order in which Go reads them, and named as Go takes them.

    Such types are read from JSON that Go has written, with sorted keys, so the first error is that of the first key;
    Go's JSON takes names of fields in any case.
    """
    expression = bare(expression)
    if isinstance(value, list) and expression.startswith("[]"):
        return [as_read(expression[2:], entry) for entry in value]
    if not isinstance(value, dict):
        return value
    if expression.startswith("map[string]"):
        return {key: as_read(expression[len("map[string]") :], value[key]) for key in sorted(value)}
    fields = TYPES.get(expression, {})
    by_folded = {name.lower(): name for name in fields}
    read: dict[str, Any] = {}
    for key in sorted(value):
        name = key if key in fields else by_folded.get(key.lower(), key)
        read[name] = as_read(field_type(fields[name]) if name in fields else "any", value[key])
    return read


_API_VERSION: Final = "kubevirt.io/v1"
_KIND: Final = "VirtualMachine"
# A name, a number and a quantity.
_ANY_VALUE: Final = "1"
_WORDS: Final = {
    "FieldValueInvalid": "Invalid value",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueRequired": "Required value",
}
_JSON_TYPES: Final = {str: "string", bool: "bool", list: "array"}
_OBJECT: Final = "map[string]interface {}"
# In the order in which Go writes them.
_PARAMETER: Final = ("name", "displayName", "description", "value", "generate", "from", "required")


class TemplateError(NamedTuple):
    """Why a template is not processed.

    stage: merge (a parameter that the template lacks), references (to undefined parameters), process. type, field,
    value, detail: of apimachinery's field error; the value may be the whole VM, with its secrets.
    """

    stage: str
    type: str
    field: str
    value: Any
    detail: str

    @property
    def body(self) -> str:
        """The error without its field, in apimachinery's words."""
        parts = [_WORDS[self.type]]
        if self.type != "FieldValueRequired":
            parts.append(_shown(self.value))
        return ": ".join([*parts, self.detail] if self.detail else parts)

    @property
    def message(self) -> str:
        """The error in apimachinery's words."""
        return f"{self.field}: {self.body}" if self.field else self.detail


def _shown(value: Any) -> str:
    """A field error's value as Go prints it."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        # Parameters are structs.
        fields = [{name: entry[name] for name in _PARAMETER if entry.get(name)} for entry in value]
        return f"[{','.join(map(go_json.write_struct, fields))}]"
    return go_json.write(value)


@dataclass(frozen=True)
class Processed:
    """errors: if there are any, the template is refused. warnings: virt-template's. generated: values by parameter.

    vm: the VirtualMachine as Go's types have it. substituted: the VirtualMachine before that, as the template has it;
    also there if only its fields are wrong.
    """

    errors: tuple[TemplateError, ...] = ()
    warnings: tuple[str, ...] = ()
    generated: Mapping[str, str] | None = None
    substituted: dict[str, Any] | None = None
    vm: dict[str, Any] | None = None
    message: str = ""


def process(template: dict[str, Any], parameters: Mapping[str, str], seed: str, release: Release = NEWEST) -> Processed:
    """Processes a VirtualMachineTemplate.

    parameters: values by name. seed: of generated values; see `expression`. release: whose types `vm` has; the API
    server of virt-template knows those of one release only.
    """
    spec = template.get("spec") or {}
    declared = [dict(parameter) for parameter in spec.get("parameters") or []]
    for name, value in parameters.items():
        parameter = next((entry for entry in declared if entry.get("name", "") == name), None)
        if parameter is None:
            return Processed((TemplateError("merge", "", "", name, f"parameter {name} not found in template"),))
        parameter["value"] = value
    return _process(spec, declared, seed, release)


class Example(NamedTuple):
    """vm: of a template, as it is before Go's types; None if it makes none. open: the parameters without a value.

    refusal: why virt-template refuses the template, or "".
    """

    vm: dict[str, Any] | None
    open: frozenset[str]
    refusal: str


def example(template: dict[str, Any]) -> Example:
    """What a template makes of the default values of its parameters; of a parameter without one, any value."""
    declared = (template.get("spec") or {}).get("parameters") or []
    unset = {str(entry.get("name")) for entry in declared if not entry.get("value") and not entry.get("generate")}
    processed = process(template, dict.fromkeys(unset, _ANY_VALUE), "")
    names = [str(entry.get("name") or "") for entry in declared]
    return Example(processed.substituted, frozenset(unset), refusal(processed.errors, names))


def review(template: dict[str, Any]) -> Processed:
    """What virt-template's webhook says of a template that is created or changed: it processes the template, unless a
    required parameter has no value."""
    spec = template.get("spec") or {}
    declared = spec.get("parameters") or []
    result = _check_references(spec, declared)
    if result.errors:
        return result
    skipped = tuple(
        f'processing validation skipped: required parameter "{parameter.get("name", "")}" has neither value nor'
        " generator"
        for parameter in declared
        if parameter.get("required") and not parameter.get("value") and not parameter.get("generate")
    )
    if skipped:
        return Processed(warnings=result.warnings + skipped)
    return _process(spec, declared, "", NEWEST)


def _process(spec: dict[str, Any], declared: list[dict[str, Any]], seed: str, release: Release) -> Processed:
    checked = _check_references(spec, declared)
    if checked.errors:
        return checked
    values: dict[str, str] = {}
    generated: dict[str, str] = {}
    for index, parameter in enumerate(declared):
        error = _add_value(values, generated, parameter, f"spec.parameters[{index}]", seed)
        if error:
            return Processed((error,), checked.warnings)
    try:
        vm = go_json.numbers(spec["virtualMachine"])
    except OverflowError:
        detail = "error decoding virtualMachine: a number is larger than a 64-bit float"
        return Processed((TemplateError("process", "FieldValueInvalid", "spec.virtualMachine.raw", "", detail),))
    _drop_namespace(vm)
    try:
        vm = substitute(vm, values)
    except SubstitutionError as error:
        detail = f"error processing template: {error}"
        return Processed(
            (TemplateError("process", "FieldValueInvalid", "spec.parameters", declared, detail),), checked.warnings
        )
    problem = conversion_error(_KIND, vm)
    if problem:
        detail = f"failed to convert unstructured object to VirtualMachine: {problem}"
        invalid = TemplateError("process", "FieldValueInvalid", "spec.virtualMachine", vm, detail)
        return Processed((invalid,), checked.warnings, generated, vm)
    message = substitute_text(spec.get("message") or "", values)
    return Processed((), checked.warnings, generated, vm, _typed(vm, release), message)


def _check_references(spec: dict[str, Any], declared: list[dict[str, Any]]) -> Processed:
    """Parameters that nothing refers to, which is a warning, and references to undefined ones."""
    vm = spec.get("virtualMachine")
    if vm is None:
        detail = "virtualMachine is required and cannot be empty"
        return Processed((TemplateError("references", "FieldValueInvalid", "spec.virtualMachine", None, detail),))
    if not isinstance(vm, dict):
        kind = _JSON_TYPES.get(type(vm), "number")
        detail = f"error decoding virtualMachine: json: cannot unmarshal {kind} into Go value of type {_OBJECT}"
        raw = base64.b64encode(json.dumps(vm).encode()).decode()
        return Processed((TemplateError("references", "FieldValueInvalid", "spec.virtualMachine.raw", raw, detail),))
    referenced = dict.fromkeys([*references(vm), *references(spec.get("message") or "")])
    defined = {parameter.get("name", ""): index for index, parameter in enumerate(declared)}
    return Processed(
        tuple(
            TemplateError(
                "references", "FieldValueInvalid", "spec.virtualMachine", name, f"references undefined parameter {name}"
            )
            for name in referenced
            if name not in defined
        ),
        tuple(
            f"spec.parameters[{index}].name: {name} is defined but never referenced"
            for name, index in defined.items()
            if name not in referenced
        ),
    )


def _add_value(
    values: dict[str, str], generated: dict[str, str], parameter: dict[str, Any], path: str, seed: str
) -> TemplateError | None:
    """Adds the parameter's value to values, and to generated if it is generated."""
    name, value = parameter.get("name", ""), parameter.get("value") or ""
    generator, expression = parameter.get("generate") or "", parameter.get("from") or ""

    def invalid(field: str, given: str, detail: str) -> TemplateError:
        return TemplateError("process", "FieldValueInvalid", f"{path}.{field}", given, detail)

    if not name:
        return invalid("name", name, "parameter name is empty")
    if name in values:
        return TemplateError("process", "FieldValueDuplicate", f"{path}.name", name, "")
    if not value and generator:
        if generator != "expression":
            return invalid("generate", generator, f"unknown generator name '{generator}' for parameter '{name}'")
        if not expression:
            detail = f"from cannot be empty for parameter '{name}' using generator '{generator}'"
            return invalid("from", expression, detail)
        try:
            value = generated[name] = generate(expression, f"{name} {seed}")
        except ExpressionError as error:
            return invalid("from", expression, str(error))
    if not value and parameter.get("required"):
        detail = f"parameter '{name}' is required and a value must be specified"
        return TemplateError("process", "FieldValueRequired", f"{path}.value", None, detail)
    values[name] = value
    return None


def _drop_namespace(vm: dict[str, Any]) -> None:
    """Removes a namespace that is no reference: where the VM goes is left to the user."""
    metadata = vm.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    if isinstance(namespace, str) and namespace and not has_reference(namespace):
        del metadata["namespace"]  # type: ignore[union-attr]


def _typed(vm: dict[str, Any], release: Release) -> dict[str, Any]:
    """The VM as Go's types write it."""
    vm = _without_negative_zero(vm)
    template = (vm.get("spec") or {}).get("template") or {}
    if "spec" in template:
        template["spec"] = as_read("VirtualMachineInstanceSpec", template["spec"])
        # The one thing that the canonical form keeps and Go does not.
        if template["spec"] and not template["spec"].get("nodeSelector"):
            template["spec"].pop("nodeSelector", None)
    typed = release_schema.canonical(_KIND, vm, release)
    typed.update(apiVersion=_API_VERSION, kind=_KIND)
    return typed


def _without_negative_zero(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_negative_zero(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_without_negative_zero(entry) for entry in value]
    return 0 if isinstance(value, float) and value == 0 else value


def refusal(errors: Iterable[TemplateError], known: Iterable[str]) -> str:
    """Why a template is refused, in one line without the VM, which has secrets, and what to do.

    known: the names of the template's parameters.
    """
    return "; ".join(_described(error, list(known)) for error in errors)


def _described(error: TemplateError, known: list[str]) -> str:
    if error.stage == "merge":
        return f"{error.detail}{nearest(error.value, known)}"
    if error.stage == "references" and error.field == "spec.virtualMachine" and error.value:
        return (
            f"{error.field}: {error.detail}; define it in spec.parameters, or write ${{DOLLAR}}{{{error.value}}} with a"
            " parameter DOLLAR of the value $ if the guest shall read it"
        )
    text = f"{error.field}: {error.detail}" if error.detail else f"{error.field}: {error.value} is there twice"
    return f"{text}; give it in parameters" if error.type == "FieldValueRequired" else text
