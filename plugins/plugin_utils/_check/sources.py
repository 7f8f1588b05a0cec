"""The files of a repository, and the manifests in them."""

from __future__ import annotations

import re
import tarfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...module_utils._resolver.api.finding import ERROR, NOTE, WARNING
from ...module_utils._resolver.api.manifest import Manifest, list_items
from ...module_utils._resolver.api.name_rules import first_names, one_line
from ...module_utils._yaml.documents import Document, TextError, documents
from ...module_utils._yaml.scalars import ansible
from .._catalog_files import regular_files
from .engines import as_yaml
from .findings import LocatedFinding, Location
from .placeholders import FORMS, Placeholders, with_defaults

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
_PACKED: Final = ".gz"
_ARCHIVES: Final = (".tar", ".tar.gz", ".tgz")
# kubectl prints JSON objects one after another, which YAML takes for one document.
_NEXT_OBJECT: Final = re.compile(rb"^\}\s*^\{", re.MULTILINE)
_ENCRYPTED: Final = b"$ANSIBLE_VAULT;"
_KIND: Final = re.compile(r"^(?:- |  )?kind:\s*['\"]?([A-Za-z]+)", re.MULTILINE)
# A file without these words holds nothing that the check judges.
_OURS: Final = re.compile(rb"kubevirt|virtshape|virtual_?machine|instancetype", re.IGNORECASE)
_SEPARATOR: Final = re.compile(rb"^---(?=\s|$)", re.MULTILINE)
_DETAILS: Final = re.compile(r"'[^']*'|\d+")
_NEEDS_ENGINE: Final = "is YAML only when its engine has rendered it; check the result: {} | virtshape-check -"
_HELM: Final = "helm template ."
# The forms of engines that may render more than a value.
_BLOCKS: Final = re.compile(r"\{\{|\{%|%\{|<%")
# Suffixes of templates, behind the one of what they become.
_TEMPLATES: Final = (".j2", ".jinja", ".jinja2", ".tpl", ".tmpl", ".gotmpl", ".tftpl", ".erb", ".template", ".envsubst")
# Tool folders, whose files a user does not mean.
_SKIPPED: Final = ("node_modules", "__pycache__", "venv")


class UsageError(Exception):
    """The request cannot be carried out; one line with the remedy."""


class LocatedDocument(NamedTuple):
    """A document of a file that is not empty. content: the data, or the text of a Containerfile."""

    location: Location
    content: Any


class SourceManifest(NamedTuple):
    """A manifest in a repository.

    problem: the reason why a cluster would get another manifest, "" for none. patch: whether it changes an object that
    exists. unknown: the reason why parts of it are unknown.
    """

    location: Location
    manifest: Manifest
    problem: str = ""
    patch: bool = False
    unknown: str = ""


class Repository(NamedTuple):
    """The files of a repository.

    sources: the documents of all YAML and JSON files, and Containerfiles. inventories: the files that may be
    inventories in INI format. texts: file → its bytes, with words for placeholders where they keep it from being YAML.
    findings: about unreadable files. starts: (file, number of a document) → its first line. unreadable: the texts
    that are not YAML. placeholders: what nobody fills in here; None to leave such files unread.
    """

    sources: list[LocatedDocument]
    inventories: list[str]
    texts: dict[str, bytes]
    findings: list[LocatedFinding]
    starts: dict[tuple[str, int], int]
    unreadable: list[str]
    placeholders: Placeholders | None


def read_repository(paths: Iterable[str], stdin: bytes = b"", placeholders: Placeholders | None = None) -> Repository:
    """The documents of files, and of all in folders that look like YAML, JSON, Containerfiles or INI inventories.

    The path ``-`` is standard input. A named file must be readable. In folders, a file that is not YAML causes a
    warning if it may hold objects. An archive (tar) counts as the folder that it holds. Raises UsageError for a path
    that does not exist, and for an archive that cannot be unpacked.
    """
    repository = Repository([], [], {}, [], {}, [], placeholders)
    for path in paths:
        if path == STDIN:
            _add(repository, STDIN_NAME, stdin, ERROR)
            continue
        location = Path(path)
        if not location.exists():
            raise UsageError(f"{path}: no such file or folder; name a file, a folder, or - for standard input")
        if location.name.endswith(_ARCHIVES):
            for name, content in _members(location, placeholders is not None):
                _add(repository, f"{path}/{name}", content, WARNING)
            continue
        for file in _files(location, placeholders is not None) if location.is_dir() else [location]:
            _add(repository, str(file), _content(file), WARNING if location.is_dir() else ERROR)
    repository.findings[:] = _merged(repository.findings)
    return repository


