"""Compares the types of ``_resolver/api/fields`` with ``types.json``, KubeVirt's Go types by reflection.

Types are paired by where they occur, from the objects of the API downwards: the names in `fields` are
free to differ where Go has one name twice.
"""

import re
from typing import Any

GoTypes = dict[str, list[dict[str, Any]]]

ROOTS = {
    "kubevirt.io/api/core/v1.VirtualMachine": "VirtualMachine",
    "kubevirt.io/api/instancetype/v1beta1.VirtualMachineInstancetype": "VirtualMachineInstancetype",
    "kubevirt.io/api/instancetype/v1beta1.VirtualMachinePreference": "VirtualMachinePreference",
}

# Go types that `fields` has as scalars.
SCALARS = {
    "k8s.io/apimachinery/pkg/api/resource.Quantity": "Quantity",
    "k8s.io/apimachinery/pkg/apis/meta/v1.Time": "Time",
    "k8s.io/apimachinery/pkg/apis/meta/v1.FieldsV1": "any",
    "k8s.io/apimachinery/pkg/util/intstr.IntOrString": "IntOrString",
}
_PREFIX = re.compile(r"(\*|\[\]|map\[string\])*")


def pairs(go_types: GoTypes, types: dict[str, Any], plain: Any) -> dict[str, str]:
    """The type in `fields` for each Go type that the roots reach; `any` for one that stays as it is.

    types: schema.TYPES. plain: schema.field_type.
    """
    result: dict[str, str] = {}
    queue = list(ROOTS.items())
    while queue:
        go_name, name = queue.pop()
        if go_name in result or go_name not in go_types:
            continue
        result[go_name] = name
        for field in go_types[go_name]:
            declaration = "any" if name == "any" else types.get(name, {}).get(field["json"])
            if declaration is not None and "ref" in field:
                below = _bare(plain(declaration))
                # A type that is read somewhere counts, although it stays as it is elsewhere.
                queue.insert(0 if below == "any" else len(queue), (field["ref"], below))
    return result


def expected(go_types: GoTypes, go_name: str, names: dict[str, str]) -> dict[str, str]:
    """The fields of a Go type as `fields` would write them: type, and `!` where Go always writes the field."""
    fields = {}
    for field in go_types[go_name]:
        expression = field["type"]
        if "ref" in field:
            ref: str = field["ref"]
            bare = SCALARS.get(ref) or names.get(ref, ref)
            # An `any` may be null, so there is no pointer to it.
            expression = bare if bare == "any" else _prefix(expression) + bare
        if field.get("omitzero"):
            expression = f"*{expression}"
        fields[field["json"]] = expression if field.get("omitempty") or field.get("omitzero") else f"{expression}!"
    return fields


def declared(types: dict[str, Any], name: str, plain: Any, enums: Any) -> dict[str, str]:
    """The fields of a type of `fields`, choices read as the strings that they are to Go."""
    fields = {}
    for field, declaration in types.get(name, {}).items():
        expression = plain(declaration)
        if _bare(expression) in enums:
            expression = expression.replace(_bare(expression), "string")
        fields[field] = expression
    return fields


def _prefix(expression: str) -> str:
    match = _PREFIX.match(expression)
    return match.group() if match else ""


def _bare(expression: str) -> str:
    return expression[len(_prefix(expression)) :].rstrip("!")
