"""From an OpenShift Template to a VirtualMachineTemplate, as ``virtctl template convert`` does it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from ...api import go_json, schema, unmarshal
from ...api.tree import copy

API_VERSION: Final = "template.kubevirt.io/v1beta1"
KIND: Final = "VirtualMachineTemplate"
_METADATA: Final = ("name", "namespace", "labels", "annotations")


class ConversionError(ValueError):
    """A Template that cannot be converted; the message is virtctl's."""


def convert(template: Any, object_labels: bool = False) -> dict[str, Any]:
    """The VirtualMachineTemplate for a Template of one object.

    object_labels: add the Template's `labels`, which OpenShift gives to all objects, to the VM; virtctl drops them.
    Raises ConversionError.
    """
    source = _with_texts("Template", template)
    problem = unmarshal.message("Template", source)
    if problem:
        raise ConversionError(f"error decoding Template: {problem}")
    objects = source.get("objects") or []
    if len(objects) != 1:
        raise ConversionError(f"template must contain exactly one object, found {len(objects)}")
    vm = copy(objects[0])
    if object_labels and source.get("labels") and isinstance(vm, dict):
        metadata = vm["metadata"] = vm.get("metadata") or {}
        metadata["labels"] = {**(metadata.get("labels") or {}), **source["labels"]}
    read = schema.canonical("Template", {**source, "objects": None})
    metadata = {name: read["metadata"][name] for name in _METADATA if name in read["metadata"]}
    parameters = read.get("parameters")
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        **({"metadata": metadata} if metadata else {}),
        "spec": {
            **({} if vm is None else {"virtualMachine": vm}),
            **({"parameters": parameters} if parameters else {}),
            **({"message": read["message"]} if "message" in read else {}),
        },
    }


def _with_texts(expression: str, value: Any) -> Any:
    """The value with a text where a number or a truth value is in place of one, as virtctl reads YAML."""
    expression = expression.lstrip("*").rstrip("!")
    if expression == "string" and isinstance(value, (bool, int, float)):
        return _text(value)
    if expression.startswith("[]") and isinstance(value, list):
        return [_with_texts(expression[2:], entry) for entry in value]
    if expression.startswith("map[string]") and isinstance(value, dict):
        return {key: _with_texts(expression[len("map[string]") :], entry) for key, entry in value.items()}
    if expression in schema.TYPES and isinstance(value, dict):
        fields = schema.TYPES[expression]
        return {
            name: _with_texts(schema.field_type(fields[name]) if name in fields else "any", entry)
            for name, entry in value.items()
        }
    return value


def _text(value: bool | int | float) -> str:
    """As Go's strconv writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    exact = Decimal(repr(value))
    exponent = exact.adjusted()
    if exact and not -4 <= exponent < 6:
        return f"{exact.scaleb(-exponent).normalize()}e{exponent:+03d}"
    return go_json.number(value)
