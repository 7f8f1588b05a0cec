"""The tabs of RVTools in spreadsheets and in CSV files."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..._cluster.client.errors import TaskFailed
from ..readers import rvtools_columns
from ..readers.rvtools_tabs import MOST_TITLES, Tabs, has_machines
from .texts import OLE, text_of_file

SHEETS: Final = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
# Spreadsheets that are zip archives.
_ZIPPED: Final = (".xlsx", ".xlsm", ".xlsb")
# Excel reads the delimiter from such a line.
_DELIMITER: Final = re.compile(r'"?sep=(.)"?\r?\n')
_DELIMITERS: Final = ";,\t|"
# Headings of OpenStack's client.
_OPENSTACK: Final = {"id", "name", "status"}
# A cell with a long note.
_LONGEST_CELL: Final = 1 << 24
_TAB_NAMES: Final = {tab.lower(): tab for tab in (*rvtools_columns.TABS, *rvtools_columns.IGNORED_TABS)}
_TAB: Final = re.compile(rf"(?:^|tab|(?<=[^a-z0-9]))({'|'.join(_TAB_NAMES)})(?=$|[^a-z0-9])")


def exports_of(files: Sequence[Path], remarks: list[str]) -> dict[str, Tabs]:
    """The tabs of each export, by its name if there are several. Raises TaskFailed and OSError."""
    books = [file for file in files if file.suffix.lower() in SHEETS]
    if books:
        return {file.name if len(books) > 1 else "": _sheets(file) for file in books}
    exports: dict[str, dict[str, Any]] = {}
    for file in files:
        tab, rest = _tab_of(file.stem)
        name = f"{file.parent.name}/{rest}" if rest else file.parent.name
        if tab in exports.setdefault(name, {}):
            raise TaskFailed(f"source: {file}: is a second file of the tab {tab}; keep one, or put each in a folder")
        exports[name][tab] = _csv_rows(file, tab, remarks) if tab not in rvtools_columns.IGNORED_TABS else ()
    with_info = [name for name, tabs in exports.items() if rvtools_columns.INFO in tabs]
    if len(exports) == 1 or len(with_info) == 1:
        exports = {"": {tab: rows for tabs in exports.values() for tab, rows in tabs.items()}}
    return {name: _with_info(tabs) for name, tabs in exports.items()}


def is_tab(file: Path) -> bool:
    """Whether a file has the name of a tab."""
    return bool(_TAB.search(file.stem.lower()))


def _tab_of(name: str) -> tuple[str, str]:
    """(the tab in the name of a file or a sheet, the name without it): ``RVTools_tabvInfo`` → ``vInfo``."""
    found = _TAB.search(name.lower())
    if not found:
        return name, ""
    return _TAB_NAMES[found[1]], (name[: found.start()] + name[found.end() :]).lower().replace("rvtools", "").strip(
        "_- "
    )


def _with_info(tabs: Mapping[str, Any]) -> Tabs:
    """The only table of an export has the machines, whatever its name."""
    return {rvtools_columns.INFO: next(iter(tabs.values()))} if len(tabs) == 1 else tabs


def _csv_rows(file: Path, tab: str, remarks: list[str]) -> Sequence[Sequence[Any]]:
    text = text_of_file(file, remarks)
    hint = _DELIMITER.match(text)
    text = text[hint.end() :] if hint else text.lstrip("\r\n")
    header, delimiter = _header(text, tab)
    delimiter = hint[1] if hint else delimiter
    if {cell.strip(' "\r').lower() for cell in header.split(delimiter)} >= _OPENSTACK:
        raise TaskFailed(f"source: {file}: is a list of OpenStack as CSV; save it as JSON, with -f json")
    csv.field_size_limit(_LONGEST_CELL)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise TaskFailed(f"source: {file}: is no CSV: {error}; export it again") from None


def _header(text: str, tab: str) -> tuple[str, str]:
    """(the line with the headings, its delimiter). The lines above it may be titles, which have no delimiters."""
    lines = text.splitlines()[:MOST_TITLES]
    own = tab if tab in rvtools_columns.TABS else rvtools_columns.INFO
    for line in lines:
        for delimiter in _DELIMITERS:
            if has_machines(own, [cell.strip(' "') for cell in line.split(delimiter)]):
                return line, delimiter
    first = next(iter(lines), "")
    return first, max(_DELIMITERS, key=first.count)


def _sheets(path: Path) -> Tabs:
    try:
        import python_calamine
    except ImportError:
        raise TaskFailed(f"source: {path}: pip install python-calamine, which reads spreadsheets") from None
    with path.open("rb") as file:
        beginning = file.read(64)
    if not beginning:
        raise TaskFailed(f"source: {path}: is empty; export it again")
    if beginning.startswith(OLE) and path.suffix.lower() in _ZIPPED:
        raise TaskFailed(f"source: {path}: has a password, or is an old .xls; save it as .xlsx without a password")
    if beginning.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"<"):
        raise TaskFailed(f"source: {path}: is HTML or XML; open it in a spreadsheet program and save it as .xlsx")
    try:
        book = python_calamine.load_workbook(str(path))
        tabs: dict[str, Any] = {}
        for name in book.sheet_names:
            tab = _tab_of(name.strip())[0]
            is_read = tab in rvtools_columns.TABS or len(book.sheet_names) == 1
            tabs[tab] = book.get_sheet_by_name(name).to_python(skip_empty_area=False) if is_read else ()
        return _with_info(tabs)
    except (python_calamine.CalamineError, zipfile.BadZipFile) as error:
        problem = " ".join(str(error).split())
        raise TaskFailed(f"source: {path}: is no spreadsheet: {problem}; save it as .xlsx or CSV") from None
