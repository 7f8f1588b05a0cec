"""From a VirtualMachineTemplate and parameters to a VirtualMachine, as virt-template's API server and virtctl do it.

`review` is its webhook for templates. The VM is converted by apimachinery (``FromUnstructuredWithValidation``): by
reflection, field by field as Go declares them, down to a type that reads JSON by itself.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from .._resolver.api import go_json, release_schema, schema
from .._resolver.api.errors import FieldError, go_reason
from .._resolver.api.fields.domain import ENUMS
from .._resolver.api.name_rules import did_you_mean
from .._resolver.api.release import NEWEST, Release
from .._resolver.api.schema import INTEGERS, TYPES, bare, field_type
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

    value: whole numbers are int, in any spelling.
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
        try:
            schema.check_value(expression, as_read(expression, value))
        except FieldError as error:
            raise _Failed(go_reason(error)) from None
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
        for index, item in enumerate(value):
            _convert(expression[2:], item, f"{path}[{index}]", unknown)
    elif expression.startswith("map[string]"):
        if kind != "map":
            raise _Failed(f"cannot restore map from {kind}")
        for item in value.values():
            _convert(expression[len("map[string]") :], item, path, unknown)
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
        return [as_read(expression[2:], item) for item in value]
    if isinstance(value, float) and value == 0 and INTEGERS.get(expression, (0, 0))[0] < 0:
        # Go reads -0 as a signed number only.
        return 0
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

    field, value, detail, type: as in apimachinery's field error; the value may be the whole VM, with its secrets.
    stage: merge (a parameter that the template lacks), references (to undefined parameters), process.
    """

    field: str
    value: Any
    detail: str
    stage: str = "process"
    type: str = "FieldValueInvalid"

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
        fields = [{name: item[name] for name in _PARAMETER if item.get(name)} for item in value]
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

    parameters: values by name. seed: see `pattern`. release: the release whose types `vm` has; the API
    server of virt-template knows the types of one release only.
    """
    spec = template.get("spec") or {}
    declared = [dict(parameter) for parameter in spec.get("parameters") or []]
    for name, value in parameters.items():
        parameter = next((item for item in declared if item.get("name", "") == name), None)
        if parameter is None:
            return Processed((TemplateError("", name, f"parameter {name} not found in template", "merge", ""),))
        parameter["value"] = value
    errors, warnings = _check_references(spec, declared)
    return Processed(errors, warnings) if errors else _process(spec, declared, warnings, seed, release)


class Example(NamedTuple):
    """vm: the VM of a template, as it is before Go's types; None if it makes none.

    open: the parameters without a value.

    refusal: why virt-template refuses the template, or "".
    """

    vm: dict[str, Any] | None
    open: frozenset[str]
    refusal: str


def example(template: dict[str, Any]) -> Example:
    """The template's VM for the default values of its parameters; a parameter without a default has any value."""
    declared = (template.get("spec") or {}).get("parameters") or []
    unset = {str(item.get("name")) for item in declared if not item.get("value") and not item.get("generate")}
    processed = process(template, dict.fromkeys(unset, _ANY_VALUE), "")
    names = [str(item.get("name") or "") for item in declared]
    return Example(processed.substituted, frozenset(unset), refusal(processed.errors, names))


def review(template: dict[str, Any]) -> Processed:
    """The answer of virt-template's webhook to a new or changed template: it processes the template, unless a
    required parameter has no value."""
    spec = template.get("spec") or {}
    declared = spec.get("parameters") or []
    errors, warnings = _check_references(spec, declared)
    if errors:
        return Processed(errors, warnings)
    skipped = tuple(
        f'processing validation skipped: required parameter "{parameter.get("name", "")}" has neither value nor'
        " generator"
        for parameter in declared
        if parameter.get("required") and not parameter.get("value") and not parameter.get("generate")
    )
    return Processed(warnings=warnings + skipped) if skipped else _process(spec, declared, warnings, "", NEWEST)


def _check_references(
    spec: dict[str, Any], declared: list[dict[str, Any]]
) -> tuple[tuple[TemplateError, ...], tuple[str, ...]]:
    """References to undefined parameters, which are errors, and warnings of parameters that nothing refers to."""
    vm, field = spec.get("virtualMachine"), "spec.virtualMachine"
    if vm is None:
        return (TemplateError(field, None, "virtualMachine is required and cannot be empty", "references"),), ()
    if not isinstance(vm, dict):
        kind = _JSON_TYPES.get(type(vm), "number")
        detail = f"error decoding virtualMachine: json: cannot unmarshal {kind} into Go value of type {_OBJECT}"
        raw = base64.b64encode(json.dumps(vm).encode()).decode()
        return (TemplateError(f"{field}.raw", raw, detail, "references"),), ()
    referenced = dict.fromkeys([*references(vm), *references(spec.get("message") or "")])
    defined = {parameter.get("name", ""): index for index, parameter in enumerate(declared)}
    return (
        tuple(
            TemplateError(field, name, f"references undefined parameter {name}", "references")
            for name in referenced
            if name not in defined
        ),
        tuple(
            f"spec.parameters[{index}].name: {name} is defined but never referenced"
            for name, index in defined.items()
            if name not in referenced
        ),
    )