def _files(folder: Path, with_templates: bool) -> Iterator[Path]:
    """The files of a folder that look readable. with_templates: also files that are YAML only when rendered."""
    for file in regular_files(folder, _is_entered):
        if _looks_readable(file, with_templates) and (with_templates or not _is_of_chart(file)):
            yield file


def _is_of_chart(file: Path) -> bool:
    """Whether a file is a template of a Helm chart."""
    return any(folder.name == "templates" and (folder.parent / "Chart.yaml").exists() for folder in file.parents)


def add(repository: Repository, file: str) -> None:
    """Adds a file to which a file of the repository refers."""
    _add(repository, file, _content(Path(file)), NOTE)


def _content(file: Path) -> bytes:
    """The content of a file; of one that is too large, enough to see that."""
    with file.open("rb") as opened:
        return opened.read(LARGEST + 1)


def _members(archive: Path, with_templates: bool) -> Iterator[tuple[str, bytes]]:
    """Name and content of the files of an archive that look readable."""
    try:
        with tarfile.open(archive) as opened:
            for member in opened:
                wanted = member.isfile() and _looks_readable(Path(member.name), with_templates)
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
    return not (folder.name.startswith(".") or folder.name in _SKIPPED)


def _looks_readable(file: Path, with_templates: bool) -> bool:
    if file.name.startswith("."):
        return False
    if is_containerfile(str(file)):
        return True
    if file.suffix == _PACKED:
        return Path(file.stem).suffix in _SUFFIXES
    if file.suffix in _TEMPLATES:
        return with_templates and Path(file.stem).suffix in _SUFFIXES
    if file.suffix:
        return file.suffix in (*_SUFFIXES, _INI)
    return (
        file.name in _INVENTORIES
        or file.parent.name in _INVENTORY_FOLDERS
        or any(folder in _VARIABLE_FOLDERS for folder in file.parts[:-1])
    )


def is_containerfile(file: str) -> bool:
    """Whether a file has the name of a Containerfile, such as Dockerfile or fedora.containerfile."""
    return Path(file).name.lower().rpartition(".")[2] in _CONTAINERFILES


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
        repository.sources.append(LocatedDocument(Location(file), content.decode(errors="replace")))
        return
    try:
        contents = _read_documents(repository, file, content, severity)
    except TextError as error:
        if not suffix and file != STDIN_NAME:
            # Ansible reads a file as INI if it is not YAML. Scripts are not executed.
            repository.inventories.extend([] if content.startswith(b"#!") else [file])
        elif severity == ERROR or _OURS.search(content):
            repository.unreadable.append(content.decode(errors="replace"))
            repository.findings.append(_unreadable(file, error, severity))
        return
    repository.sources.extend(
        LocatedDocument(Location(file, document.number), document.content) for document in contents
    )
    repository.starts.update({(file, document.number): document.line for document in contents})


def _read_documents(repository: Repository, file: str, content: bytes, severity: str) -> list[Document]:
    """The documents of a file; without the unreadable ones, if there are others. Raises TextError."""
    placeholders = repository.placeholders
    parsed = _NEXT_OBJECT.sub(b"}\n--- {", content) if content.startswith(b"{") else content
    has_defaults = placeholders is not None and b"${" in content
    if has_defaults:
        repository.texts[file] = parsed = with_defaults(parsed.decode(errors="surrogateescape")).encode(
            errors="surrogateescape"
        )
    try:
        return _parsed(placeholders, file, parsed)
    except TextError as error:
        if not _OURS.search(content):
            raise
        text = content.decode(errors="replace")
        if FORMS.search(text) is None:
            return _readable_documents(repository, file, content, severity, error)
        if placeholders is None:
            raise
        repository.texts[file] = rendered = as_yaml(text, placeholders).encode()
        try:
            return _documents(rendered, file)
        except TextError as problem:
            if _BLOCKS.search(text) is None:
                return _readable_documents(repository, file, rendered, severity, problem)
            repository.texts[file] = content
            repository.unreadable.append(text)
            message = _NEEDS_ENGINE.format(_HELM if _is_of_chart(Path(file)) else "RENDER")
            repository.findings.append(LocatedFinding(message, NOTE, rule="unchecked", location=Location(file, line=1)))
            return []


