"""Tokens that allow an upload to one claim for five minutes, as JSON Web Tokens."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from typing import Any, Callable

LIFETIME = 300
_LEEWAY = 10
_ISSUER = "cdi-apiserver"


class Tokens:
    """Signs and reads tokens with a key that ends with the process. now: the seconds since 1970."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._key = secrets.token_bytes(32)
        self._now = now

    def sign(self, namespace: str, name: str) -> str:
        """A token for uploads to a claim."""
        issued = int(self._now())
        claims = {"iss": _ISSUER, "iat": issued, "nbf": issued, "exp": issued + LIFETIME}
        upload = {"operation": "Upload", "namespace": namespace, "name": name}
        parts = (_encoded({"alg": "HS256", "typ": "JWT"}), _encoded({**claims, **upload}))
        return ".".join((*parts, self._signature(".".join(parts))))

    def read(self, token: str) -> tuple[str, str] | None:
        """Namespace and name of the claim; None for a token that was not signed here, or is too old."""
        signed, _dot, signature = token.rpartition(".")
        if not hmac.compare_digest(signature, self._signature(signed)):
            return None
        claims = json.loads(_decoded(signed.partition(".")[2]))
        if self._now() > claims["exp"] + _LEEWAY:
            return None
        return claims["namespace"], claims["name"]

    def _signature(self, signed: str) -> str:
        return _base64(hmac.digest(self._key, signed.encode(), hashlib.sha256))


def _encoded(part: dict[str, Any]) -> str:
    return _base64(json.dumps(part, separators=(",", ":")).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
