"""Checksums as CDI reads them."""

from __future__ import annotations

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.cdi.texts import (
    ChecksumError,
    parse_checksum,
)


def test_checksum_is_normalized() -> None:
    assert parse_checksum(" SHA256 : " + "A" * 64) == ("sha256", "a" * 64)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("abc", "invalid checksum format: expected 'algorithm:hash', got 'abc'"),
        ("md5: ", "checksum hash value cannot be empty"),
        ("crc:1", "unsupported hash algorithm 'crc': supported algorithms are: md5, sha1, sha256, sha512"),
        ("sha1:abc", "invalid sha1 hash length: expected 40 hex characters, got 3"),
        ("md5:" + "g" * 32, "checksum hash is not valid hexadecimal: encoding/hex: invalid byte: U+0067 'g'"),
    ],
)
def test_invalid_checksums_raise(text: str, message: str) -> None:
    with pytest.raises(ChecksumError) as error:
        parse_checksum(text)
    assert str(error.value) == message
