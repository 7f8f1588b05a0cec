"""choose.sizes: a size is enough for a guest if nothing of it is less."""

from fractions import Fraction

import pytest

from plugins.module_utils._resolver.choose.sizes import GuestSize, is_enough, memory_text, shortage, shown, waste_of

GIB = 1 << 30
NEEDED = GuestSize(4, 8 * GIB, "dedicated")


@pytest.mark.parametrize(
    ("offered", "enough"),
    [
        (NEEDED, True),
        (GuestSize(8, 16 * GIB, "dedicated"), True),
        (GuestSize(2, 8 * GIB, "dedicated"), False),
        (GuestSize(4, 8 * GIB - 1, "dedicated"), False),
        (GuestSize(8, 16 * GIB), False),
    ],
)
def test_enough_is_no_less_of_anything(offered: GuestSize, enough: bool) -> None:
    assert is_enough(offered, NEEDED) is enough


def test_shortage_names_all_that_is_less() -> None:
    assert shortage(GuestSize(1, 4 * GIB), NEEDED) == "1 vCPU instead of 4 and 4Gi instead of 8Gi"
    assert shortage(GuestSize(4, 9 * GIB), NEEDED) == ""


def test_waste_adds_the_shares() -> None:
    assert waste_of(GuestSize(5, 10 * GIB), NEEDED) == Fraction(1, 2)
    assert waste_of(NEEDED, NEEDED) == 0


def test_sizes_are_shown_without_loss() -> None:
    assert [memory_text(size) for size in (8 * GIB, 3 << 20, 2 << 40)] == ["8Gi", "3Mi", "2Ti"]
    assert shown(NEEDED) == "4 vCPUs, 8Gi"
