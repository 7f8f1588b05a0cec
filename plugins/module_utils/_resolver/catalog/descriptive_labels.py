"""Labels by which common-instancetypes describes instancetypes and preferences, compared with their specs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..api import schema
from ..api.errors import QuantityError
from ..api.matcher import INSTANCETYPE, ROLE_OF_KIND
from ..api.quantity import parse

Manifest = dict[str, Any]

_PREFIX: Final = "instancetype.kubevirt.io/"


class WrongLabel(NamedTuple):
    """A label that differs from the spec. field: the path of what it describes. actual: its value, "" if not set."""

    label: str
    value: str
    field: str
    actual: str


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _is_set(value: Any) -> str:
    # An empty object counts as set.
    return "" if value in (None, False, []) else "true"


# Label → the field that it describes, and the field's value as a label.
_INSTANCETYPE: Final[dict[str, tuple[str, Callable[[Any], str]]]] = {
    "cpu": ("cpu.guest", _text),
    "memory": ("memory.guest", _text),
    "hugepages": ("memory.hugepages.pageSize", _text),
    "dedicatedCPUPlacement": ("cpu.dedicatedCPUPlacement", _is_set),
    "isolateEmulatorThread": ("cpu.isolateEmulatorThread", _is_set),
    "numa": ("cpu.numa", _is_set),
    "realtime": ("cpu.realtime", _is_set),
    "gpus": ("gpus", _is_set),
}
_PREFERENCE: Final[dict[str, tuple[str, Callable[[Any], str]]]] = {
    "required-cpu": ("requirements.cpu.guest", _text),
    "required-memory": ("requirements.memory.guest", _text),
    "required-architecture": ("requirements.architecture", _text),
    "preferred-architecture": ("preferredArchitecture", _text),
}


def wrong_labels(kind: str, labels: dict[str, Any], spec: Manifest) -> list[WrongLabel]:
    """The labels of an instancetype or preference that differ from its spec. Raises FieldError for an invalid spec."""
    role = ROLE_OF_KIND[kind]
    spec = schema.canonical(role.spec_type, spec)
    result = []
    for name, (path, shown) in (_INSTANCETYPE if role is INSTANCETYPE else _PREFERENCE).items():
        value = labels.get(_PREFIX + name)
        actual = shown(_value(spec, path))
        if value is not None and not _same(str(value), actual):
            result.append(WrongLabel(_PREFIX + name, str(value), f"spec.{path}", actual))
    return result


def _value(spec: Manifest, path: str) -> Any:
    value: Any = spec
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _same(value: str, actual: str) -> bool:
    if value == actual or (value == "false" and not actual):
        return True
    try:
        return bool(actual) and parse(value).nanos == parse(actual).nanos
    except QuantityError:
        return False
