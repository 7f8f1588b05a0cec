"""The files of a repository, and the manifests in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...module_utils._resolver.api.finding import ERROR, NOTE, WARNING
from ...module_utils._yaml_documents import TextError, documents
from .._catalog_files import regular_files
from .findings import LocatedFinding, Location

Manifest = dict[str, Any]

STDIN: Final = "-"
STDIN_NAME: Final = "<stdin>"
LARGEST: Final = 256 * 2**20
"""The largest file in bytes: it is the user's own, and the VMs of a large cluster have 0.1 GB."""
_PLACE: Final = re.compile(r", line (\d+), column \d+: (.*)", re.DOTALL)
_SUFFIXES: Final = (".yaml", ".yml", ".json")
_INI: Final = ".ini"
_CONTAINERFILES: Final = ("containerfile", "dockerfile")
# Inventories are often files without a suffix, and so are files of variables.
_INVENTORIES: Final = ("hosts", "inventory")
_INVENTORY_FOLDERS: Final = ("inventory", "inventories")
_VARIABLE_FOLDERS: Final = ("group_vars", "host_vars")
# INI files of tools that may be next to an inventory.
_TOOL_CONFIGS: Final = ("mypy.ini", "pytest.ini", "tox.ini")
_ENCRYPTED: Final = b"$ANSIBLE_VAULT;"
_KIND: Final = re.compile(r"^(?:- |  )?kind:\s*['\"]?([A-Za-z]+)", re.MULTILINE)
# Tool folders, whose files a user does not mean.
_SKIPPED: Final = ("node_modules", "__pycache__", "venv")


class UsageError(Exception):
    """The request cannot be carried out; one line with the remedy."""


class Source(NamedTuple):
    """A document of a file that is not empty. content: of a Containerfile its text."""

    location: Location
    content: Any


class SourceManifest(NamedTuple):
    """A manifest in a repository. problem: why it is not known as a cluster would get it, "" if it is."""

    location: Location
    manifest: Manifest
    problem: str = ""


class Repository(NamedTuple):
    """The files of a repository.

    sources: the documents of all YAML and JSON files, and Containerfiles. inventories: the files that may be
    inventories in INI format. texts: file → its bytes. findings: about unreadable files. starts: (file, number of a
    document) → its first line.
    """

    sources: list[Source]
    inventories: list[str]
    texts: dict[str, bytes]
    findings: list[LocatedFinding]
    starts: dict[tuple[str, int], int]


def read(paths: Iterable[str], stdin: bytes = b"") -> Repository:
    """The documents of files, and of all in folders that look like YAML, JSON, Containerfiles or INI inventories.

    The path ``-`` is standard input. A named file must be readable. In folders, templates (Helm charts or Jinja) are
    not YAML and cause a warning. Raises UsageError for a path that does not exist.
    """
    repository = Repository([], [], {}, [], {})
    for path in paths:
        if path == STDIN:
            _add(repository, STDIN_NAME, stdin, ERROR)
            continue
        location = Path(path)
        if not location.exists():
            raise UsageError(f"{path}: no such file or folder; name a file, a folder, or - for standard input")
        files = filter(_looks_readable, regular_files(location, _is_entered)) if location.is_dir() else [location]
        for file in files:
            _add(repository, str(file), _content(file), WARNING if location.is_dir() else ERROR)
    return repository


def _content(file: Path) -> bytes:
    """The content of a file; of one that is too large, enough to see that."""
    with file.open("rb") as opened:
        return opened.read(LARGEST + 1)


def _is_entered(folder: Path) -> bool:
    return not (folder.name.startswith(".") or folder.name in _SKIPPED or _holds_templates(folder))


def _looks_readable(file: Path) -> bool:
    if file.name.startswith("."):
        return False
    if is_containerfile(str(file)):
        return True
    if file.suffix:
        return file.suffix in _SUFFIXES or (file.suffix == _INI and file.name not in _TOOL_CONFIGS)
    return (
        file.name in _INVENTORIES
        or file.parent.name in _INVENTORY_FOLDERS
        or any(folder in _VARIABLE_FOLDERS for folder in file.parts[:-1])
    )


def is_containerfile(file: str) -> bool:
    """Whether the name is that of a Containerfile: Dockerfile, or fedora.containerfile."""
    return Path(file).name.lower().rpartition(".")[2] in _CONTAINERFILES


def _holds_templates(folder: Path) -> bool:
    """Whether the folder belongs to a Helm chart. `helm template | ... -` checks what the chart renders."""
    return folder.name == "templates" and (folder.parent / "Chart.yaml").exists()


def _add(repository: Repository, file: str, content: bytes, level: str) -> None:
    if file in repository.texts:
        return
    repository.texts[file] = content
    suffix = Path(file).suffix
    if is_encrypted(content):
        repository.findings.append(encrypted(file))
        return
    if suffix == _INI:
        repository.inventories.append(file)
        return
    if is_containerfile(file):
        repository.sources.append(Source(Location(file), content.decode(errors="replace")))
        return
    try:
        contents = documents(content, file, what="manifest", keep_unknown_tags=True, largest=LARGEST)
    except TextError as error:
        if not suffix and file != STDIN_NAME:
            # Like Ansible, which reads as INI what is not YAML. Scripts are not executed.
            repository.inventories.extend([] if content.startswith(b"#!") else [file])
            return
        where = _PLACE.match(str(error).removeprefix(file))
        line, message = (int(where[1]), where[2]) if where else (0, str(error))
        repository.findings.append(LocatedFinding("unreadable", level, Location(file), "", "", message, line))
        return
    repository.sources.extend(Source(Location(file, document.number), document.content) for document in contents)
    repository.starts.update({(file, document.number): document.line for document in contents})


def entries(
    location: Location, content: Any, is_wanted: Callable[[Location, str, Any], bool]
) -> Iterator[tuple[Location, str, Any, dict[Any, Any]]]:
    """(location, key, value, mapping) of the wanted entries of mappings, at any depth of a document of Ansible.

    Tasks are in lists and blocks, and variables in mappings. A wanted value is not searched itself.
    """
    if isinstance(content, list):
        for index, inside in enumerate(content):
            yield from entries(location.below(index), inside, is_wanted)
    if not isinstance(content, dict) or "apiVersion" in content:
        return
    for key, value in content.items():
        child = location.below(str(key))
        if is_wanted(child, key, value):
            yield child, key, value, content
        else:
            yield from entries(child, value, is_wanted)


def kinds_in(text: str) -> list[str]:
    """The kinds of the objects in a text that is not YAML, by the indentation of objects, and of those in a list."""
    return _KIND.findall(text)


def is_encrypted(content: bytes) -> bool:
    """Whether Ansible Vault has encrypted a file."""
    return content.startswith(_ENCRYPTED)


def encrypted(file: str) -> LocatedFinding:
    """The note about an encrypted file."""
    return LocatedFinding(
        "unchecked", NOTE, Location(file), "", "", "encrypted with Ansible Vault; its contents are not checked", 1
    )


def manifests(sources: Iterable[Source]) -> Iterator[SourceManifest]:
    """The objects of documents that are manifests; the items of a List count separately."""
    for location, content in sources:
        if not isinstance(content, dict) or not isinstance(content.get("kind"), str) or "apiVersion" not in content:
            continue
        items = content.get("items")
        if not content["kind"].endswith("List") or not isinstance(items, list):
            yield SourceManifest(location, content)
            continue
        for index, item in enumerate(items):
            if isinstance(item, dict):
                yield SourceManifest(location.below("items", index), item)
