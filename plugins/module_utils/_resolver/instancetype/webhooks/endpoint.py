"""virt-api's answer to PUT .../namespaces/NAMESPACE/expand-vm-spec, which expands a VM that is nowhere stored.

The checks of the body are those of virt-api's own OpenAPI validation, which knows types, required fields and, other
than kube-apiserver, forbids unknown ones. Of several mistakes KubeVirt names them in random order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ...api import openapi, release_schema, schema
from ...api.errors import go_reason
from ...api.release import NEWEST, Release
from ..find.find import CRASH, Lookup
from ..vmi.defaults import Configuration
from ..vmi.expand import expand

__all__ = ["Response", "expand_vm_spec", "mistakes"]

Json = dict[str, Any]

_TOP_LEVEL: Final = ("apiVersion", "kind", "metadata", "spec", "status")
_QUANTITY_TYPES: Final = ("string", "integer", "number")
_TYPE_NAMES: Final = {str: "string", bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}


class Response(NamedTuple):
    """code: of HTTP. body: the expanded VM, or a Status."""

    code: int
    body: Json


def expand_vm_spec(
    body: Any, namespace: str, objects: Lookup, config: Configuration | None = None, release: Release = NEWEST
) -> Response:
    """Expands the VM of a request's JSON body in a namespace. All failures are 400; a panic of KubeVirt is 500."""
    if not isinstance(body, dict):
        kind = "bool" if isinstance(body, bool) else _type_name(body)
        return _unreadable(f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}")
    found = list(mistakes(body, release))
    if found:
        return _bad_request("Object is not a valid VirtualMachine", {"causes": [{"message": text} for text in found]})
    try:
        vm = release_schema.canonical("VirtualMachine", body, release)
    except schema.FieldError as error:
        return _unreadable(go_reason(error))
    if not namespace:
        return _bad_request("The request namespace must not be empty")
    if vm["metadata"].get("namespace", namespace) != namespace:
        return _bad_request(f"VM namespace must be empty or {namespace}")
    vm["metadata"]["namespace"] = namespace
    vm.update(apiVersion="kubevirt.io/v1", kind="VirtualMachine")
    expanded = expand(vm, objects, config, release)
    if expanded.error is not None:
        if expanded.error.reason == CRASH:
            return Response(500, _status(500, "InternalError", expanded.error.message))
        return _bad_request(expanded.error.message)
    return Response(200, expanded.vm or {})


def mistakes(vm: Json, release: Release = NEWEST) -> Iterator[str]:
    """What is wrong with a VM's manifest by the OpenAPI schema of a release's virt-api, in its words."""
    for key in vm:
        if key not in _TOP_LEVEL:
            yield f".{key} in body is a forbidden property"
    if "spec" not in vm:
        yield "spec in body is required"
    yield from _mistakes(openapi.schema_of("VirtualMachineSpec", release), vm.get("spec"), "spec")


def _mistakes(expected: Json, value: Any, path: str) -> Iterator[str]:
    # Without a type anything goes, and so does a quantity as a number.
    types = _QUANTITY_TYPES if "anyOf" in expected else (expected["type"],) if "type" in expected else ()
    if types and not _is_of(types, value) and not (value is None and expected.get("nullable")):
        yield f'{path} in body must be of type {",".join(types)}: "{_type_name(value)}"'
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _mistakes(expected.get("items", {}), entry, f"{path}.{index}")
    elif isinstance(value, dict):
        yield from _object_mistakes(expected, value, path)


def _object_mistakes(expected: Json, value: Json, path: str) -> Iterator[str]:
    properties = expected.get("properties", {})
    others = expected.get("additionalProperties")
    free = expected.get("x-kubernetes-preserve-unknown-fields", False)
    for key, entry in value.items():
        if key not in properties and others is not None:
            yield from _mistakes(others, entry, f"{path}.{key}")
        elif key not in properties and not free:
            yield f"{path}.{key} in body is a forbidden property"
    for key, entry in value.items():
        if key in properties:
            yield from _mistakes(properties[key], entry, f"{path}.{key}")
    for key in expected.get("required", ()):
        if key not in value:
            yield f"{path}.{key} in body is required"


def _is_of(types: tuple[str, ...], value: Any) -> bool:
    name = _type_name(value)
    # JSON does not tell 1 from 1.0.
    return name in types or (name == "number" and "integer" in types and value == int(value))


def _type_name(value: Any) -> str:
    return _TYPE_NAMES.get(type(value), "null")


def _unreadable(reason: str) -> Response:
    return _bad_request(f"Can not unmarshal Request body to struct, error: {reason}")


def _bad_request(message: str, details: Json | None = None) -> Response:
    status = _status(400, "BadRequest", message)
    if details is not None:
        status["details"] = details
    return Response(400, status)


def _status(code: int, reason: str, message: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Status",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
