"""VMs as lines of a table, as `kubectl get virtualmachines` shows them, with what they take and lack."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from ..._columns import aligned
from ..._resolver.api.manifest import condition_of
from ..._resolver.api.matcher import MATCHER_FIELDS
from ..._resolver.change.drift import Drift
from .results import printable_status

_HEADER: Final = ("NAMESPACE", "NAME", "AGE", "STATUS", "READY", "INSTANCETYPE", "PREFERENCE", "DRIFTED", "RESTART")
_TIME: Final = "%Y-%m-%dT%H:%M:%S%z"
_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR
_YEAR: Final = 365 * _DAY
# (below which seconds, unit, its letter, and the smaller unit that is shown too); the last row is for all others.
_AGES: Final = (
    (2 * _MINUTE, 1, "s", None),
    (10 * _MINUTE, _MINUTE, "m", (1, "s")),
    (3 * _HOUR, _MINUTE, "m", None),
    (8 * _HOUR, _HOUR, "h", (_MINUTE, "m")),
    (2 * _DAY, _HOUR, "h", None),
    (8 * _DAY, _DAY, "d", (_HOUR, "h")),
    (2 * _YEAR, _DAY, "d", None),
    (8 * _YEAR, _YEAR, "y", (_DAY, "d")),
    (0, _YEAR, "y", None),
)


def table(vms: Sequence[Drift], now: datetime) -> list[str]:
    """A header and a line for each VM; nothing without VMs."""
    return aligned([_HEADER, *(_row(vm, now) for vm in vms)]) if vms else []


def _row(vm: Drift, now: datetime) -> list[str]:
    created = str(vm.vm["metadata"].get("creationTimestamp") or "")
    names = [matcher_field.matcher_or_empty(vm.vm).get("name") or "-" for matcher_field in MATCHER_FIELDS]
    marks = ["yes" if drifted is True else "-" for drifted in (vm.drifted, vm.restart_required)]
    ready = str(condition_of(vm.vm, "Ready").get("status") or "")
    age = human_duration(int((now - datetime.strptime(created, _TIME)).total_seconds())) if created else "<unknown>"
    return [vm.namespace, vm.name, age, printable_status(vm.vm), ready, *names, *marks]


def human_duration(seconds: int) -> str:
    """A time span as kubectl shows an age: ``45s``, ``5m10s``, ``3h20m``, ``5d4h`` (apimachinery: HumanDuration)."""
    _limit, unit, letter, smaller = next((row for row in _AGES if seconds < row[0]), _AGES[-1])
    whole, rest = divmod(max(0, seconds), unit)
    part = rest // smaller[0] if smaller is not None else 0
    return f"{whole}{letter}" + (f"{part}{smaller[1]}" if smaller is not None and part else "")
