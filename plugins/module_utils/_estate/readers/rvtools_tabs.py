"""The rows of RVTools' tabs by heading, and the rows of other tabs that belong to a machine."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.api.name_rules import first_names, quoted
from .reading import Reading, text_of
from .rvtools_columns import AMOUNTS, HOST, IGNORED_TABS, INFO, TABS, heading_of, is_known, spelled

Rows = Sequence[Sequence[Any]]
Row = dict[str, Any]
# The rows of each tab, the headings first.
Tabs = Mapping[str, Rows]

# The key of a row's place in the source.
PLACE: Final = "#"
# The columns without which no machine can be read, by key.
_REQUIRED: Final = {"vm": "VM", "cpus": "CPUs", "memory": "Memory MiB"}
# Each machine has one of these; the sums below the machines have neither.
_OF_MACHINES: Final = ("vmid", "powerstate")
# The text of some cells instead of a value.
PLACEHOLDER: Final = "VM"
# Three digits after a point or a comma may be a group of a whole number.
_DECIMAL: Final = re.compile(r"[0-9]{1,15}(?:[.,](?:[0-9]{1,2}|[0-9]{4,18}))?", re.ASCII)
_WITH_UNIT: Final = re.compile(r"([0-9.,]+) ?([KMGT])i?B", re.ASCII)
MOST_TITLES: Final = 10
_MIB: Final = {"k": Fraction(1, 1024), "m": Fraction(1), "": Fraction(1), "g": Fraction(1024), "t": Fraction(1 << 20)}


def rows_of(reading: Reading, exports: Mapping[str, Tabs], tab: str, attributes: Collection[str] = ()) -> Iterator[Row]:
    """The rows of a tab of all exports. exports: the tabs by what names the export in remarks.

    attributes: further columns of vInfo, whose cells have these texts as keys. Raises FieldError.
    """
    for export, tabs in exports.items():
        if tabs.get(tab):
            yield from _rows(reading, f"{export}: {tab}" if export else tab, tab, tabs[tab], attributes)


def machine_rows(reading: Reading, exports: Mapping[str, Tabs], attributes: Collection[str]) -> list[Row]:
    """The rows of vInfo, see `rows_of`; a remark tells of rows with sums."""
    found = []
    for export, tabs in exports.items():
        rows = list(rows_of(reading, {export: tabs}, INFO, attributes))
        told = any(_is_told(row) for row in rows)
        for row in rows:
            if told and "cpus" in row and not _is_told(row):
                reading.refuse(row[PLACE], text_of(row.get("vm")), "has neither VM ID nor Powerstate, as a row of sums")
            else:
                found.append(row)
    return found


def _is_told(row: Row) -> bool:
    return any(text_of(row.get(key)) for key in _OF_MACHINES)


def _rows(reading: Reading, place: str, tab: str, rows: Rows, attributes: Collection[str]) -> Iterator[Row]:
    # Reports of others have a title above the headings.
    titles = [line for line, cells in enumerate(rows[:MOST_TITLES]) if has_machines(tab, cells)]
    above = titles[0] if titles else 0
    rows = rows[above:]
    headings = [heading_of(tab, text_of(cell)) for cell in rows[0]]
    places = spelled(tab, {key: number for number, (key, _unit) in reversed([*enumerate(headings)]) if key})
    own = {text_of(cell).lower(): number for number, cell in enumerate(rows[0])}
    _check_columns(place, rows[0], own, [key for key in _REQUIRED if tab == INFO and key not in places], attributes)
    unknown = {number for number, (key, _unit) in enumerate(headings) if key and not is_known(tab, key)}
    unknown -= {own[column.lower()] for column in attributes}
    filled: dict[int, str] = {}
    for line, cells in enumerate(rows[1:], above + 2):
        told = {number: cell for number, cell in enumerate(cells) if number < len(headings) and text_of(cell)}
        if not told:
            continue
        filled.update({number: text_of(rows[0][number]) for number in unknown & set(told)})
        row = {
            key: _in_mib(told[number], headings[number][1], key in AMOUNTS)
            for key, number in places.items()
            if number in told and (key == "vm" or text_of(told[number]) != PLACEHOLDER)
        }
        tags = {column: text_of(told.get(own[column.lower()])) for column in attributes}
        yield {**row, **tags, PLACE: f"{place} row {line}"}
    if filled and tab != HOST:
        reading.unknown[tab].update(dict.fromkeys(filled[number] for number in sorted(filled)))


def _check_columns(
    place: str, header: Sequence[Any], own: Collection[str], lacking: Iterable[str], attributes: Iterable[str]
) -> None:
    """Raises FieldError for a column that the header lacks.

    own: the names of its columns in lower case. lacking: the keys of required columns that it lacks.
    """
    for column in attributes:
        if column.lower() not in own:
            raise FieldError(f"attributes: {place}", f"has no column {quoted(column)}")
    for key in lacking:
        shown = f"its columns: {_shown(header)}"
        raise FieldError(place, f"has no column {_REQUIRED[key]}; {shown}; name the column that has it so")


def has_machines(tab: str, cells: Sequence[Any]) -> bool:
    """Whether a row has the heading of the names, as keys of this file."""
    keys = {key: None for key, _unit in (heading_of(tab, text_of(cell)) for cell in cells)}
    return len(keys) > 1 and not {"vm", "host"}.isdisjoint(spelled(tab, keys))


def _in_mib(cell: Any, unit: str, is_amount: bool) -> Any:
    """An amount in MiB, rounded up; the cell itself if it has that unit, or with its unit if it is no number.

    unit: the unit in the heading; a cell such as `8 GB` has its own.
    """
    text = text_of(cell)
    own = _WITH_UNIT.fullmatch(text) if is_amount else None
    if own:
        text, unit = own[1], own[2].lower()
    elif _MIB[unit] == 1:
        return cell
    if own is None and isinstance(cell, float) and math.isfinite(cell):
        return math.ceil(Fraction(cell) * _MIB[unit])
    if not _DECIMAL.fullmatch(text):
        return text if _MIB[unit] == 1 else f"{text} {unit.upper()}B"
    return math.ceil(Fraction(text.replace(",", ".")) * _MIB[unit])


def _shown(header: Sequence[Any]) -> str:
    names = [text_of(cell) for cell in header if text_of(cell)]
    return ", ".join(names[:8]) + (" and others" if len(names) > 8 else "")


def tell_unknown(reading: Reading, exports: Mapping[str, Tabs]) -> None:
    """Adds a remark on the tabs, and one on the columns, of no known meaning."""
    tabs = {tab for own in exports.values() for tab in own} - {*TABS, *IGNORED_TABS}
    if tabs:
        reading.remarks.append(f"{first_names(sorted(tabs), 5)}: no tab of RVTools has this name; it does not count")
    columns = dict.fromkeys(column for own in reading.unknown.values() for column in own)
    if columns:
        shown = first_names(columns, 8)
        reading.remarks.append(f"columns of no known meaning do not count: {shown}; attributes makes labels of vInfo's")


def key_of(row: Row) -> str:
    """The key of a machine in all tabs: its ID and the ID of its vCenter, otherwise its name."""
    own = text_of(row.get("vmid"))
    return f"{source_of(row)}/{own}" if own else text_of(row.get("vm"))


def source_of(row: Row) -> str:
    return text_of(row.get("visdkuuid")) or text_of(row.get("visdkserver"))


class Details:
    """The rows of a tab by machine. A tab may lack the IDs that vInfo has."""

    def __init__(self, rows: Iterable[Row], machines: Sequence[Row]) -> None:
        self._fields = ("vmid", "vm")
        self._counts = {field: Counter(text_of(row.get(field)) for row in machines) for field in self._fields}
        self._keys = Counter(map(key_of, machines))
        self._by_key: dict[str, list[Row]] = {}
        self._by: dict[str, dict[str, list[Row]]] = {field: {} for field in self._fields}
        self._rows = {id(row): row for row in rows}
        for row in self._rows.values():
            self._by_key.setdefault(key_of(row), []).append(row)
            for field in self._fields:
                self._by[field].setdefault(text_of(row.get(field)), []).append(row)

    def of(self, machine: Row) -> list[Row]:
        """The rows with the machine's key, else with its ID or its name if that is of no other machine."""
        found = self._by_key.get(key_of(machine)) or self._similar(machine)
        for row in found:
            self._rows.pop(id(row), None)
        return found

    def _similar(self, machine: Row) -> list[Row]:
        for field in self._fields:
            own = text_of(machine.get(field))
            found = [row for row in self._by[field].get(own, ()) if _agrees(row, machine)]
            if own and found and self._counts[field][own] == 1:
                return found
        return []

    @property
    def left(self) -> list[Row]:
        """The rows of no machine that was asked for."""
        return list(self._rows.values())


def _agrees(row: Row, machine: Row) -> bool:
    """Whether no identity that both tell differs."""
    pairs = ((text_of(row.get(key)), text_of(machine.get(key))) for key in ("vmid", "visdkuuid", "visdkserver"))
    return all(not first or not second or first == second for first, second in pairs)
