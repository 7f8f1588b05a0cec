"""Memory requests of overcommitted guests, which Go computes in 32-bit floats."""

import pytest

from plugins.module_utils._resolver.kubevirt.instancetype.memory import requested


@pytest.mark.parametrize(
    ("guest", "percent", "expected"),
    [
        # These follow from the rules of the conformance vectors.
        ("1Gi", 10, "966367616"),
        ("8Gi", 15, "7130317Ki"),
        # A float has 24 bits: of 2**60 and half a step, a single byte more decides. By way of a 64-bit float it would
        # be lost.
        ("1152921573326323712", 50, "576460752303423488"),
        ("1152921573326323713", 50, "576460821022900224"),
        # 16 bytes more than half a step, and such below zero.
        ("1152925146739114k", 50, "576462607729295360"),
        ("-1152925146739114k", 50, "-576462607729295360"),
        # To the even one of two neighbours: here upwards.
        ("1152921710765277184", 50, "576460889742376960"),
        ("1152921710765277183", 50, "576460821022900224"),
        # 2**53 + 1, the first whole number that no 64-bit float holds.
        ("9007199254740993", 50, "4503599627370496"),
        ("9223372036854775807", 100, "0"),
        ("9223372036854775807", 50, "4611686018427387904"),
    ],
)
def test_requested_memory(guest: str, percent: int, expected: str) -> None:
    assert requested(guest, percent) == expected


def test_overflow_requests_the_lowest_int64() -> None:
    assert requested("8Ei", 1000) == "-8Ei"
