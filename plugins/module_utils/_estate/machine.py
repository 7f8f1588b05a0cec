"""The neutral list of machines, which all readers make, and what its entries may have.

An entry: `{id, name, folder, power, vcpus, cores_per_socket, memory, disks, nics, firmware, secure_boot, tpm, guest,
reserved, hot_add, used, passthrough, fault_tolerance, hugepages, tags, uuid, instancetype, preference}`. Amounts are
bytes. What the source does not tell is absent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from .._resolver.api.errors import FieldError
from .._resolver.api.name_rules import quoted

Machine = dict[str, Any]

MIB: Final = 1 << 20
GIB: Final = 1 << 30
# More than any guest of KubeVirt has; a larger figure is in another unit.
MOST_VCPUS: Final = 4096
MOST_MEMORY: Final = 1 << 50

_TEXTS: Final = ("folder", "power", "firmware", "hugepages", "uuid", "instancetype", "preference")
_CHOICES: Final = {"power": ("on", "off", "suspended"), "firmware": ("bios", "efi")}
_FLAGS: Final = ("secure_boot", "tpm", "fault_tolerance")
_DICTIONARIES: Final = ("guest", "reserved", "hot_add", "used", "tags")
_LISTS: Final = ("disks", "nics", "passthrough")
_KNOWN: Final = frozenset(
    ("id", "name", "vcpus", "memory", "cores_per_socket", *_TEXTS, *_FLAGS, *_DICTIONARIES, *_LISTS)
)


def machines_of(value: Any) -> list[Machine]:
    """The checked entries of a neutral list. Raises FieldError, which names the entry and the field."""
    if isinstance(value, (str, Mapping)) or not hasattr(value, "__iter__"):
        raise FieldError("machines", f"expected a list of machines, found {quoted(value)}")
    machines: list[Machine] = []
    places: dict[str, int] = {}
    for index, entry in enumerate(value):
        try:
            machine = _checked(entry)
        except FieldError as error:
            raise error.with_parent(f"machines[{index}]") from None
        first = places.setdefault(machine["id"], index)
        if first != index:
            raise FieldError(f"machines[{index}].id", f"{quoted(machine['id'])} is also the id of machines[{first}]")
        machines.append(machine)
    return machines


def _checked(entry: Any) -> Machine:
    if not isinstance(entry, Mapping):
        raise FieldError("", f"expected a machine, found {quoted(entry)}")
    machine: Machine = {key: value for key, value in without_templates(entry).items() if value is not None}
    unknown = sorted(machine.keys() - _KNOWN)
    if unknown:
        raise FieldError(unknown[0], "is not a field of a machine; remove it")
    for field in ("id", "name"):
        if not isinstance(machine.get(field), str) or not machine[field]:
            raise FieldError(field, f"expected a text, found {quoted(machine.get(field))}")
    for field, most in (("vcpus", MOST_VCPUS), ("memory", MOST_MEMORY)):
        if not _is_amount(machine.get(field)) or not 0 < machine[field] <= most:
            what = "bytes" if field == "memory" else "a number of vCPUs"
            raise FieldError(field, f"expected {what}, 1 to {most}, found {quoted(machine.get(field))}")
    for field in _TEXTS:
        if field in machine and not isinstance(machine[field], str):
            raise FieldError(field, f"expected a text, found {quoted(machine[field])}")
    for field, choices in _CHOICES.items():
        if field in machine and machine[field] not in choices:
            raise FieldError(field, f"{quoted(machine[field])} is not one of {', '.join(choices)}")
    for field in _FLAGS:
        if field in machine and not isinstance(machine[field], bool):
            raise FieldError(field, f"expected true or false, found {quoted(machine[field])}")
    for field in _DICTIONARIES:
        if not isinstance(machine.setdefault(field, {}), Mapping):
            raise FieldError(field, f"expected a dictionary, found {quoted(machine[field])}")
    for field in _LISTS:
        if not isinstance(machine.setdefault(field, []), (list, tuple)):
            raise FieldError(field, f"expected a list, found {quoted(machine[field])}")
        for index, item in enumerate(machine[field]):
            if not isinstance(item, str if field == "passthrough" else Mapping):
                raise FieldError(f"{field}[{index}]", f"is not an entry of {field}: {quoted(item)}")
    for index, disk in enumerate(machine["disks"]):
        if not _is_amount(disk.get("size", 0)):
            raise FieldError(f"disks[{index}].size", f"expected bytes, found {quoted(disk['size'])}")
    for field in ("memory", "cpu"):
        amount = machine["used"].get(field)
        if amount is not None and (isinstance(amount, bool) or not isinstance(amount, (int, float)) or amount < 0):
            raise FieldError(f"used.{field}", f"expected a number, found {quoted(amount)}")
    return machine


def without_templates(value: Any) -> Any:
    """The value with a blank in what Ansible would take for a template: whoever names a machine must not run code."""
    if isinstance(value, str):
        return re.sub(r"\{(?=[{%#])", "{ ", value)
    if isinstance(value, Mapping):
        return {without_templates(key): without_templates(entry) for key, entry in value.items()}
    return [without_templates(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def _is_amount(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def size_text(memory: int) -> str:
    """Bytes as a quantity without loss: ``8Gi``, ``34322Mi``, ``1000``."""
    for unit, suffix in ((GIB, "Gi"), (MIB, "Mi")):
        if memory % unit == 0:
            return f"{memory // unit}{suffix}"
    return str(memory)


def rounded_up(amount: int, step: int) -> int:
    """The least multiple of a step that is not below the amount."""
    return -(-amount // step) * step
