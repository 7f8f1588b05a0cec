"""From a VirtualMachineTemplate and parameters to a VirtualMachine, as virt-template's API server and virtctl do it.

Also what its webhook says of a template.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ...api import go_json, release_schema
from ...api.names import nearest
from ...api.release import NEWEST, Release
from . import conversion
from .expression import ExpressionError, generate
from .substitution import SubstitutionError, has_reference, references, substitute, substitute_text

_API_VERSION: Final = "kubevirt.io/v1"
_KIND: Final = "VirtualMachine"
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
    problem = conversion.message(_KIND, vm)
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
        template["spec"] = conversion.as_read("VirtualMachineInstanceSpec", template["spec"])
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
