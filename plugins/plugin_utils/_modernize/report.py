"""What `modernize` reports and writes: rows, notes, new files, and the lines that change in the files themselves."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence, Sized
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ...module_utils._cluster.client.files import write_file
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.name_rules import one_line
from .._check import sources
from .._check.findings import LineFinder, Location
from .table import EQUAL, TableRow
from .yaml_edits import EditError, edited


class ConversionReport(NamedTuple):
    """The report.

    rows: rows of VMs and templates. guestless: labels of tasks that declare no guest, and of Templates without a VM.
    notes: about fields that stay, and objects of a catalog that cannot be converted.
    files: path below the output → documents, or the text of a playbook. edits: file → its new text, where comments and
    all other lines stay. texts, starts: the files' texts and starts, see `_check.sources`.
    """

    rows: list[TableRow]
    guestless: list[str]
    notes: list[str]
    files: dict[Path, list[Any] | str]
    edits: dict[str, str]
    texts: dict[str, bytes]
    starts: dict[tuple[str, int], int]
    lines: LineFinder

    def place(self, location: Location, field: str = "") -> str:
        """``old.yml:12``"""
        return f"{location.file}:{self.lines.find(location, field)}"

    def note(self, location: Location, label: str, field: str, text: str) -> None:
        """Adds a note about a field of an object."""
        self.notes.append(f"note: {self.place(location, field)}: {label}: {f'{field}: ' if field else ''}{text}")

    def edit(self, location: Location, new: Manifest, *others: Manifest) -> str | None:
        """Changes a mapping in the text of its file. Returns the text; None, with a note, if it stays as it is.

        others: get documents of their own at the end.
        """
        try:
            text = self.edits.get(location.file) or self.texts[location.file].decode()
            if location.file == sources.STDIN_NAME or Path(location.file).suffix == ".json":
                raise EditError("is in no file of YAML")
            text = edited(text, location.document, location.path, new)
            self.edits[location.file] = f"{text.rstrip()}\n{as_yaml(others)}" if others else text
            return self.edits[location.file]
        except (EditError, UnicodeDecodeError) as error:
            self.notes.append(f"note: {self.place(location)}: not changed in its place: {one_line(error)}")
            return None

    def differing(self) -> Iterator[str]:
        """The lines that `--in-place` changes, as a unified diff."""
        for file, text in self.edits.items():
            before, after = (part.splitlines(keepends=True) for part in (self.texts[file].decode(), text))
            yield from difflib.unified_diff(before, after, file, file)

    def write(self, folder: Path) -> None:
        """Writes the new files below a folder."""
        texts = {path: as_yaml(new) if isinstance(new, list) else new for path, new in self.files.items()}
        for path, text in texts.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            write_file(target, text)

    def summary(self, output: str | None, *, in_place: bool) -> str:
        """The outcome in one line. output: the folder of the new files. in_place: the files themselves are changed."""
        guests = [row.cells[-1] for row in self.rows if row.cells[-2] != "-"]
        counts = {
            "equal": guests.count(EQUAL),
            "different": len(guests) - guests.count(EQUAL),
            "not converted": sum(row.failed for row in self.rows),
        }
        counts["unchanged in size"] = len(self.rows) - sum(counts.values())
        counts["without a guest"] = len(self.guestless)
        text = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        written = f"; {_files(self.files)} in {output}" if output else ""
        written += f"; {_files(self.edits)} changed" if in_place else ""
        total = len(self.rows)
        return f"{total} {'guest' if total == 1 else 'guests'}: {text}{written}"


def label_of(manifest: Manifest) -> str:
    """``VirtualMachine shop/web``"""
    metadata = manifest.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = metadata.get("name") or metadata.get("generateName") or "(unnamed)"
    return f"{manifest['kind']} {'/'.join(str(part) for part in (metadata.get('namespace'), name) if part)}"


def _files(files: Sized) -> str:
    return f"{len(files)} {'file' if len(files) == 1 else 'files'}"


def as_yaml(documents: Sequence[Any]) -> str:
    """The text of a file with these documents."""
    # Ready for JSON, which has neither aliases nor classes derived from Python's.
    plain = json.loads(json.dumps(documents, default=str))
    text: str = yaml.safe_dump_all(plain, explicit_start=True, sort_keys=False, allow_unicode=True, width=120)
    return text
