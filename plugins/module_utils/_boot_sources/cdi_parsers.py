"""Texts as CDI reads them: checksums, URLs as Go's ``net/url`` parses them, and schedules (robfig/cron)."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final, NamedTuple
from urllib.parse import quote

from .._resolver.api.errors import FieldError, Panic

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):", re.ASCII)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})", re.ASCII)
_PORT: Final = re.compile(r"(:[0-9]*)?", re.ASCII)
_USER: Final = re.compile(r"(?:[A-Za-z0-9\-._~:!$&'()*+,;=@]|%[0-9A-Fa-f]{2})*", re.ASCII)
# Go accepts these characters in a host, and all non-ASCII ones; escapes represent only non-ASCII bytes.
_HOST: Final = re.compile(r"(?:[A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>\"]|%[89A-Fa-f][0-9A-Fa-f]|[^\x00-\x7f])*")
_PLAIN: Final = "/:@!$&'()*+,;=~?#[]%-._"
_DIGITS: Final = {"md5": 32, "sha1": 40, "sha256": 64, "sha512": 128}
_NOT_HEX: Final = re.compile(r"[^0-9a-f]")


class UrlError(ValueError):
    """Go cannot parse the text as a URL."""


def scheme(text: str, request: bool = False) -> str:
    """The scheme in lower case, "" without one (``Parse``; with `request` ``ParseRequestURI``). Raises UrlError."""
    match = _SCHEME.match(text)
    name = match[1].lower() if match else ""
    rest, _hash, fragment = (text, "", "") if request else text.partition("#")
    rest = rest[match.end() :] if match else rest
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        # The part after a scheme is opaque: every text is valid.
        relative = not request and ":" not in rest.partition("/")[0] and not _BAD_ESCAPE.search(rest)
        valid = bool(name) or rest == "*" or relative
    else:
        authority, path = "", rest
        if rest.startswith("//") and (name or (not request and not rest.startswith("///"))):
            authority, _slash, path = rest[2:].partition("/")
        valid = _is_authority(authority) and not _BAD_ESCAPE.search(path)
    if _CONTROL.search(text) or text.startswith(":") or (request and not text) or _BAD_ESCAPE.search(fragment):
        valid = False
    if not valid:
        raise UrlError(text)
    return name


def _is_authority(text: str) -> bool:
    user, _at, host = text.rpartition("@")
    port = host[host.rindex(":") :] if ":" in host else ""
    if host.startswith("["):
        address, _bracket, port = host.rpartition("]")
        if address in ("", "["):
            return False
        host = host.partition("%25")[0]
    return all((_USER.fullmatch(user), _PORT.fullmatch(port), _HOST.fullmatch(host)))


def printed(text: str) -> str:
    """A parsed URL as Go prints it: the scheme in lower case, and some characters of a path escaped."""
    match = _SCHEME.match(text)
    if match and text[match.end() : match.end() + 1] != "/":
        return match[0].lower() + text[match.end() :]
    start = match.end() if match else 0
    return text[:start].lower() + quote(text[start:], safe=_PLAIN)


def parse_checksum(text: str) -> tuple[str, str]:
    """The algorithm, as in `hashlib`, and the digits, both in lower case. Raises FieldError with CDI's message."""
    algorithm, colon, digits = (part.strip().lower() for part in text.partition(":"))
    if not colon:
        raise FieldError("checksum", f"invalid checksum format: expected 'algorithm:hash', got '{text}'")
    if not digits:
        raise FieldError("checksum", "checksum hash value cannot be empty")
    if algorithm not in _DIGITS:
        supported = ", ".join(_DIGITS)
        raise FieldError("checksum", f"unsupported hash algorithm '{algorithm}': supported algorithms are: {supported}")
    length = len(digits.encode())
    if length != _DIGITS[algorithm]:
        expected = f"expected {_DIGITS[algorithm]} hex characters, got {length}"
        raise FieldError("checksum", f"invalid {algorithm} hash length: {expected}")
    invalid = _NOT_HEX.search(digits)
    if invalid:
        character = f"U+{ord(invalid[0]):04X} '{invalid[0]}'"
        raise FieldError("checksum", f"checksum hash is not valid hexadecimal: encoding/hex: invalid byte: {character}")
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
_LARGEST: Final = 2**63 - 1
# Longer numbers are never intended; Python parses at most 4300 digits.
_MAX_CHARACTERS: Final = 100
_NUMBER: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_AMOUNT: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_DURATION: Final = re.compile(rf"[+-]?(?:0|(?:(?=\.?[0-9]){_AMOUNT.pattern})+)", re.ASCII)


def is_schedule(text: str, zones: Container[str] | None) -> bool:
    """Whether robfig/cron parses a text. Raises Panic where the parser panics: for a time zone without a schedule.

    zones: the names of all time zones; if None, every name is valid.
    """
    if text.startswith(("TZ=", "CRON_TZ=")):
        prefix, space, text = text.partition(" ")
        if not space:
            raise Panic("a time zone needs a schedule after it")
        zone = prefix.partition("=")[2]
        if ".." in zone or zone.startswith(("/", "\\")):
            return False
        if zones is not None and zone not in zones and zone not in ("", "UTC", "Local"):
            return False
        text = text.strip()
    if text.startswith("@every "):
        return _is_duration(text.removeprefix("@every "))
    if text.startswith("@"):
        return text in _DESCRIPTORS
    fields = text.split()
    return len(fields) == len(_FIELDS) and all(
        _is_part(part, bounds) for field, bounds in zip(fields, _FIELDS) for part in filter(None, field.split(","))
    )


def _is_part(text: str, bounds: _Bounds) -> bool:
    span, *steps = text.split("/")
    low, *high = span.split("-")
    start: int | None = bounds.minimum
    end: int | None = bounds.maximum
    if low not in ("*", "?"):
        start = _value(low, bounds)
        if high or not steps:
            end = _value(high[0] if high else low, bounds)
        if len(high) > 1:
            return False
    step = _integer(steps[0]) if steps else 1
    if len(steps) > 1 or start is None or end is None or not step:
        return False
    return bounds.minimum <= start <= end <= bounds.maximum


def _value(text: str, bounds: _Bounds) -> int | None:
    lower = text.lower()
    return bounds.names.index(lower) + bounds.minimum if lower in bounds.names else _integer(text)


def _integer(text: str) -> int | None:
    """The number that Go reads, if it is not negative."""
    if not _NUMBER.fullmatch(text) or len(text) > _MAX_CHARACTERS:
        return None
    return int(text) if 0 <= int(text) <= _LARGEST else None


def _is_duration(text: str) -> bool:
    """Whether Go parses a duration."""
    if not _DURATION.fullmatch(text) or len(text) > _MAX_CHARACTERS:
        return False
    nanos = 0
    for digits, fraction, unit in _AMOUNT.findall(text):
        nanos += int(digits or "0") * _NANOS[unit] + int(fraction or "0") * _NANOS[unit] // 10 ** len(fraction)
    return nanos <= _LARGEST
