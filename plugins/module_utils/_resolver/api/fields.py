"""The fields of the API's types, and the permitted values of fields with choices.

`go_types` has them as one text: Ansible compiles a module's Python for each task, and a text compiles faster.
"""

from __future__ import annotations

from typing import Any, Final

from . import go_types


def _entries(text: str) -> list[list[str]]:
    """The name and the rest of each line; an indented line continues the one before."""
    return [line.split(":") for line in text.replace("\n  ", " ").splitlines()]


def _fields(text: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for field in text.strip().split(", ") if text else ():
        name, expression, *notes = field.split(" ", 2)
        fields[name] = (expression, _notes(notes[0])) if notes else expression
    return fields


def _notes(text: str) -> dict[str, str]:
    return dict(note.split(" ", 1) for note in text.strip("()").split("; "))


TYPES: Final = {name: _fields(text) for name, text in _entries(go_types.TYPES)}
"""Type → field → type expression (see `schema`), or a tuple (type expression, notes; see `release_schema`)."""

ENUMS: Final = {name: tuple(text.split()) for name, text in _entries(go_types.CHOICES)}
"""The values of fields with choices; a type expression names them like a type (`*DiskBus`)."""

SPEC_TYPES: Final = {
    ("VirtualMachineInstancetype", "flavor.kubevirt.io/v1alpha1"): "AlphaInstancetypeSpec",
    ("VirtualMachineInstancetype", "instancetype.kubevirt.io/v1alpha1"): "AlphaInstancetypeSpec",
    ("VirtualMachineInstancetype", "instancetype.kubevirt.io/v1alpha2"): "AlphaInstancetypeSpec",
    ("VirtualMachinePreference", "flavor.kubevirt.io/v1alpha1"): "V1alpha1PreferenceSpec",
    ("VirtualMachinePreference", "instancetype.kubevirt.io/v1alpha1"): "V1alpha1PreferenceSpec",
    ("VirtualMachinePreference", "instancetype.kubevirt.io/v1alpha2"): "V1alpha2PreferenceSpec",
}
"""The types of specs in earlier versions of the API, by kind and apiVersion."""
