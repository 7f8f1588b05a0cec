"""From a VirtualMachineTemplate and parameters to a VirtualMachine, as virt-template's API server and virtctl do it.

`validate` is its webhook for templates. Values that they refuse are refused here, with errors of our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from .._resolver.api import release_schema, schema
from .._resolver.api.errors import FieldError
from .._resolver.api.name_rules import did_you_mean, quoted
from .._resolver.api.release import NEWEST, Release
from .._resolver.api.schema import INTEGERS, TYPES, bare, field_type
from . import go_json
from .parameters import generate
from .substitution import has_reference, references, substitute, substitute_text

UNKNOWN_FIELD: Final = "unknown field"
_VM: Final = "spec.virtualMachine"
_VMI_SPEC: Final = "VirtualMachineInstanceSpec"
_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}([.,]\d+)?(Z|[+-]\d{2}:\d{2})", re.ASCII)


def _time(value: str) -> tuple[str, str] | None:
    return None if _TIME.fullmatch(value) else ("", f"{quoted(value)} is not a time such as 2026-01-02T15:04:05Z")


_CHECKS: Final = schema.Checks(
    {
        (type_name, name): _time
        for type_name, fields in TYPES.items()
        for name, declaration in fields.items()
        if bare(field_type(declaration)) == "Time"
    },
    {},
    unknown_fields=False,
)


def check_vm(vm: dict[str, Any]) -> None:
    """Raises FieldError for a VM that virt-template cannot read: values of wrong types, and unknown fields outside of
    `spec.template.spec`, where it drops them."""
    spec = vm.get("spec") if isinstance(vm.get("spec"), dict) else None
    template = spec.get("template") if spec else None
    if isinstance(template, dict) and "spec" in template:
        vm = {**vm, "spec": {**(spec or {}), "template": {**template, "spec": None}}}
        guest = with_go_names(_VMI_SPEC, template["spec"])
    else:
        guest = None
    schema.checked(_KIND, _without_negative_zero(vm), _CHECKS)
    if guest is not None:
        try:
            schema.check_value(_VMI_SPEC, guest)
        except FieldError as error:
            raise error.with_parent("spec.template.spec") from None
    unknown = release_schema.unknown(_KIND, vm, NEWEST)
    if unknown:
        raise FieldError.joined(
            [
                FieldError(field.path, f"{UNKNOWN_FIELD}{did_you_mean(field.name, TYPES[field.type_name])}")
                for field in unknown
            ]
        )


def with_go_names(expression: str, value: Any) -> Any:
    """A JSON value with its fields named as Go takes them: in any case, of several the last in the order of sorting."""
    expression = bare(expression)
    if isinstance(value, list) and expression.startswith("[]"):
        return [with_go_names(expression[2:], item) for item in value]
    if isinstance(value, float) and value == 0 and INTEGERS.get(expression, (0, 0))[0] < 0:
        # Go reads -0 as a signed number only.
        return 0
    if not isinstance(value, dict):
        return value
    if expression.startswith("map[string]"):
        return {key: with_go_names(expression[len("map[string]") :], value[key]) for key in sorted(value)}
    fields = TYPES.get(expression, {})
    by_folded = {name.lower(): name for name in fields}
    read: dict[str, Any] = {}
    for key in sorted(value):
        name = key if key in fields else by_folded.get(key.lower(), key)
        read[name] = with_go_names(field_type(fields[name]) if name in fields else "any", value[key])
    return read


_API_VERSION: Final = "kubevirt.io/v1"
_KIND: Final = "VirtualMachine"
# A name, a number and a quantity.
_ANY_VALUE: Final = "1"


@dataclass(frozen=True)
class Processed:
    """The outcome of processing a template.

    errors: if there are any, the template is refused. warnings: virt-template's. generated: values by parameter.

    vm: the VirtualMachine as Go's types have it. substituted: the VirtualMachine before that, as the template has it;
    also there if only its fields are wrong.
    """

    errors: tuple[FieldError, ...] = ()
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
            hint = did_you_mean(name, [item["name"] for item in declared if item.get("name")])
            return Processed((FieldError("", f"parameter {name} not found in template{hint}"),))
        parameter["value"] = value
    errors, warnings = _check_references(spec, declared)
    return Processed(errors, warnings) if errors else _process(spec, declared, warnings, seed, release)


class TrialVM(NamedTuple):
    """A VM that a template makes without values of a user.

    vm: the VM of a template, as it is before Go's types; None if it makes none.

    open: the parameters without a value.

    refusal: why virt-template refuses the template, or "".
    """

    vm: dict[str, Any] | None
    open: frozenset[str]
    refusal: str


def trial_vm(template: dict[str, Any]) -> TrialVM:
    """The template's VM for the default values of its parameters; a parameter without a default has any value."""
    declared = (template.get("spec") or {}).get("parameters") or []
    unset = {str(item.get("name")) for item in declared if not item.get("value") and not item.get("generate")}
    processed = process(template, dict.fromkeys(unset, _ANY_VALUE), "")
    return TrialVM(processed.substituted, frozenset(unset), refusal(processed.errors))


