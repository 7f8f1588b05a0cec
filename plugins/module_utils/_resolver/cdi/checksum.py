"""Checksums in CDI's form: ``ALGORITHM:HEXADECIMAL``."""

from __future__ import annotations

import re
from typing import Final

_DIGITS: Final = {"md5": 32, "sha1": 40, "sha256": 64, "sha512": 128}
_NOT_HEX: Final = re.compile(r"[^0-9a-f]")


class ChecksumError(ValueError):
    """A text is not a checksum; the message is CDI's."""


def parse(text: str) -> tuple[str, str]:
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
