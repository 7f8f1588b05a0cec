"""Structural schemas of the kinds of KubeVirt, as its CustomResourceDefinitions have them, from the types of `fields`.

Types and required fields are those of the real definitions. As in KubeVirt, the webhooks check choices of text fields
(`ioThreadsPolicy: bogus` is stored), the range of uint32, and anything that involves other objects.
"""

from functools import cache
from typing import Any, Final

from _resolver.api import release_schema, schema
from _resolver.api.matcher import MATCHER_FIELDS

FREE: Final[dict[str, Any]] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
"""The schema of an object that is stored as it comes."""
QUANTITY_PATTERN: Final = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)

_SCALARS: Final[dict[str, dict[str, Any]]] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "uint": {"type": "integer"},
    "uint32": {"type": "integer", "format": "int32"},
    "Quantity": {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "pattern": QUANTITY_PATTERN,
        "x-kubernetes-int-or-string": True,
    },
    "IntOrString": {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True},
    "Time": {"type": "string", "format": "date-time", "nullable": True},
    "any": {"x-kubernetes-preserve-unknown-fields": True},
}

# The keywords by which the real schemas restrict more than the type.
_LIMITS: Final[dict[tuple[str, str], dict[str, Any]]] = {
    ("MemoryInstancetype", "overcommitPercent"): {"minimum": 0, "maximum": 100},
    ("ReservedOverhead", "memLock"): {"enum": ["NotRequired", "Required"]},
}


@cache
def schema_of(type_name: str) -> dict[str, Any]:
    """The OpenAPI schema of a type of `schema.TYPES`. Shared between callers, who must not change it."""
    if type_name == "ObjectMeta":
        return FREE  # of a template; kube-apiserver itself validates the object's own
    properties = {}
    required = []
    for name, declaration in schema.TYPES[type_name].items():
        expression = schema.field_type(declaration)
        if release_schema.is_required(type_name, name):
            required.append(name)
        properties[name] = {**_of(expression.rstrip("!")), **_LIMITS.get((type_name, name), {})}
    result: dict[str, Any] = {"type": "object"}
    if properties:
        result["properties"] = properties
    if required:
        result["required"] = required
    return result


def _of(expression: str) -> dict[str, Any]:
    if expression.startswith("*"):
        return _of(expression[1:])
    if expression.startswith("[]"):
        return {"type": "array", "items": _of(expression[2:])}
    if expression.startswith("map[string]"):
        return {"type": "object", "additionalProperties": _of(expression[len("map[string]") :])}
    if expression in schema.TYPES:
        return schema_of(expression)
    return _SCALARS.get(expression, _SCALARS["string"])


def definitions() -> list[dict[str, Any]]:
    """The CustomResourceDefinitions of instancetypes and preferences, as far as clients read them."""
    return [
        _definition(kind, scope, schema_of(matcher_field.spec_type))
        for matcher_field in MATCHER_FIELDS
        for kind, scope in ((matcher_field.kind, "Namespaced"), (matcher_field.cluster_kind, "Cluster"))
    ]


def _definition(kind: str, scope: str, spec: dict[str, Any]) -> dict[str, Any]:
    root = {"type": "object", "properties": {"spec": spec}, "required": ["spec"]}
    version = {"name": "v1beta1", "served": True, "storage": True, "schema": {"openAPIV3Schema": root}}
    group, plural = "instancetype.kubevirt.io", f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "names": {"kind": kind, "plural": plural}, "scope": scope, "versions": [version]},
    }
