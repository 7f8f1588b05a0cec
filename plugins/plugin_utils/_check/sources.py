"""The files of a repository, and the manifests in them."""

from __future__ import annotations

import re
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...module_utils._resolver.api.finding import ERROR, NOTE, WARNING
from ...module_utils._resolver.api.manifest import Manifest, list_items
from ...module_utils._resolver.api.name_rules import one_line
from ...module_utils._yaml_documents import Document, TextError, documents
from ...module_utils._yaml_scalars import ansible
from .._catalog_files import regular_files
from .findings import LocatedFinding, Location

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
_PACKED: Final = ".gz"
_ARCHIVES: Final = (".tar", ".tar.gz", ".tgz")
# kubectl prints JSON objects one after another, which YAML takes for one document.
_NEXT_OBJECT: Final = re.compile(rb"^\}\s*^\{", re.MULTILINE)
_ENCRYPTED: Final = b"$ANSIBLE_VAULT;"
_KIND: Final = re.compile(r"^(?:- |  )?kind:\s*['\"]?([A-Za-z]+)", re.MULTILINE)
# Tool folders, whose files a user does not mean.
_SKIPPED: Final = ("node_modules", "__pycache__", "venv")


class UsageError(Exception):
    """The request cannot be carried out; one line with the remedy."""


class Source(NamedTuple):
    """A document of a file that is not empty. content: the data, or the text of a Containerfile."""

    location: Location
    content: Any


class SourceManifest(NamedTuple):
    """A manifest in a repository.

    problem: the reason why a cluster would get another manifest, "" for none. patch: whether it changes an object that
    exists.
    """

    location: Location
    manifest: Manifest
    problem: str = ""
    patch: bool = False


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
    not YAML and cause a warning. An archive (tar) counts as the folder that it holds. Raises UsageError for a path that
    does not exist, and for an archive that cannot be unpacked.
    """
    repository = Repository([], [], {}, [], {})
    for path in paths:
        if path == STDIN:
            _add(repository, STDIN_NAME, stdin, ERROR)
            continue
        location = Path(path)
        if not location.exists():
            raise UsageError(f"{path}: no such file or folder; name a file, a folder, or - for standard input")
        if location.name.endswith(_ARCHIVES):
            for name, content in _members(location):
                _add(repository, f"{path}/{name}", content, WARNING)
            continue
        files = filter(_looks_readable, regular_files(location, _is_entered)) if location.is_dir() else [location]
        for file in files:
            _add(repository, str(file), _content(file), WARNING if location.is_dir() else ERROR)
    return repository


def add(repository: Repository, file: str) -> None:
    """Adds a file to which a file of the repository refers."""
    _add(repository, file, _content(Path(file)), NOTE)


def _content(file: Path) -> bytes:
    """The content of a file; of one that is too large, enough to see that."""
    with file.open("rb") as opened:
        return opened.read(LARGEST + 1)


def _members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of the files of an archive that look readable."""
    try:
        with tarfile.open(archive) as opened:
            for member in opened:
                wanted = member.isfile() and _looks_readable(Path(member.name))
                content = opened.extractfile(member) if wanted else None
                if content is not None:
                    yield member.name, content.read(LARGEST + 1)
    except (tarfile.TarError, zlib.error, EOFError, OSError) as error:
        reason = one_line(error)
        raise UsageError(f"{archive}: cannot be unpacked ({reason}); check that the file is complete") from None


