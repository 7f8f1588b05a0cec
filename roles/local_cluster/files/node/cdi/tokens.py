"""Checks the tokens for uploads that CDI's API server signs."""

from __future__ import annotations

import base64
import binascii
import json
import time
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from node.api.informer import Key

_ISSUER: Final = "cdi-apiserver"
_LEEWAY: Final = 10


class BadToken(Exception):
    """The token was not signed by CDI, or its time has passed."""


class WrongToken(Exception):
    """The token is CDI's, but not for an upload to a claim."""


def read(token: str, public_key: bytes, now: float | None = None) -> Key:
    """Namespace and name of the claim that a token is for. Raises BadToken or WrongToken."""
    moment = time.time() if now is None else now
    claims = _verified(token, public_key)
    expired = moment > float(claims.get("exp") or 0) + _LEEWAY
    early = moment < float(claims.get("nbf") or 0) - _LEEWAY
    if claims.get("iss") != _ISSUER or expired or early:
        raise BadToken
    resource = (claims.get("resource") or {}).get("resource")
    if claims.get("operation") != "Upload" or resource != "persistentvolumeclaims":
        raise WrongToken
    if not claims.get("namespace") or not claims.get("name"):
        raise WrongToken
    return claims["namespace"], claims["name"]


def _verified(token: str, public_key: bytes) -> dict[str, Any]:
    key = load_pem_public_key(public_key)
    if not isinstance(key, rsa.RSAPublicKey):
        raise BadToken
    signed, _dot, signature = token.rpartition(".")
    header, _dot, payload = signed.partition(".")
    try:
        if json.loads(_decoded(header)).get("alg") != "PS256":
            raise BadToken
        salted = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.AUTO)
        key.verify(_decoded(signature), signed.encode(), salted, hashes.SHA256())
        claims = json.loads(_decoded(payload))
    except (InvalidSignature, ValueError, binascii.Error, AttributeError):
        raise BadToken from None
    if not isinstance(claims, dict):
        raise BadToken
    return claims


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