class _Refused(Exception):
    """The template is refused; the arguments are its TemplateErrors."""


def _process(
    spec: dict[str, Any], declared: list[dict[str, Any]], warnings: tuple[str, ...], seed: str, release: Release
) -> Processed:
    """Processes a template whose references are right."""
    try:
        values, generated = _values(declared, seed)
        vm = _substituted(spec["virtualMachine"], values, declared)
    except _Refused as refused:
        return Processed(refused.args, warnings)
    problem = conversion_error(_KIND, vm)
    if problem:
        detail = f"failed to convert unstructured object to VirtualMachine: {problem}"
        return Processed((TemplateError("spec.virtualMachine", vm, detail),), warnings, generated, vm)
    message = substitute_text(spec.get("message") or "", values)
    return Processed((), warnings, generated, vm, _go_form(vm, release), message)


def _values(declared: list[dict[str, Any]], seed: str) -> tuple[dict[str, str], dict[str, str]]:
    """The values of all parameters, and of those that are generated."""
    values: dict[str, str] = {}
    generated: dict[str, str] = {}
    for index, parameter in enumerate(declared):
        name, path = parameter.get("name", ""), f"spec.parameters[{index}]"
        if not name:
            raise _Refused(TemplateError(f"{path}.name", name, "parameter name is empty"))
        if name in values:
            raise _Refused(TemplateError(f"{path}.name", name, "", type="FieldValueDuplicate"))
        value = parameter.get("value") or ""
        if not value and parameter.get("generate"):
            value = generated[name] = _generated(parameter, path, seed)
        if not value and parameter.get("required"):
            detail = f"parameter '{name}' is required and a value must be specified"
            raise _Refused(TemplateError(f"{path}.value", None, detail, type="FieldValueRequired"))
        values[name] = value
    return values, generated


def _generated(parameter: dict[str, Any], path: str, seed: str) -> str:
    name, generator, expression = parameter["name"], parameter["generate"], parameter.get("from") or ""
    if generator != "expression":
        detail = f"unknown generator name '{generator}' for parameter '{name}'"
        raise _Refused(TemplateError(f"{path}.generate", generator, detail))
    if not expression:
        detail = f"from cannot be empty for parameter '{name}' using generator '{generator}'"
        raise _Refused(TemplateError(f"{path}.from", expression, detail))
    try:
        return generate(expression, f"{name} {seed}")
    except ExpressionError as error:
        raise _Refused(TemplateError(f"{path}.from", expression, str(error))) from None


def _substituted(vm: dict[str, Any], values: dict[str, str], declared: list[dict[str, Any]]) -> dict[str, Any]:
    try:
        vm = go_json.numbers(vm)
        _drop_namespace(vm)
        return dict(substitute(vm, values))
    except OverflowError:
        detail = "error decoding virtualMachine: a number is larger than a 64-bit float"
        raise _Refused(TemplateError("spec.virtualMachine.raw", "", detail)) from None
    except SubstitutionError as error:
        detail = f"error processing template: {error}"
        raise _Refused(TemplateError("spec.parameters", declared, detail)) from None


def _drop_namespace(vm: dict[str, Any]) -> None:
    """Removes a namespace that is no reference: where the VM goes is left to the user."""
    metadata = vm.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    if isinstance(namespace, str) and namespace and not has_reference(namespace):
        del metadata["namespace"]  # type: ignore[union-attr]


def _go_form(vm: dict[str, Any], release: Release) -> dict[str, Any]:
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
        return {key: _without_negative_zero(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_negative_zero(item) for item in value]
    return 0 if isinstance(value, float) and value == 0 else value


def refusal(errors: Iterable[TemplateError], known: Iterable[str]) -> str:
    """Why a template is refused, in one line without the VM, which has secrets, and what to do.

    known: the names of the template's parameters.
    """
    return "; ".join(_described(error, list(known)) for error in errors)


def _described(error: TemplateError, known: list[str]) -> str:
    if error.stage == "merge":
        return f"{error.detail}{did_you_mean(error.value, known)}"
    if error.stage == "references" and error.field == "spec.virtualMachine" and error.value:
        return (
            f"{error.field}: {error.detail}; define it in spec.parameters, or write ${{DOLLAR}}{{{error.value}}} with a"
            " parameter DOLLAR of the value $ if the guest shall read it"
        )
    text = f"{error.field}: {error.detail}" if error.detail else f"{error.field}: {error.value} is there twice"
    return f"{text}; give it in parameters" if error.type == "FieldValueRequired" else text