def _unpacked(content: bytes) -> bytes | None:
    """The decompressed content of gzip; None if it is incomplete."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        result = unpacker.decompress(content, LARGEST + 1)
    except zlib.error:
        return None
    return result if unpacker.eof or len(result) > LARGEST else None


def _is_entered(folder: Path) -> bool:
    return not (folder.name.startswith(".") or folder.name in _SKIPPED or _holds_templates(folder))


def _looks_readable(file: Path) -> bool:
    if file.name.startswith("."):
        return False
    if is_containerfile(str(file)):
        return True
    if file.suffix == _PACKED:
        return Path(file.stem).suffix in _SUFFIXES
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


def _add(repository: Repository, file: str, content: bytes, severity: str) -> None:
    if file in repository.texts:
        return
    suffix = Path(file.removesuffix(_PACKED)).suffix
    unpacked = _unpacked(content) if file.endswith(_PACKED) else content
    repository.texts[file] = content = unpacked or b""
    if unpacked is None:
        message = "cannot be unpacked; check that the file is complete"
        repository.findings.append(LocatedFinding(message, severity, rule="unreadable", location=Location(file)))
        return
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
        parsed = _NEXT_OBJECT.sub(b"}\n--- {", content) if content.startswith(b"{") else content
        contents = _documents(parsed, file)
    except TextError as error:
        if not suffix and file != STDIN_NAME:
            # Ansible reads a file as INI if it is not YAML. Scripts are not executed.
            repository.inventories.extend([] if content.startswith(b"#!") else [file])
            return
        where = _PLACE.match(str(error).removeprefix(file))
        line, message = (int(where[1]), where[2]) if where else (0, str(error))
        repository.findings.append(
            LocatedFinding(message, severity, rule="unreadable", location=Location(file, line=line))
        )
        return
    repository.sources.extend(Source(Location(file, document.number), document.content) for document in contents)
    repository.starts.update({(file, document.number): document.line for document in contents})


def _documents(content: bytes, file: str) -> list[Document]:
    """The documents of a file: manifests as kubectl reads them, and others as Ansible does."""
    read = partial(documents, content, file, noun="manifest", keep_unknown_tags=True, largest=LARGEST)
    found = read()
    if all(_is_manifest(document.content) for document in found):
        return found
    others = {document.number: document for document in read(scalars=ansible)}
    return [document if _is_manifest(document.content) else others.get(document.number, document) for document in found]


def _is_manifest(content: Any) -> bool:
    return isinstance(content, dict) and isinstance(content.get("kind"), str) and "apiVersion" in content


def mapping_items(
    location: Location, content: Any, is_wanted: Callable[[Location, str, Any], bool]
) -> Iterator[tuple[Location, str, Any, dict[Any, Any]]]:
    """(location, key, value, mapping) of the wanted entries of mappings, at any depth of a document of Ansible.

    Tasks are in lists and blocks, and variables in mappings. A wanted value is not searched itself.
    """
    if isinstance(content, list):
        for index, inside in enumerate(content):
            yield from mapping_items(location.below(index), inside, is_wanted)
    if not isinstance(content, dict) or "apiVersion" in content:
        return
    for key, value in content.items():
        child = location.below(str(key))
        if is_wanted(child, key, value):
            yield child, key, value, content
        else:
            yield from mapping_items(child, value, is_wanted)


def kinds_in(text: str) -> list[str]:
    """The kinds of the objects in a text that is not YAML, by the indentation of objects, and of those in a list."""
    return _KIND.findall(text)


def is_encrypted(content: bytes) -> bool:
    """Whether Ansible Vault has encrypted a file."""
    return content.startswith(_ENCRYPTED)


def encrypted(file: str) -> LocatedFinding:
    """The note about an encrypted file."""
    message = "encrypted with Ansible Vault; its contents are not checked"
    return LocatedFinding(message, NOTE, rule="unchecked", location=Location(file, line=1))


def manifests(sources: Iterable[Source]) -> Iterator[SourceManifest]:
    """The objects of documents that are manifests; the items of a List count separately."""
    for location, content in sources:
        if not _is_manifest(content):
            continue
        items = list_items(content)
        if items is None:
            yield SourceManifest(location, content)
            continue
        for index, item in enumerate(items):
            if isinstance(item, dict) and isinstance(item.get("kind"), str):
                yield SourceManifest(location.below("items", index), item)
