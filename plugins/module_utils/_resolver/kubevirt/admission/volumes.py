"""Volumes, and the data of cloud-init (vmi-create-admitter.go, pkg/storage/admitters)."""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
from collections.abc import Iterator
from typing import Final

from ...api import quantity
from ...api.name_rules import quoted
from ..cluster import KubeVirt
from .rows import Group, Place, Row, gate, one_of, only_once, required, unique
from .rule import INVALID, Cause, Spec

# KubeVirt ignores the second if the volume has the first.
_TYPES: Final = ("cloudInitNoCloud", "cloudInitConfigDrive")
_SECRETS: Final = {"user": "secretRef", "network": "networkDataSecretRef"}
_MAX_DATA: Final = 2048  # bytes


def absolute_path(file: str, _place: Place) -> str:
    """storageadmitters.ValidatePath."""
    # Go's filepath.Join("/", path). Two leading slashes are special in POSIX and so in Python, but not in Go.
    is_clean = posixpath.normpath("/" + file.lstrip("/")) == file.removesuffix("/")
    return "" if not file or (file != "/" and is_clean) else f"must be an absolute path to a file, not {quoted(file)}"


def _one_source(volume: Spec, _place: Place) -> str:
    sources = sorted(volume.keys() - {"name"})
    return "" if len(sources) == 1 else f"has {' and '.join(sources) or 'no source'}; it needs exactly one source"


def _capacity(capacity: str, place: Place) -> str:
    needless = place.entry.get("type") == "Disk" and quantity.parse(capacity).nanos
    return "needs the type DiskOrCreate; set it, or remove the capacity" if needless else ""


def _cloud_init(volume: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    kind = next((name for name in _TYPES if name in volume), None)
    if kind is None:
        return
    field, counts = f"{path}.{kind}", 0
    for part in _SECRETS:
        count, size, encoded_well = _data(volume[kind], part)
        counts += count
        if not encoded_well:
            name = f"{part}DataBase64"
            yield Cause(INVALID, f"{name} is not Base64; encode it, or use {part}Data", f"{field}.{name}")
        if count > 1:
            yield Cause(INVALID, f"{kind} has {part} data twice; keep one of its fields", field)
        if size > _MAX_DATA:
            remedy = f"put it in a Secret, and name that in {_SECRETS[part]}"
            yield Cause(INVALID, f"{kind} has {size} bytes of {part} data, above {_MAX_DATA}; {remedy}", field)
    if not counts:
        yield Cause(INVALID, f"{kind} has no data; set userData or networkData", field)


def _data(source: Spec, part: str) -> tuple[int, int, bool]:
    """The number of sources, bytes, and whether the encoding is right. part: user or network."""
    encoded, plain = source.get(f"{part}DataBase64"), source.get(f"{part}Data")
    count = sum(map(bool, (encoded, plain, (source.get(_SECRETS[part]) or {}).get("name"))))
    size, complete = _decoded(encoded or "")
    return count, len(plain.encode()) if plain else size, complete


def _decoded(text: str) -> tuple[int, bool]:
    """The number of bytes that Go's base64.StdEncoding reads, and whether it reads all. Line breaks do not count."""
    text = text.replace("\r", "").replace("\n", "")
    try:
        return len(base64.b64decode(text, validate=True)), True
    except (binascii.Error, ValueError):
        readable = re.match("[A-Za-z0-9+/]*", text)
        # Four characters encode three bytes.
        return len(readable[0]) // 4 * 3 if readable else 0, False


RULES: Final = Group(
    "",
    Group(  # validateVolumes
        "volumes[]",
        unique("name"),
        Row(
            "dataVolume", lambda source, _place: "" if source.get("name") else "needs a name; set it", at="{entry}.name"
        ),
        Row("", _one_source),
        _cloud_init,
        Row("downwardMetrics", gate("DownwardMetrics"), at="{entry}"),
        Row("hostDisk", gate("HostDisk"), at="{entry}"),
        Group(
            "hostDisk",
            required("path"),
            Row("type", one_of("Disk", "DiskOrCreate"), absent=True),
            Row("capacity", _capacity),
        ),
        Group("configMap", required("name")),
        Group("secret", required("secretName")),
        Group("serviceAccount", required("serviceAccountName")),
    ),
    Row("volumes", only_once("serviceAccount")),
    Row("volumes", only_once("downwardMetrics")),
    Row("volumes", only_once("memoryDump")),
    # ValidateContainerDisks
    Group("volumes[]", Row("containerDisk.path", absolute_path, at="{entry}.containerDisk")),
    # ValidateUtilityVolumesNotPresentOnCreation
    Row("utilityVolumes", lambda _volumes, _place: "must not be set; KubeVirt itself adds them to a running guest"),
)
