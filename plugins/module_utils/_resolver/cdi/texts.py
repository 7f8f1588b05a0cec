"""Checksums and URLs as CDI reads them: ``ALGORITHM:HEXADECIMAL``, and what Go's ``net/url`` parses."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

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
