"""virt-api's response to PUT .../namespaces/NAMESPACE/expand-vm-spec: what it is given, and what `expand` makes of it.

The body is checked as by virt-api's own OpenAPI validation: types, required fields and, unlike kube-apiserver, unknown
fields.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import checkout  # noqa: F401  # pylint: disable=unused-import

from _resolver.api import release_schema
from _resolver.api.errors import FieldError, KubeVirtError, Panic, go_reason
from _resolver.kubevirt.config.cluster import Cluster
from _resolver.kubevirt.vmi.expand import expand
from crd_schemas import schema_of

Json = dict[str, Any]

_TOP_LEVEL: Final = ("apiVersion", "kind", "metadata", "spec", "status")
_QUANTITY_TYPES: Final = ("string", "integer", "number")
# Types whose zero value is the default of a required field, which may therefore be missing.
_DEFAULTED: Final = ("string", "boolean", "integer")
_TYPE_NAMES: Final = {str: "string", bool: "boolean", int: "number", float: "number", list: "array", dict: "object"}


class Response(NamedTuple):
    """code: of HTTP. body: the expanded VM, or a Status."""

    code: int
    body: Json


def expand_vm_spec(body: Any, namespace: str, cluster: Cluster) -> Response:
    """Expands the VM in a request's JSON body, in a namespace. All errors are 400; a panic of KubeVirt is 500."""
    result = list(_found(body))
    if result:
        return _bad_request("Object is not a valid VirtualMachine", {"causes": [{"message": text} for text in result]})
    try:
        vm = release_schema.canonical("VirtualMachine", body)
    except FieldError as error:
        return _unreadable(go_reason(error))
    if not namespace:
        return _bad_request("The request namespace must not be empty")
    if vm["metadata"].get("namespace", namespace) != namespace:
        return _bad_request(f"VM namespace must be empty or {namespace}")
    vm["metadata"]["namespace"] = namespace
    vm.update(apiVersion="kubevirt.io/v1", kind="VirtualMachine")
    try:
        return Response(200, expand(vm, cluster))
    except Panic as panic:
        return Response(500, _status(500, "InternalError", panic.message))
    except KubeVirtError as error:
        return _bad_request(error.message)


def _found(manifest: Json) -> Iterator[str]:
    for key in manifest:
        if key not in _TOP_LEVEL:
            yield f".{key} in body is a forbidden property"
    if "spec" not in manifest:
        yield "spec in body is required"
    yield from _mistakes(schema_of("VirtualMachineSpec"), manifest.get("spec"), "spec")


def _mistakes(expected: Json, value: Any, path: str) -> Iterator[str]:
    # Without a type every value is valid; a quantity may also be a number.
    types = _QUANTITY_TYPES if "anyOf" in expected else (expected["type"],) if "type" in expected else ()
    if types and not _is_of(types, value) and not (value is None and expected.get("nullable")):
        yield f'{path} in body must be of type {",".join(types)}: "{_type_name(value)}"'
    elif isinstance(value, list):
        # The path does not contain the index.
        for entry in value:
            yield from _mistakes(expected.get("items", {}), entry, path)
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
        if key not in value and properties[key].get("type") not in _DEFAULTED:
            yield f"{path}.{key} in body is required"


def _is_of(types: tuple[str, ...], value: Any) -> bool:
    name = _type_name(value)
    # JSON does not distinguish 1 and 1.0.
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
