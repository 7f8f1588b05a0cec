"""Quantities against exact fractions."""

import math
from decimal import Decimal
from fractions import Fraction

from hypothesis import assume, example, given
from hypothesis import strategies as st
from objects import NUMBERS, QUANTITIES, SUFFIXES

from plugins.module_utils._resolver.api import errors, quantity

UNITS = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    **{suffix: Fraction(1000) ** power for power, suffix in enumerate("kMGTPE", start=1)},
    **{f"{suffix}i": Fraction(1024) ** power for power, suffix in enumerate("KMGTPE", start=1)},
}
# Beyond it apimachinery caps amounts with a binary suffix.
LIMIT = 2**63 - 1


# A multiple of it is written without any suffix, unless with an exponent (see the unit tests).
BEYOND = 1000 * UNITS["E"]


def written_as_it_is(parsed: quantity.Quantity) -> bool:
    return parsed.format == quantity.DECIMAL_EXPONENT or parsed.nanos == 0 or parsed.nanos % (BEYOND * 10**9) != 0


def exact(text: str) -> Fraction:
    """The amount, read in another way than the resolver does."""
    number = text.rstrip("numkKMGTPEi")
    return Fraction(Decimal(number)) * UNITS[text[len(number) :]]


@given(QUANTITIES)
@example("0.1n")
@example("-1.0000000001")
@example("9Ei")
def test_amount_is_exact_to_nanos(text: str) -> None:
    """Exact down to billionths, beyond them rounded away from zero; capped above."""
    amount = exact(text)
    nanos = math.ceil(abs(amount) * 10**9)
    if text.endswith("i"):
        nanos = min(nanos, LIMIT * 10**9)
    assert quantity.parse(text).nanos == (nanos if amount >= 0 else -nanos)


@given(QUANTITIES)
def test_value_is_rounded_up_to_whole_units(text: str) -> None:
    """Rounded up; below zero some are not (see the unit tests), but whole ones that are not large stay."""
    parsed = quantity.parse(text)
    whole = math.ceil(Fraction(parsed.nanos, 10**9))
    exact_below_zero = parsed.nanos == whole * 10**9 and parsed.nanos >= -LIMIT
    if exact_below_zero if parsed.nanos < 0 else whole <= LIMIT:
        assert parsed.value == whole
    else:
        assert -(2**63) <= parsed.value <= LIMIT


@given(QUANTITIES)
def test_the_canonical_text_is_of_the_same_amount(text: str) -> None:
    parsed = quantity.parse(text)
    assume(written_as_it_is(parsed))
    assert quantity.parse(parsed.text).nanos == parsed.nanos
    assert exact(parsed.text) * 10**9 == parsed.nanos or abs(parsed.nanos) < 1


@given(QUANTITIES)
def test_canonical_text_is_stable(text: str) -> None:
    """A text that apimachinery keeps, and would write otherwise, stays."""
    once = quantity.canonical(text)
    assert quantity.canonical(quantity.canonical(once)) == quantity.canonical(once)


@given(QUANTITIES, QUANTITIES)
def test_quantities_keep_their_order(one: str, other: str) -> None:
    first, second = exact(one), exact(other)
    if first <= second and not (one.endswith("i") or other.endswith("i")):
        assert quantity.parse(one).nanos <= quantity.parse(other).nanos


@given(
    st.integers(-LIMIT, LIMIT), st.sampled_from([quantity.BINARY_SI, quantity.DECIMAL_SI, quantity.DECIMAL_EXPONENT])
)
def test_whole_numbers_survive_a_round_trip(value: int, form: str) -> None:
    written = quantity.Quantity.from_integer(value, form)
    read = quantity.parse(written.text)
    assert (written.value, read.nanos) == (value, value * 10**9)
    if value >= 0:
        assert read.value == value


@given(NUMBERS, SUFFIXES, st.booleans())
def test_human_text_is_close_to_the_amount(number: str, suffix: str, binary: bool) -> None:
    parsed = quantity.parse(number + suffix)
    assume(written_as_it_is(parsed))
    text = quantity.human_readable(parsed.text, binary)
    near = exact(text)
    assert abs(near - Fraction(parsed.nanos, 10**9)) <= UNITS[text.lstrip("0123456789.")] / 200


@given(st.text(alphabet="0123456789.eEinumkKMGTP+-", max_size=8))
def test_any_text_parses_or_raises_quantity_error(text: str) -> None:
    """Every text is a quantity or a QuantityError, and what is read can be read again."""
    try:
        parsed = quantity.parse(text)
    except errors.QuantityError:
        return
    if written_as_it_is(parsed):
        assert quantity.parse(parsed.text).nanos == parsed.nanos
