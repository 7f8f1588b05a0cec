"""The warnings of the API server, which come as headers of its answers (RFC 7234, 5.5)."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final
from urllib.parse import unquote

from ..._resolver.secrets.redaction import without_logins

# Code, agent, text and perhaps a date; several come in one header, separated by commas.
_VALUE: Final = re.compile(r'[\s,]*(\d{3})\s+(\S+)\s+"((?:[^"\\]|\\.)*)"(?:\s+"[^"]*")?\s*(?=,|$)', re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
# The code of what users are to see again and again; others are a matter of caches.
_PERSISTENT: Final = "299"
_LONGEST: Final = 1000
_SCANNED: Final = 65536


def warning_texts(header: str) -> list[str]:
    """The texts of a header `Warning`, each on one line and shortened; none from where it is malformed."""
    # HTTP libraries decode headers as Latin-1; the API server writes UTF-8.
    with suppress(ValueError):
        header = header.encode("latin-1").decode()
    texts = []
    position = 0
    header = header[:_SCANNED]
    while found := _VALUE.match(header, position):
        position = found.end()
        text = _one_line(_ESCAPE.sub(r"\1", found[3]))
        if found[1] == _PERSISTENT and text:
            texts.append(text)
    return texts


def _one_line(text: str) -> str:
    # Before it is cut: the beginning of a login would not be found any more.
    text = without_logins(" ".join("".join(sign if sign.isprintable() else " " for sign in text).split()))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def object_label(path: str) -> str:
    """The object of a request, as messages name it: namespace and name; for a list, what is listed."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    # api/v1 or apis/GROUP/VERSION
    parts = parts[2:] if parts[0] == "api" else parts[3:]
    namespace = ""
    if len(parts) > 2 and parts[0] == "namespaces":
        namespace, parts = parts[1], parts[2:]
    name = parts[1] if len(parts) > 1 else "/".join(parts)
    return f"{namespace}/{name}" if namespace else name
