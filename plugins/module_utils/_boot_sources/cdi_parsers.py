"""Texts as CDI reads them: checksums, URLs as Go's ``net/url`` parses them, and schedules (robfig/cron)."""

from __future__ import annotations

import json
import re
from collections.abc import Container
from typing import Final, NamedTuple
from urllib.parse import quote

from .._resolver.api.errors import Panic

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):", re.ASCII)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})", re.ASCII)
_PORT: Final = re.compile(r"(:[0-9]*)?", re.ASCII)
_USER: Final = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)
# Go accepts these characters in a host, and all non-ASCII ones; escapes represent only non-ASCII bytes.
_HOST: Final = re.compile(r"(?:[A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>\"]|%[89A-Fa-f][0-9A-Fa-f]|[^\x00-\x7f])*")
_PLAIN: Final = "/:@!$&'()*+,;=~?#[]%-._"


class UrlError(ValueError):
    """Go cannot parse the text as a URL."""


def scheme(text: str, request: bool = False) -> str:
    """The scheme in lower case, "" without one (``Parse``; with `request` ``ParseRequestURI``). Raises UrlError."""
    if _CONTROL.search(text) or text.startswith(":") or (request and not text):
        raise UrlError(text)
    if not request:
        text, _hash, fragment = text.partition("#")
        _check_escapes(fragment)
    match = _SCHEME.match(text)
    rest = text[match.end() :] if match else text
    name = match[1].lower() if match else ""
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        _check_relative(rest, bool(name), request)
        return name
    if rest.startswith("//") and (name or (not request and not rest.startswith("///"))):
        authority, _slash, path = rest[2:].partition("/")
        _check_authority(authority)
        rest = path
    _check_escapes(rest)
    return name


def printed(text: str) -> str:
    """A parsed URL as Go prints it: the scheme in lower case, and some characters of a path escaped."""
    match = _SCHEME.match(text)
    rest = text[match.end() :] if match else text
    if not match:
        return quote(rest, safe=_PLAIN)
    return f"{match[1].lower()}:{quote(rest, safe=_PLAIN) if rest.startswith('/') else rest}"


def _check_relative(rest: str, absolute: bool, request: bool) -> None:
    # The part after a scheme is opaque: every text is valid.
    if absolute or rest == "*":
        return
    if request or ":" in rest.partition("/")[0]:
        raise UrlError(rest)
    _check_escapes(rest)


def _check_authority(authority: str) -> None:
    user, at, host = authority.rpartition("@")
    if at and not _USER.fullmatch(user):
        raise UrlError(authority)
    _check_escapes(user)
    if host.startswith("["):
        address, _bracket, port = host.rpartition("]")
        if address in ("", "["):
            raise UrlError(authority)
    else:
        port = host[host.rindex(":") :] if ":" in host else ""
    if not _PORT.fullmatch(port) or not _HOST.fullmatch(host.partition("%25")[0] if host.startswith("[") else host):
        raise UrlError(authority)


def _check_escapes(text: str) -> None:
    if _BAD_ESCAPE.search(text):
        raise UrlError(text)


_DIGITS: Final = {"md5": 32, "sha1": 40, "sha256": 64, "sha512": 128}
_NOT_HEX: Final = re.compile(r"[^0-9a-f]")


class ChecksumError(ValueError):
    """A text is not a checksum; the message is CDI's."""


def parse_checksum(text: str) -> tuple[str, str]:
    """The algorithm, as in `hashlib`, and the digits, both in lower case. Raises ChecksumError."""
    algorithm, colon, digits = (part.strip().lower() for part in text.partition(":"))
    if not colon:
        raise ChecksumError(f"invalid checksum format: expected 'algorithm:hash', got '{text}'")
    if not digits:
        raise ChecksumError("checksum hash value cannot be empty")
    if algorithm not in _DIGITS:
        supported = ", ".join(_DIGITS)
        raise ChecksumError(f"unsupported hash algorithm '{algorithm}': supported algorithms are: {supported}")
    length = len(digits.encode())
    if length != _DIGITS[algorithm]:
        expected = f"expected {_DIGITS[algorithm]} hex characters, got {length}"
        raise ChecksumError(f"invalid {algorithm} hash length: {expected}")
    invalid = _NOT_HEX.search(digits)
    if invalid:
        character = f"U+{ord(invalid[0]):04X} '{invalid[0]}'"
        raise ChecksumError(f"checksum hash is not valid hexadecimal: encoding/hex: invalid byte: {character}")
    return algorithm, digits


class _Bounds(NamedTuple):
    minimum: int
    maximum: int
    names: tuple[str, ...] = ()


_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: Final = (_Bounds(0, 59), _Bounds(0, 23), _Bounds(1, 31), _Bounds(1, 12, _MONTHS), _Bounds(0, 6, _DAYS))
_DESCRIPTORS: Final = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_NANOS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_LONGEST: Final = 2**63
# Longer numbers are never intended; Python parses at most 4300 digits.
_MAX_CHARACTERS: Final = 100
_NUMBER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_PART: Final = re.compile(r"([0-9]*)((?:\.[0-9]*)?)([^0-9.]*)", re.ASCII)


