"""JSON that programs print: one value or several in a file, lists or single entries, from clients and from APIs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..._cluster.client.errors import TaskFailed
from ..readers import proxmox
from .texts import text_of_file

Entry = Mapping[str, Any]

SERVERS: Final = "servers"
# The lists of OpenStack, by the names of the API.
OPENSTACK: Final = (SERVERS, "flavors", "images", "volumes")
KUBEVIRT: Final = "kubevirt"
# Proxmox has lists of machines, and their configurations.
PROXMOX_LIST: Final = "machines of Proxmox"
PROXMOX_CONFIG: Final = "configurations of Proxmox"
_SKIPPED: Final = "skipped"
# A list → keys of which its entries have one, in lower case; the first that fits counts.
_KEYS: Final = (
    ("volumes", {"attached to", "attachments"}),
    ("images", {"disk format", "container format", "min disk"}),
    (SERVERS, {"flavor", "flavor name", "flavor id", "task state", "power state", "addresses", "networks"}),
    ("flavors", {"vcpus"}),
)
_BARE_IMAGE: Final = {"id", "name", "status"}


def entries_of(files: Sequence[Path], remarks: list[str]) -> Iterator[tuple[str, Path, Entry]]:
    """(what it is of, its file, the entry). Adds a remark on files with nothing known. Raises TaskFailed."""
    for file in files:
        found = [item for value in _values(file, remarks) for item in _entries(value, "")]
        if not found:
            remarks.append(f"{file.name}: has nothing of a known platform; it does not count")
        yield from ((name, file, entry) for name, entry in found if name != _SKIPPED)


def _values(file: Path, remarks: list[str]) -> Iterator[Any]:
    """The values of a file, several of them one after the other too."""
    text = text_of_file(file, remarks)
    decoder, place = json.JSONDecoder(), 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise TaskFailed(f"source: {file}: is no JSON: {error}; save it in JSON again") from None
        yield value


def _entries(value: Any, name: str) -> Iterator[tuple[str, Entry]]:
    """The entries of a value. name: the list that it is of, if what is around it says so."""
    if isinstance(value, list):
        for item in value:
            # A reader names the entries that are no objects.
            yield from _entries(item, name) if isinstance(item, Mapping) else [(name, item)] if name else []
    elif isinstance(value, Mapping):
        own = name or _kind_of(value)
        if own:
            yield own, value
            return
        for key, entry in value.items():
            plural = next((other for other in OPENSTACK if key in (other, other[:-1])), "")
            if plural or key == "data":
                yield from _entries(entry, plural)
            elif key.isdigit() and isinstance(entry, Mapping):
                yield from _entries({"vmid": key, **entry}, "")


def _kind_of(entry: Entry) -> str:
    """The name for an object of its kind; "" if it is nothing known."""
    keys = {str(key).lower().replace("_", " ") for key in entry}
    if {"kind", "apiversion"} <= keys:
        return KUBEVIRT
    if "vmid" in keys and proxmox.is_config(entry) and "maxmem" not in keys:
        return PROXMOX_CONFIG
    if "vmid" in keys:
        return PROXMOX_LIST
    if entry.get("type") in ("node", "storage", "sdn", "pool"):
        return _SKIPPED
    found = next((name for name, own in _KEYS if own & keys), "")
    if not found and proxmox.is_config(entry):
        return PROXMOX_CONFIG
    return found or ("images" if keys == _BARE_IMAGE else "")