def validate(template: dict[str, Any]) -> Processed:
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
) -> tuple[tuple[FieldError, ...], tuple[str, ...]]:
    """References to undefined parameters, which are errors, and warnings of parameters that nothing refers to."""
    vm = spec.get("virtualMachine")
    if vm is None:
        return (FieldError(_VM, "required; set it to the VM's manifest, with metadata and spec"),), ()
    if not isinstance(vm, dict):
        return (FieldError(_VM, "expected the VM's manifest, with metadata and spec"),), ()
    referenced = dict.fromkeys([*references(vm), *references(spec.get("message") or "")])
    defined = {parameter.get("name", ""): index for index, parameter in enumerate(declared)}
    return (
        tuple(
            FieldError(
                _VM,
                f"references undefined parameter {name}; define it in spec.parameters, or write ${{DOLLAR}}{{{name}}}"
                " with a parameter DOLLAR of the value $ if the guest shall read it",
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


def _process(
    spec: dict[str, Any], declared: list[dict[str, Any]], warnings: tuple[str, ...], seed: str, release: Release
) -> Processed:
    """Processes a template whose references are right."""
    try:
        values, generated = _values(declared, seed)
        vm = _substituted(spec["virtualMachine"], values)
    except FieldError as error:
        return Processed((error,), warnings)
    try:
        check_vm(vm)
    except FieldError as error:
        return Processed((error.with_parent(_VM),), warnings, generated, vm)
    message = substitute_text(spec.get("message") or "", values)
    return Processed((), warnings, generated, vm, _go_form(vm, release), message)


def _values(declared: list[dict[str, Any]], seed: str) -> tuple[dict[str, str], dict[str, str]]:
    """The values of all parameters, and of the generated ones alone."""
    values: dict[str, str] = {}
    generated: dict[str, str] = {}
    for index, parameter in enumerate(declared):
        name, path = parameter.get("name", ""), f"spec.parameters[{index}]"
        if not name:
            raise FieldError(f"{path}.name", "is empty; give the parameter a name")
        if name in values:
            raise FieldError(f"{path}.name", f"{name} is there twice")
        value = parameter.get("value") or ""
        if not value and parameter.get("generate"):
            value = generated[name] = _generated(parameter, path, seed)
        if not value and parameter.get("required"):
            raise FieldError(f"{path}.value", f"parameter '{name}' is required; give it in parameters")
        values[name] = value
    return values, generated


def _generated(parameter: dict[str, Any], path: str, seed: str) -> str:
    name, generator, expression = parameter["name"], parameter["generate"], parameter.get("from") or ""
    if generator != "expression":
        raise FieldError(f"{path}.generate", f"{quoted(generator)} is no generator; write expression")
    if not expression:
        raise FieldError(f"{path}.from", "is empty; write an expression such as vm-[a-z0-9]{5}")
    try:
        return generate(expression, f"{name} {seed}")
    except FieldError as error:
        raise error.with_parent(f"{path}.from") from None


def _substituted(vm: dict[str, Any], values: dict[str, str]) -> dict[str, Any]:
    try:
        vm = go_json.numbers(vm)
        _drop_namespace(vm)
        return dict(substitute(vm, values))
    except OverflowError:
        raise FieldError(_VM, "a number is larger than a 64-bit float") from None
    except FieldError as error:
        raise error.with_parent("spec.parameters") from None


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
        template["spec"] = with_go_names(_VMI_SPEC, template["spec"])
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


def refusal(errors: Iterable[FieldError]) -> str:
    """Why a template is refused, in one line, and what to do; "" if it is not."""
    return "; ".join(map(str, errors))
