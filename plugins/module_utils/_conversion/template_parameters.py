"""The parameters of a template whose VM gets an instancetype, which its users choose instead of CPUs and memory."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, NamedTuple

from .._resolver.api.manifest import Manifest
from .._resolver.api.matcher import INSTANCETYPE
from .._resolver.api.tree import value_at
from .._templates.substitution import references
from .modernize import FieldChange, RemainingField

PARAMETERS: Final = "spec.parameters"
_NAME: Final = "INSTANCETYPE"
_DOMAIN: Final = ("spec", "template", "spec", "domain")
# The fields in a domain that are the size of a guest.
_SIZES: Final = (
    *(("cpu", part) for part in ("sockets", "cores", "threads")),
    *(("memory", part) for part in ("guest", "maxGuest")),
    *(("resources", part, name) for part in ("requests", "limits") for name in ("cpu", "memory")),
)


class Replaced(NamedTuple):
    """The replacement of parameters. changes: the removed parameters. remaining: what is left to do for users."""

    changes: list[FieldChange]
    remaining: list[RemainingField]


def replace(spec: Manifest, before: Any, unset: Collection[str]) -> Replaced:
    """Removes parameters that only removed fields used; one for the instancetype replaces the parameters for the size.

    spec: the spec of the template with the new VM; changed in place. before: the VM before, with references. unset: the
    parameters without a default, whose instancetype was chosen for a made-up value.
    """
    vm = spec["virtualMachine"]
    used = {*references(vm), *references(spec.get("message") or "")}
    lost = [name for name in dict.fromkeys(references(before)) if name not in used]
    sizing = _size_parameters(before, vm)
    result = Replaced([], [])
    parameters = list(spec.get("parameters") or [])
    added = _instancetype(vm, sizing, unset) if sizing else None
    if added is not None and _NAME in {item.get("name") for item in parameters} - set(lost):
        result.remaining.append(RemainingField(PARAMETERS, _name_is_taken(sizing)))
        added = None
    if added is not None:
        first = next(index for index, item in enumerate(parameters) if item.get("name") in sizing)
        parameters.insert(first, added)
        vm["spec"][INSTANCETYPE.name]["name"] = f"${{{_NAME}}}"
        if "value" not in added:
            note = f"It has no default, because {' and '.join(sorted(sizing & set(unset)))} had none; add one."
            result.remaining.append(RemainingField(f"{PARAMETERS}[{_NAME}]", note))
    result.changes.extend(_parameter_change(name, added if name in sizing else None) for name in lost)
    result.remaining.extend(
        RemainingField(f"{PARAMETERS}[{name}]", "The instancetype sets the size; only other fields refer to it still.")
        for name in sorted(sizing - set(lost))
    )
    remaining = [item for item in parameters if item is added or item.get("name") not in lost]
    spec.pop("parameters", None)
    if remaining:
        spec["parameters"] = remaining
    return result


def of_size(vm: Any) -> set[str]:
    """The parameters to which the fields of the size of a VM refer."""
    return set(references([value_at(vm, _DOMAIN + size) for size in _SIZES]))


def _size_parameters(before: Any, after: Manifest) -> set[str]:
    """The parameters to which removed fields of the size referred, if the VM has a new instancetype."""
    if INSTANCETYPE.matcher_of(after) is None or INSTANCETYPE.matcher_of(before) is not None:
        return set()
    removed = [value_at(before, _DOMAIN + size) for size in _SIZES if value_at(after, _DOMAIN + size) is None]
    return set(references(removed))


def _instancetype(vm: Manifest, sizing: set[str], unset: Collection[str]) -> Manifest:
    """The parameter for the instancetype."""
    parameter = {
        "name": _NAME,
        "displayName": "Instancetype",
        "description": "The instancetype that gives the VM its CPUs and memory",
    }
    if sizing & set(unset):
        return {**parameter, "required": True}
    return {**parameter, "value": vm["spec"][INSTANCETYPE.name]["name"]}


def _parameter_change(name: str, successor: Manifest | None) -> FieldChange:
    path = f"{PARAMETERS}[{name}]"
    if successor is None:
        note = "Only fields that the instancetype or the preference provides referred to it."
        return FieldChange(path, name, "", None, note)
    note = "The instancetype gives the VM its size, so users choose an instancetype."
    return FieldChange(path, name, f"{PARAMETERS}[{_NAME}]", successor.get("value"), note)


def _name_is_taken(sizing: set[str]) -> str:
    return (
        f"The instancetype replaces the size of {' and '.join(sorted(sizing))}, and another parameter is named {_NAME};"
        " refer to a parameter of another name in spec.virtualMachine.spec.instancetype.name, so that users can choose."
    )
