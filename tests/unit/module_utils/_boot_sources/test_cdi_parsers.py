"""Texts as CDI reads them, which the recordings of tests/boot_sources lack.

The expected values are from net/url of Go 1.26 and from robfig/cron v3.0.1.
"""

import pytest

from plugins.module_utils._boot_sources.cdi_parsers import (
    UrlError,
    is_schedule,
    parse_checksum,
    printed,
    scheme,
)
from plugins.module_utils._resolver.api.errors import FieldError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("docker://u:p@[::1]:80/a?b#c", "docker"),
        ("docker://[fe80::1%25en0]/a", "docker"),
        ("oci-archive:/x%20y", "oci-archive"),
        ("quay.io:5000/%zz", "quay.io"),
        ("quay.io/a:1", ""),
        ("//x/y", ""),
    ],
)
def test_scheme_of_a_url(text: str, expected: str) -> None:
    assert scheme(text) == expected


@pytest.mark.parametrize(
    "text",
    ["127.0.0.1:5000/a", "a\nb", "docker://x:y/z", "docker://[]/z", "docker://u ser@x", "docker://x/%zz", "a#%zz"],
)
def test_invalid_urls_raise(text: str) -> None:
    with pytest.raises(UrlError):
        scheme(text)


def test_request_uri_needs_a_scheme_or_a_path() -> None:
    assert scheme("//x y", request=True) == ""
    for text in ("", "x/y", "a%zz"):
        with pytest.raises(UrlError):
            scheme(text, request=True)


def test_printed_url_is_escaped() -> None:
    assert printed("HTTP://x/a b") == "http://x/a%20b"
    assert printed("a b/é") == "a%20b/%C3%A9"
    assert printed("quay.io:5000/a b") == "quay.io:5000/a b"


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
    with pytest.raises(FieldError) as error:
        parse_checksum(text)
    assert error.value.reason == message


@pytest.mark.parametrize("text", ["0 0 * dec sun", "@every 1.5h2m", "TZ=Europe/Berlin @daily", "CRON_TZ= @daily"])
def test_valid_schedules(text: str) -> None:
    assert is_schedule(text, {"Europe/Berlin"})


@pytest.mark.parametrize(
    "text",
    [
        *("1-2-3 * * * *", "1/2/3 * * * *", "1/-2 * * * *", "1-x * * * *", "-1 * * * *", "60 * * * *"),
        *(f"{2**63} * * * *", f"{'1' * 5000} * * * *", f"@every {'1' * 5000}h", "@every 9999999h", "@every .h"),
        *("TZ=../x * * * * *", "TZ=Nowhere * * * * *"),
    ],
)
def test_invalid_schedules(text: str) -> None:
    assert not is_schedule(text, {"Europe/Berlin"})
