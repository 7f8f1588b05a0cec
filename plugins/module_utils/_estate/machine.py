"""The neutral list of machines, which all readers make. Amounts are bytes. Unknown fields are absent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from .._resolver.api.errors import FieldError
from .._resolver.api.name_rules import quoted
from .._resolver.declare.validation import canonical_quantity
from .shapes import amount, checked, checked_at, number, text

Machine = dict[str, Any]

MIB: Final = 1 << 20
GIB: Final = 1 << 30
# More than any guest of KubeVirt has; a larger figure is in another unit.
MOST_VCPUS: Final = 4096
MOST_MEMORY: Final = 1 << 50

_DISK: Final = {
    **dict.fromkeys(("id", "name", "storage", "path", "mode", "controller"), str),
    **dict.fromkeys(("thin", "shared", "raw"), bool),
    "size": amount,
}
_SHAPE: Final[Mapping[str, Any]] = {
    "id": text,
    "name": text,
    "vcpus": amount,
    "memory": amount,
    "cores_per_socket": amount,
    "power": ("on", "off", "suspended"),
    "firmware": ("bios", "efi"),
    **dict.fromkeys(("source", "folder", "uuid", "instancetype", "preference"), str),
    "hugepages": partial(canonical_quantity, ""),
    **dict.fromkeys(("secure_boot", "tpm", "fault_tolerance"), bool),
    "guest": dict.fromkeys(("id", "text", "distro", "version"), str),
    "reserved": {"cpu": bool, "memory": amount},
    "hot_add": {"cpu": bool, "memory": bool},
    "used": {"cpu": number, "memory": number},
    "tags": {"*": str},
    "disks": [_DISK],
    "nics": [{**dict.fromkeys(("network", "mac", "model"), str), "connected": bool}],
    "passthrough": [text],
    "not_brought": [text],
}
_EMPTY: Final[Mapping[str, Any]] = {
    **{key: {} for key in ("guest", "reserved", "hot_add", "used", "tags")},
    **dict.fromkeys(("disks", "nics", "passthrough", "not_brought"), ()),
}


def machine_of(value: Any) -> Machine:
    """A check for a machine of the list."""
    machine: Machine = checked(value, _SHAPE)
    for field, most in (("id", 0), ("name", 0), ("vcpus", MOST_VCPUS), ("memory", MOST_MEMORY)):
        if field not in machine:
            raise FieldError(field, "is missing")
        if most and not 0 < machine[field] <= most:
            raise FieldError(field, f"{machine[field]} is not 1 to {most}")
    return machine


def machines_of(value: Any) -> list[Machine]:
    """The checked entries of a neutral list, with all collections. Raises FieldError, which names entry and field."""
    machines = checked_at("machines", without_templates(value), [machine_of])
    places: dict[str, int] = {}
    for index, machine in enumerate(machines):
        first = places.setdefault(machine["id"], index)
        if first != index:
            raise FieldError(f"machines[{index}].id", f"{quoted(machine['id'])} is also the id of machines[{first}]")
    return [{**_EMPTY, **machine} for machine in machines]


def without_templates(value: Any) -> Any:
    """The value with a blank in what Ansible would take for a template: whoever names a machine must not run code."""
    if isinstance(value, str):
        return re.sub(r"\{(?=[{%#])", "{ ", value)
    if isinstance(value, Mapping):
        return {without_templates(key): without_templates(entry) for key, entry in value.items()}
    return [without_templates(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def without_absent(value: Any) -> Any:
    """The value without entries of dictionaries that are None or empty."""
    if isinstance(value, dict):
        told = {key: without_absent(entry) for key, entry in value.items()}
        return {key: entry for key, entry in told.items() if entry not in (None, "", [], {})}
    return [without_absent(entry) for entry in value] if isinstance(value, list) else value


def rounded_up(amount: int, step: int) -> int:
    """The least multiple of a step that is not below the amount."""
    return -(-amount // step) * step