class ScheduleError(ValueError):
    """A text is not a schedule; the message is robfig/cron's."""


def check_schedule(text: str, zones: Container[str] | None = None) -> None:
    """Raises ScheduleError for a text that is no schedule, and Panic where the parser panics: for a time zone without
    a schedule. zones: the names of all time zones; without them every name is valid.
    """
    if not text:
        raise ScheduleError("empty spec string")
    if text.startswith(("TZ=", "CRON_TZ=")):
        prefix, space, text = text.partition(" ")
        if not space:
            raise Panic("a time zone needs a schedule after it")
        _check_zone(prefix.partition("=")[2], zones)
        text = text.strip()
    if text.startswith("@every "):
        _check_duration(text)
        return
    if text.startswith("@"):
        if text not in _DESCRIPTORS:
            raise ScheduleError(f"unrecognized descriptor: {text}")
        return
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise ScheduleError(f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: [{' '.join(fields)}]")
    for field, bounds in zip(fields, _FIELDS):
        for part in filter(None, field.split(",")):
            _check_part(part, bounds)


def _check_zone(zone: str, zones: Container[str] | None) -> None:
    if ".." in zone or zone.startswith(("/", "\\")):
        raise ScheduleError(f"provided bad location {zone}: time: invalid location name")
    if zones is not None and zone not in zones and zone not in ("", "UTC", "Local"):
        raise ScheduleError(f"provided bad location {zone}: unknown time zone {zone}")


def _check_part(text: str, bounds: _Bounds) -> None:
    span, *steps = text.split("/")
    low, *high = span.split("-")
    if low in ("*", "?"):
        start, end = bounds.minimum, bounds.maximum
    else:
        start = end = _value(low, bounds)
        if len(high) > 1:
            raise ScheduleError(f"too many hyphens: {text}")
        if high:
            end = _value(high[0], bounds)
    if len(steps) > 1:
        raise ScheduleError(f"too many slashes: {text}")
    step = _integer(steps[0]) if steps else 1
    if steps and not high:
        end = bounds.maximum
    if start < bounds.minimum:
        raise ScheduleError(f"beginning of range ({start}) below minimum ({bounds.minimum}): {text}")
    if end > bounds.maximum:
        raise ScheduleError(f"end of range ({end}) above maximum ({bounds.maximum}): {text}")
    if start > end:
        raise ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if not step:
        raise ScheduleError(f"step of range should be a positive number: {text}")


def _value(text: str, bounds: _Bounds) -> int:
    lower = text.lower()
    return bounds.names.index(lower) + bounds.minimum if lower in bounds.names else _integer(text)


def _integer(text: str) -> int:
    reason = "" if _NUMBER.fullmatch(text) else "invalid syntax"
    if not reason and (len(text) > _MAX_CHARACTERS or not -_LONGEST <= int(text) < _LONGEST):
        reason = "value out of range"
    if reason:
        quoted = json.dumps(text, ensure_ascii=False)
        raise ScheduleError(f"failed to parse int from {text}: strconv.Atoi: parsing {quoted}: {reason}")
    if int(text) < 0:
        raise ScheduleError(f"negative number ({int(text)}) not allowed: {text}")
    return int(text)


def _check_duration(descriptor: str) -> None:
    """Raises ScheduleError unless Go parses the duration of ``@every DURATION``."""
    text = descriptor.removeprefix("@every ")
    quoted = _escaped(text)
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return
    nanos = 0
    reason = "" if 0 < len(rest) <= _MAX_CHARACTERS else f"invalid duration {quoted}"
    while rest and not reason:
        # It matches every text, possibly with an empty match.
        digits, fraction, unit = _PART.findall(rest)[0]
        rest = rest[len(digits) + len(fraction) + len(unit) :]
        if not (digits + fraction).strip("."):
            reason = f"invalid duration {quoted}"
        elif not unit:
            reason = f"missing unit in duration {quoted}"
        elif unit not in _NANOS:
            reason = f"unknown unit {_escaped(unit)} in duration {quoted}"
        else:
            nanos += int(digits or "0") * _NANOS[unit]
            nanos += int(fraction[1:] or "0") * _NANOS[unit] // 10 ** len(fraction[1:])
            reason = f"invalid duration {quoted}" if nanos >= _LONGEST else ""
    if reason:
        raise ScheduleError(f"failed to parse duration {descriptor}: time: {reason}")


def _escaped(text: str) -> str:
    """Go quotes a duration by bytes."""
    quoted = text.replace("\\", r"\\").replace('"', r"\"")
    return '"' + "".join(chr(byte) if 0x20 <= byte < 0x80 else f"\\x{byte:02x}" for byte in quoted.encode()) + '"'
