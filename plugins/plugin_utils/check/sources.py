"""The files of a repository, and the objects in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...module_utils._cluster.read.catalog_text import TextError, documents
from .findings import ERROR, WARNING, Finding, Place

Manifest = dict[str, Any]

STDIN: Final = "-"
_PLACE: Final = re.compile(r", line (\d+), column \d+: (.*)", re.DOTALL)
_SUFFIXES: Final = (".yaml", ".yml", ".json")
# Tool folders, whose files a user does not mean.
_SKIPPED: Final = ("node_modules", "__pycache__", "venv")


class UsageError(Exception):
    """The request cannot be carried out; one line with the remedy."""


class Source(NamedTuple):
    """A document of a file."""

    place: Place
    content: Any


class Repository(NamedTuple):
    """sources: the documents of all files. texts: file → its bytes. findings: about unreadable files."""

    sources: list[Source]
    texts: dict[str, bytes]
    findings: list[Finding]


def read(paths: Iterable[str], stdin: bytes = b"") -> Repository:
    """The documents of files and, in folders, of all files that look like YAML or JSON.

    The path ``-`` is standard input. A named file must be readable. In folders, templates (Helm charts or Jinja) are
    not YAML and cause a warning. Raises UsageError for a path that does not exist.
    """
    repository = Repository([], {}, [])
    for path in paths:
        if path == STDIN:
            _add(repository, "<stdin>", stdin, ERROR)
            continue
        given = Path(path)
        if not given.exists():
            raise UsageError(f"{path}: no such file or folder; name a file, a folder, or - for standard input")
        for file in _files(given) if given.is_dir() else [given]:
            _add(repository, str(file), file.read_bytes(), WARNING if given.is_dir() else ERROR)
    return repository


def _files(folder: Path) -> Iterator[Path]:
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith(".") or entry.name in _SKIPPED:
            continue
        if entry.is_dir():
            yield from () if _holds_templates(entry) else _files(entry)
        elif entry.suffix in _SUFFIXES:
            yield entry


def _holds_templates(folder: Path) -> bool:
    """Whether the folder belongs to a Helm chart. `helm template | ... -` checks what the chart renders."""
    return folder.name == "templates" and (folder.parent / "Chart.yaml").exists()


def _add(repository: Repository, file: str, content: bytes, level: str) -> None:
    if file in repository.texts:
        return
    repository.texts[file] = content
    try:
        found = documents(content, file, what="manifest", foreign_tags=True)
    except TextError as error:
        where = _PLACE.match(str(error).removeprefix(file))
        line, message = (int(where[1]), where[2]) if where else (0, str(error))
        repository.findings.append(Finding("unreadable", level, Place(file), "", "", message, line))
        return
    repository.sources.extend(Source(Place(file, number), content) for number, content in enumerate(found))


def manifests(sources: Iterable[Source]) -> Iterator[tuple[Place, Manifest]]:
    """The objects of documents that are manifests; the items of a List count separately."""
    for place, content in sources:
        if not isinstance(content, dict) or not isinstance(content.get("kind"), str) or "apiVersion" not in content:
            continue
        items = content.get("items")
        if not content["kind"].endswith("List") or not isinstance(items, list):
            yield place, content
            continue
        for index, item in enumerate(items):
            if isinstance(item, dict):
                yield place._replace(path=("items", index)), item
