"""Reads exports of an estate: spreadsheets, folders of CSV files, JSON, configurations, manifests."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ... import _task_files
from ..._cluster.client.errors import TaskFailed
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.name_rules import first_names
from ..._resolver.api.release import NEWEST
from ..._resolver.kubevirt.cluster import Cluster, KubeVirt
from ..._resolver.kubevirt.instancetype.lookup import Objects
from ..._task_objects import completed
from ..._yaml.documents import TextError, documents
from ..readers import kubevirt, openstack, proxmox, rvtools
from ..readers.reading import Reading, text_of
from . import json_files
from .texts import ZIP, text_of_file
from .workbooks import SHEETS, exports_of, is_tab

_YAML: Final = (".yml", ".yaml")
_CONFIGURATIONS: Final = (".conf", ".txt")
# Files of the system, and what Excel writes beside an open file.
_HIDDEN: Final = (".", "~$")
_TABLES: Final = (".csv", ".tsv", ".txt")
_VM: Final = re.compile(rb"VirtualMachine\b|kubevirt_vm\b")
# The platform of each kind of entry in JSON.
_JSON: Final = {
    json_files.PROXMOX_LIST: "proxmox",
    json_files.PROXMOX_CONFIG: "proxmox",
    json_files.KUBEVIRT: "kubevirt",
    **dict.fromkeys(json_files.OPENSTACK, "openstack"),
}


def kinds_of(path: Path) -> list[str]:
    """The platforms that a file or a folder has exports of. Raises TaskFailed if its files do not tell."""
    try:
        found = list(dict.fromkeys(_kinds(path)))
        is_zip = path.is_file() and path.read_bytes()[: len(ZIP)] == ZIP
    except OSError as error:
        raise _unreadable(path, error) from None
    if found:
        return found
    if is_zip:
        raise TaskFailed(f"source: {path}: is a zip archive; unpack it and name the folder")
    raise TaskFailed(
        f"source: {path}: has no export of RVTools, OpenStack, Proxmox or KubeVirt that is known by its files; name the"
        " platform with kind, or list machines of others in a CSV file with the columns VM, CPUs and Memory MiB"
    )


def _kinds(path: Path) -> Iterator[str]:
    """The platforms of the files by their content, then by their endings."""
    configs = [proxmox.config_of(file.read_text(errors="replace")) for file in _files(path, *_CONFIGURATIONS)]
    if _files(path, *SHEETS, ".csv", ".tsv") or any(is_tab(file) for file in _files(path, ".txt")):
        yield "rvtools"
    if any(proxmox.is_config(config) and not proxmox.is_container(config) for config in configs):
        yield "proxmox"
    if any(_VM.search(file.read_bytes()) for file in _files(path, *_YAML)):
        yield "kubevirt"
    for name, _file, _entry in json_files.entries_of(_files(path, ".json"), []):
        yield _JSON[name]
    if _files(path, ".conf"):
        yield "proxmox"
    if _files(path, *_YAML):
        yield "kubevirt"


def read(kind: str, path: Path, attributes: Collection[str], objects: Iterable[Manifest]) -> Reading:
    """The machines of a file or a folder. objects: instancetypes and preferences that VMs name. Raises TaskFailed."""
    try:
        if kind == "rvtools":
            return _rvtools(path, attributes)
        if kind == "openstack":
            return _openstack(path)
        if kind == "proxmox":
            return _proxmox(path)
        if kind == "kubevirt":
            return _kubevirt(path, objects)
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from None
    raise TaskFailed(
        f"source: {path}: the platform {kind} is read from its address, such as https://vcenter.example.com"
    )


def _unreadable(path: Path, error: Exception) -> TaskFailed:
    named = getattr(error, "filename", None) or path
    return TaskFailed(f"source: {named}: cannot be read: {getattr(error, 'strerror', None) or error}")


def _files(path: Path, *suffixes: str) -> list[Path]:
    """The file itself, or all files of a folder. suffixes: only files with one of these; none given: all files."""
    found = (item for item in path.rglob("*") if item.is_file() and not item.name.startswith(_HIDDEN))
    files = sorted(found) if path.is_dir() else [path]
    return [file for file in files if not suffixes or file.suffix.lower() in suffixes]


def _rvtools(path: Path, attributes: Collection[str]) -> Reading:
    remarks: list[str] = []
    tables = [file for file in _files(path, *_TABLES) if file.suffix.lower() != ".txt" or is_tab(file) or file == path]
    books = _files(path, *SHEETS)
    if books and tables and path.is_dir():
        others = first_names((table.name for table in tables), 3)
        remarks.append(f"{others}: not read, because there are spreadsheets; keep either in the folder")
    if not books and not tables:
        raise TaskFailed(f"source: {path}: has no spreadsheet and no CSV file; name those that RVTools wrote")
    exports = exports_of(books or tables, remarks)
    return _told(rvtools.read_all(exports, attributes), remarks)


def _openstack(path: Path) -> Reading:
    """The lists of servers, flavors, images and volumes, told apart by their keys."""
    remarks: list[str] = []
    lists: dict[str, list[Any]] = {name: [] for name in json_files.OPENSTACK}
    for name, _file, entry in json_files.entries_of(_files(path, ".json"), remarks):
        lists.get(name, []).append(entry)
    if not lists[json_files.SERVERS]:
        raise TaskFailed(f"source: {path}: has no servers; save openstack server list --long -f json in it")
    return _told(openstack.read(**lists), remarks)


def _proxmox(path: Path) -> Reading:
    """Machines from configurations, and machines that only a list names."""
    reading, remarks, others = Reading(), list[str](), list[str]()
    configs: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {}
    listed: dict[str, tuple[str, Mapping[str, Any]]] = {}
    rules = {file.stem for file in _files(path, ".fw")}
    for file in _files(path, *_CONFIGURATIONS):
        config: dict[str, Any] = dict(proxmox.config_of(text_of_file(file, remarks)))
        if proxmox.is_config(config) or (file.stem.isdigit() and config):
            # A copy of /etc/pve has the files of a node twice.
            configs[_id_of(file), str(config)] = (file.name, config)
        elif file.suffix == ".conf":
            others.append(file.name)
    for name, file, entry in json_files.entries_of(_files(path, ".json"), remarks):
        own = text_of(entry.get("vmid")) or _id_of(file, text_of(entry.get("name")))
        if name == json_files.PROXMOX_CONFIG:
            configs[own, str(entry)] = (file.name, dict(entry))
        elif name == json_files.PROXMOX_LIST:
            listed[own] = (file.name, {**listed.get(own, ("", {}))[1], **entry})
    for (own, _text), (place, config) in configs.items():
        _place, entry = listed.pop(own, ("", {}))
        told = {key: entry[key] for key in ("pool", "template") if key in entry}
        firewall = {"[firewall]": f"{own}.fw"} if own in rules else {}
        proxmox.add(reading, place, own, {**told, **config, **firewall}, proxmox.power_of(entry))
    for place, entry in listed.values():
        proxmox.add_listed(reading, place, entry)
    if not (configs or others or reading.machines or reading.left_out):
        raise TaskFailed(
            f"source: {path}: has no configurations of machines; name the files of /etc/pve, or pvesh's JSON"
        )
    proxmox.tell_containers(reading)
    if others:
        reading.remarks.append(f"{first_names(others, 5)}: no configurations of machines; they do not count")
    return _told(reading, remarks)


def _id_of(file: Path, name: str = "") -> str:
    """The number in the name of a file, ``vm-100.conf``, otherwise the name."""
    found = re.search("[0-9]{3,}", file.stem)
    return found[0] if found else name or file.stem


def _told(reading: Reading, remarks: list[str]) -> Reading:
    reading.remarks = remarks + reading.remarks
    return reading


def _kubevirt(path: Path, objects: Iterable[Manifest]) -> Reading:
    reading = Reading()
    found = [
        (file, f"{file.name}, line {document.line}", document.content)
        for file in _files(path, *_YAML, ".json")
        for document in documents(file.read_bytes(), file.name, "manifest", keep_unknown_tags=True)
    ]
    own = [content for _file, _place, content in found if isinstance(content, dict) and content.get("kind")]
    cluster = Cluster(Objects([*objects, *own]), KubeVirt(NEWEST))
    for _file, place, content in [*found, *_linked(found, reading)]:
        for vm in kubevirt.vms_in(content):
            kubevirt.add(reading, place, vm, cluster)
    if not reading.machines and not reading.remarks:
        reading.remarks.append("no file declares a VirtualMachine; lists of OpenStack are read as JSON, with -f json")
    return reading


def _linked(found: Sequence[tuple[Path, str, Any]], reading: Reading) -> Iterator[tuple[Path, str, Any]]:
    """(file, place, manifest) of the files that only tasks name."""
    read = {file for file, _place, _content in found}
    for playbook, _place, content in found:
        for folder, path, options in kubevirt.files_in(content):
            file = _task_files.found(playbook, folder, path)
            if file is None or file in read:
                continue
            read.add(file)
            try:
                for document in documents(file.read_bytes(), file.name, "manifest", keep_unknown_tags=True):
                    if isinstance(document.content, dict):
                        yield file, f"{file.name}, line {document.line}", completed(document.content, options)
            except TextError as error:
                reading.remarks.append(f"{error}; its machines are left out")
