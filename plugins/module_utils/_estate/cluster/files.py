"""Reads exports of an estate: spreadsheets, folders of CSV files, JSON, configurations, manifests."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from ..._cluster.client.errors import TaskFailed
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.release import NEWEST
from ..._resolver.kubevirt.config.cluster import Cluster, KubeVirt
from ..._resolver.kubevirt.find.lookup import Objects
from ..._yaml_documents import documents
from ..readers import kubevirt, openstack, proxmox, rvtools
from ..readers.reading import Reading

_SHEETS: Final = (".xlsx", ".xlsm", ".xls", ".ods")
_YAML: Final = (".yml", ".yaml")
# The endings of the files that tell the platform; the first that a folder has count.
_ENDINGS: Final = {"rvtools": (*_SHEETS, ".csv"), "proxmox": (".conf",), "kubevirt": _YAML, "openstack": (".json",)}
_PREFIX: Final = "rvtools_tab"


def kind_of(path: Path) -> str:
    """The platform that a file or a folder is an export of. Raises TaskFailed if its files do not tell."""
    suffixes = {file.suffix.lower() for file in _files(path)}
    for kind, endings in _ENDINGS.items():
        if not suffixes.isdisjoint(endings):
            return kind
    raise TaskFailed(f"source: {path}: is no export that is known by its files; name the platform with kind")


def read(kind: str, path: Path, attributes: Collection[str], objects: Iterable[Manifest]) -> Reading:
    """The machines of a file or a folder. objects: instancetypes and preferences that VMs name. Raises TaskFailed."""
    try:
        if kind == "rvtools":
            return rvtools.read(_workbook(path), attributes)
        if kind == "openstack":
            return _openstack(path)
        if kind == "proxmox":
            return _proxmox(path)
        if kind == "kubevirt":
            return _kubevirt(path, objects)
    except (OSError, UnicodeDecodeError) as error:
        raise TaskFailed(f"source: {path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    raise TaskFailed(
        f"source: {path}: the platform {kind} is read from its address, such as https://vcenter.example.com"
    )


def _files(path: Path, *suffixes: str) -> list[Path]:
    """The file, or those of the folder, with such endings; any without endings."""
    files = sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
    return [file for file in files if not suffixes or file.suffix.lower() in suffixes]


def _workbook(path: Path) -> dict[str, Sequence[Sequence[Any]]]:
    books = _files(path, *_SHEETS)
    if books:
        return _sheets(books[0])
    sheets: dict[str, Sequence[Sequence[Any]]] = {}
    names = {sheet.lower(): sheet for sheet in rvtools.SHEETS}
    for file in _files(path, ".csv"):
        sheet = names.get(file.stem.lower().removeprefix(_PREFIX), rvtools.INFO if file == path else None)
        if sheet:
            text = file.read_text(encoding="utf-8-sig")
            header = text.partition("\n")[0]
            sheets[sheet] = list(csv.reader(text.splitlines(keepends=True), delimiter=max(";,\t", key=header.count)))
    return sheets


def _sheets(path: Path) -> dict[str, Sequence[Sequence[Any]]]:
    try:
        import python_calamine
    except ImportError:
        raise TaskFailed(f"source: {path}: pip install python-calamine, which reads spreadsheets") from None
    try:
        book = python_calamine.load_workbook(str(path))
        names = {name.strip().lower(): name for name in book.sheet_names}
        return {
            sheet: book.get_sheet_by_name(names[sheet.lower()]).to_python(skip_empty_area=False)
            for sheet in rvtools.SHEETS
            if sheet.lower() in names
        }
    except (python_calamine.CalamineError, zipfile.BadZipFile) as error:
        raise TaskFailed(f"source: {path}: is no spreadsheet: {' '.join(str(error).split())}") from None


def _openstack(path: Path) -> Reading:
    """The lists of servers, flavors, images and volumes, told apart by their keys."""
    lists: dict[str, list[Any]] = {"servers": [], "flavors": [], "images": [], "volumes": []}
    for file in _files(path, ".json"):
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise TaskFailed(f"source: {file}: is no JSON: {error}") from None
        parts = content if isinstance(content, dict) else {None: content}
        for name, entries in parts.items():
            if isinstance(entries, list) and entries:
                lists[name if name in lists else _list_of(entries[0])] += entries
    if not lists["servers"]:
        raise TaskFailed(f"source: {path}: has no servers; save openstack server list --long -f json in it")
    return openstack.read(**lists)


def _list_of(entry: Any) -> str:
    keys = {str(key).lower().replace("_", " ") for key in entry} if isinstance(entry, dict) else set()
    lists = (("flavors", {"vcpus"}), ("images", {"disk format"}), ("volumes", {"attached to", "attachments"}))
    return next((name for name, own in lists if own & keys), "servers")


def _proxmox(path: Path) -> Reading:
    reading = Reading()
    for file in _files(path, ".conf"):
        config = proxmox.config_of(file.read_text(encoding="utf-8", errors="replace"))
        proxmox.add(reading, file.name, file.stem, config)
    return reading


def _kubevirt(path: Path, objects: Iterable[Manifest]) -> Reading:
    reading = Reading()
    found = [
        (f"{file.name}, line {document.line}", document.content)
        for file in _files(path, *_YAML, ".json")
        for document in documents(file.read_bytes(), file.name, "manifest", keep_unknown_tags=True)
    ]
    own = [content for _place, content in found if isinstance(content, dict) and content.get("kind")]
    cluster = Cluster(Objects([*objects, *own]), KubeVirt(NEWEST))
    for place, content in found:
        for vm in kubevirt.vms_in(content):
            kubevirt.add(reading, place, vm, cluster)
    return reading
