"""The data of cloud-init volumes: one source of each kind, of limited size (validateVolumes)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Generator, Iterator
from typing import Final

from .cause import INVALID, Cause, Spec

# KubeVirt ignores the second if the volume has the first.
_TYPES: Final = ("cloudInitNoCloud", "cloudInitConfigDrive")
_SECRETS: Final = {"user": "secretRef", "network": "networkDataSecretRef"}
MOST: Final = 2048  # bytes


def check(volume: Spec, field: str) -> Iterator[Cause]:
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
        size, whole = _decoded(encoded)
        if not whole:
            name = f"{field}.{part}DataBase64"
            yield Cause(INVALID, f"{name}.{kind}.{part}DataBase64 is not a valid base64 value.", name)
    if plain:
        count += 1
        size = len(plain.encode())
    if count > 1:
        words = "userdatasource" if part == "user" else "networkdata source"
        yield Cause(INVALID, f"{field} must have only one {words} set.", field)
    if size > MOST:
        remedy = f"Should use {part.capitalize()}DataSecretRef for larger data."
        yield Cause(INVALID, f"{field} {part}data exceeds {MOST} byte limit. {remedy}", field)
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
