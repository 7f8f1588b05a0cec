"""A token in a file."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from .errors import ConnectionFailed, reason_of

# Seconds after which a file with a token is read again, as Kubernetes' own clients do.
_TOKEN_SECONDS: Final = 60


class TokenFile:
    """A token in a file that another program renews, such as the kubelet that of a service account."""

    def __init__(self, path: str, place: str) -> None:
        """Reads the token. place: the words with which messages begin. Raises ConnectionFailed if there is no token."""
        self._path, self._read_at = Path(path), time.monotonic()
        try:
            self._token = self._path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConnectionFailed(f"{place}: token file {path}: {reason_of(error)}", final=True) from None
        if not self._token:
            raise ConnectionFailed(f"{place}: token file {path}: is empty", final=True)

    def authorization(self) -> str:
        now = time.monotonic()
        if now >= self._read_at + _TOKEN_SECONDS:
            self._read_at = now
            # It may be back in a minute; the old token may still do.
            with suppress(OSError, UnicodeDecodeError):
                self._token = self._path.read_text(encoding="utf-8").strip() or self._token
        return f"Bearer {self._token}"
