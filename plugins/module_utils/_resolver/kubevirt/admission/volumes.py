"""Volumes and their disks, and the data of cloud-init (vmi-create-admitter.go, pkg/storage/admitters)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Generator, Iterator
from typing import Final

from ...api import quantity
from ..config.cluster import KubeVirt
from .rule import INVALID, NOT_FOUND, REQUIRED, Cause, Spec, absolute_path, items

# Sources of which a VM has at most one → their name in messages.
_SINGLE: Final = {
    "serviceAccount": "serviceAccount volume",
    "downwardMetrics": "downwardMetric volume",
    "memoryDump": "memory dump volume",
}
# Sources that name an object → the field.
_NAMES: Final = {"configMap": "name", "secret": "secretName", "serviceAccount": "serviceAccountName"}
_EXISTS, _MAY_EXIST = "Disk", "DiskOrCreate"


def check(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateVolumes."""
    volumes = spec.get("volumes", ())
    first: dict[str, str] = {}
    for volume, field in items(spec, path, "volumes"):
        same = first.setdefault(volume["name"], field)
        if same != field:
            yield Cause(INVALID, f"{field} and {same} must not have the same Name.", f"{field}.name")
        if "dataVolume" in volume and not volume["dataVolume"].get("name"):
            yield Cause(REQUIRED, "DataVolume 'name' must be set", f"{field}.name")
        if len(volume.keys() - {"name"}) != 1:
            yield Cause(INVALID, f"{field} must have exactly one source type set", field)
        yield from cloud_init(volume, field)
        if "downwardMetrics" in volume and not kubevirt.has_gate("DownwardMetrics"):
            message = "downwardMetrics disks are not allowed: DownwardMetrics feature gate is not enabled."
            yield Cause(INVALID, message, field)
        yield from _host_disk(volume.get("hostDisk"), field, kubevirt)
        for source, key in _NAMES.items():
            if source in volume and not volume[source].get(key):
                yield Cause(INVALID, f"{field}.{source}.{key} is a required field", f"{field}.{source}.{key}")
    for source, words in _SINGLE.items():
        if sum(source in volume for volume in volumes) > 1:
            yield Cause(INVALID, f"{path}.volumes must have max one {words} set", f"{path}.volumes")


def _host_disk(disk: Spec | None, volume_field: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    if disk is None:
        return
    field, kind = f"{volume_field}.hostDisk", disk.get("type", "")
    if not kubevirt.has_gate("HostDisk"):
        yield Cause(INVALID, "HostDisk feature gate is not enabled", volume_field)
    if not disk.get("path"):
        yield Cause(NOT_FOUND, f"{field}.path is required for hostDisk volume", f"{field}.path")
    if kind not in (_EXISTS, _MAY_EXIST):
        message = f"{field}.type has invalid value '{kind}', allowed are '{_EXISTS}' or '{_MAY_EXIST}'"
        yield Cause(INVALID, message, f"{field}.type")
    if kind == _EXISTS and quantity.parse(disk.get("capacity", "0")).nanos:
        message = f"{field}.capacity is allowed to pass only with {field}.type equal to '{_MAY_EXIST}'"
        yield Cause(INVALID, message, f"{field}.capacity")


def container_disk_paths(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """ValidateContainerDisks."""
    for volume, field in items(spec, path, "volumes"):
        file = (volume.get("containerDisk") or {}).get("path")
        if file:
            yield from absolute_path(file, f"{field}.containerDisk")


def no_utility_volumes(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """ValidateUtilityVolumesNotPresentOnCreation."""
    if "utilityVolumes" in spec:
        message = "cannot create VMI with utility volumes in spec, utility volumes can only be added via hotplug"
        yield Cause(INVALID, message, f"{path}.utilityVolumes")


# KubeVirt ignores the second if the volume has the first.
_TYPES: Final = ("cloudInitNoCloud", "cloudInitConfigDrive")
_SECRETS: Final = {"user": "secretRef", "network": "networkDataSecretRef"}
_MAX_DATA: Final = 2048  # bytes


def cloud_init(volume: Spec, field: str) -> Iterator[Cause]:
    """Causes for a volume's cloud-init data. field: the volume's path."""
    kind = next((name for name in _TYPES if name in volume), None)
    if kind is None:
        return
    field = f"{field}.{kind}"
    users = yield from _data(volume[kind], "user", kind, field)
    networks = yield from _data(volume[kind], "network", kind, field)
    if not users and not networks:
        message = f"{field} must have at least one userdatasource or one networkdatasource set."
        yield Cause(INVALID, message, field)


def _data(source: Spec, part: str, kind: str, field: str) -> Generator[Cause, None, int]:
    """Yields the causes and returns the number of sources. part: user or network."""
    count = 1 if (source.get(_SECRETS[part]) or {}).get("name") else 0
    size = 0
    encoded, plain = source.get(f"{part}DataBase64"), source.get(f"{part}Data")
    if encoded:
        count += 1
        size, complete = _decoded(encoded)
        if not complete:
            name = f"{field}.{part}DataBase64"
            yield Cause(INVALID, f"{name}.{kind}.{part}DataBase64 is not a valid base64 value.", name)
    if plain:
        count += 1
        size = len(plain.encode())
    if count > 1:
        words = "userdatasource" if part == "user" else "networkdata source"
        yield Cause(INVALID, f"{field} must have only one {words} set.", field)
    if size > _MAX_DATA:
        remedy = f"Should use {part.capitalize()}DataSecretRef for larger data."
        yield Cause(INVALID, f"{field} {part}data exceeds {_MAX_DATA} byte limit. {remedy}", field)
    return count


def _decoded(text: str) -> tuple[int, bool]:
    """The number of bytes that Go's base64.StdEncoding reads, and whether it reads all. Line breaks do not count."""
    text = text.replace("\r", "").replace("\n", "")
    try:
        return len(base64.b64decode(text, validate=True)), True
    except (binascii.Error, ValueError):
        readable = re.match("[A-Za-z0-9+/]*", text)
        # Four characters encode three bytes.
        return len(readable[0]) // 4 * 3 if readable else 0, False
