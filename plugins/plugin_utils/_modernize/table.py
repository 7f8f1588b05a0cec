"""The table of the command `modernize`: a line for each guest, before and after."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from ...module_utils._columns import aligned
from ...module_utils._conversion.modernize import Modernization
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from .._check.guest_figures import figures_text

_HEADER: Final = ("OBJECT", "INSTANCETYPE", "PREFERENCE", "BEFORE", "AFTER", "GUEST")
_LONGEST: Final = 60
EQUAL: Final = "equal"


class TableRow(NamedTuple):
    """A line of the table; of the cells that do not apply, "-". failed: the object stays as it is."""

    cells: tuple[str, ...]
    failed: bool = False


def row_of(label: str, conversion: Modernization) -> TableRow:
    spec = conversion.manifest.get("spec") or {}
    spec = (spec.get("virtualMachine") or {}).get("spec") or spec
    names = [(spec.get(matcher_field.name) or {}).get("name") or "-" for matcher_field in (INSTANCETYPE, PREFERENCE)]
    if conversion.differences is None:
        word = "has an instancetype" if names[0] != "-" else "no instancetype"
        return TableRow((label, *names, "-", "-", word))
    differences = "; ".join(map(_difference, conversion.differences)) or EQUAL
    before, after = figures_text(conversion.guest_before), figures_text(conversion.guest_after)
    return TableRow((label, *names, before, after, differences))


def _difference(entry: Manifest) -> str:
    shown = f"{entry['field']}: {_shown(entry['before'])} → {_shown(entry['after'])}"
    return shown if len(shown) <= _LONGEST else entry["field"]


def _shown(value: Any) -> str:
    if value is None:
        return "not set"
    return json.dumps(value) if isinstance(value, (dict, list, bool)) else str(value)


def table(rows: Sequence[TableRow]) -> list[str]:
    lines = [_HEADER, *(row.cells for row in rows)] if rows else []
    return aligned(lines)
