"""The scheme of a URL as Go's ``net/url`` parses it, which is stricter than Python."""

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