def _readable_documents(
    repository: Repository, file: str, content: bytes, severity: str, error: TextError
) -> list[Document]:
    """The documents that are YAML, without the others, as kubectl applies them. Raises TextError if none is."""
    starts = [0, *(match.start() for match in _SEPARATOR.finditer(content))]
    result, broken = [], list[str]()
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(content)])):
        try:
            found = _documents(content[start:end], file)
        except TextError:
            broken.append(content[start:end].decode(errors="replace"))
            continue
        before = content.count(b"\n", 0, start)
        result += [document._replace(number=number, line=document.line + before) for document in found]
    if not result:
        raise error
    repository.unreadable.extend(broken)
    repository.findings.append(_unreadable(file, error, severity))
    return result


def _unreadable(file: str, error: TextError, severity: str) -> LocatedFinding:
    where = _PLACE.match(str(error).removeprefix(file))
    line, message = (int(where[1]), where[2]) if where else (0, str(error))
    return LocatedFinding(message, severity, rule="unreadable", location=Location(file, line=line))


def _merged(findings: Iterable[LocatedFinding]) -> list[LocatedFinding]:
    """The findings with one for each kind of problem that files of folders have."""
    alike: dict[tuple[str, ...], list[LocatedFinding]] = {}
    for finding in findings:
        own = (finding.location.file,) if finding.severity == ERROR else ()
        alike.setdefault((finding.rule, _DETAILS.sub("", finding.text), *own), []).append(finding)
    result = []
    for first, *others in alike.values():
        places = first_names((f"{other.location.file}:{other.location.line}" for other in others), 3)
        result.append(replace(first, text=f"{first.text}; the same in {places}") if others else first)
    return result


def _parsed(placeholders: Placeholders | None, file: str, content: bytes) -> list[Document]:
    """The documents of a file, which are parsed once for both runs. Raises TextError."""
    if placeholders is None:
        return _documents(content, file)
    key = file, content
    if key not in placeholders.documents:
        placeholders.documents[key] = _documents(content, file)
    return placeholders.documents[key]


def _documents(content: bytes, file: str) -> list[Document]:
    """The documents of a file: manifests as kubectl reads them, and others as Ansible does."""
    read = partial(documents, content, file, noun="manifest", keep_unknown_tags=True, largest=LARGEST)
    found = read()
    if all(is_manifest(document.content) for document in found):
        return found
    others = {document.number: document for document in read(scalars=ansible)}
    return [document if is_manifest(document.content) else others.get(document.number, document) for document in found]


def is_manifest(content: Any) -> bool:
    """Whether the content is an object of Kubernetes."""
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
    """The kinds of the objects in a text that is not YAML, found by indentation; also of objects in a list."""
    return _KIND.findall(text)


def is_encrypted(content: bytes) -> bool:
    """Whether Ansible Vault has encrypted a file."""
    return content.startswith(_ENCRYPTED)


def encrypted(file: str) -> LocatedFinding:
    """The note about an encrypted file."""
    message = "encrypted with Ansible Vault; its contents are not checked"
    return LocatedFinding(message, NOTE, rule="unchecked", location=Location(file, line=1))


def manifests(sources: Iterable[LocatedDocument]) -> Iterator[SourceManifest]:
    """The objects of documents that are manifests; the items of a List count separately."""
    for location, content in sources:
        if not is_manifest(content):
            continue
        items = list_items(content)
        if items is None:
            yield SourceManifest(location, content)
            continue
        for index, item in enumerate(items):
            if isinstance(item, dict) and isinstance(item.get("kind"), str):
                yield SourceManifest(location.below("items", index), item)
