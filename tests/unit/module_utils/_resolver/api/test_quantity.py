"""Quantities as people read them, and as they are made; the rest is in the vectors and the property tests."""

import pytest

from plugins.module_utils._resolver.api import quantity
from plugins.module_utils._resolver.api.errors import QuantityError


@pytest.mark.parametrize(
    ("text", "binary", "decimal"),
    [
        ("0", "0", "0"),
        ("1n", "1n", "1n"),
        ("999n", "999n", "999n"),
        ("1000n", "1u", "1u"),
        ("999u", "999u", "999u"),
        ("1m", "1m", "1m"),
        ("999999u", "1", "1"),
        ("999m", "999m", "999m"),
        ("1", "1", "1"),
        ("1.5", "1.5", "1.5"),
        ("999", "999", "999"),
        ("999994m", "999.99", "999.99"),
        # Half of a hundredth goes up, and here into the next unit.
        ("999995m", "1000", "1k"),
        ("1000", "1000", "1k"),
        ("1023", "1023", "1.02k"),
        ("1024", "1Ki", "1.02k"),
        ("1023Ki", "1023Ki", "1.05M"),
        ("1048571", "1Mi", "1.05M"),
        ("1048570", "1023.99Ki", "1.05M"),
        ("-1536Mi", "-1.5Gi", "-1.61G"),
        ("-1n", "-1n", "-1n"),
        ("1Ei", "1Ei", "1.15E"),
        ("2000E", "1734.72Ei", "2000E"),
    ],
)
def test_amounts_for_people(text: str, binary: str, decimal: str) -> None:
    assert (quantity.human_readable(text), quantity.human_readable(text, binary=False)) == (binary, decimal)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1e99999999999", "the exponent 99999999999 is out of range"),
        ("", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ("1e1e", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ("1Kii", "unable to parse quantity's suffix"),
        ("1ki", "unable to parse quantity's suffix"),
        ("1e", "unable to parse quantity's suffix"),
        # Unless the suffix asks for more than an int64.
        ("Pi", "unable to parse numeric part of quantity"),
        ("-.Ei", "unable to parse numeric part of quantity"),
        ("e-10", "unable to parse numeric part of quantity"),
        (".e-12", "unable to parse numeric part of quantity"),
    ],
)
def test_invalid_quantities_have_the_message_of_go(text: str, message: str) -> None:
    with pytest.raises(QuantityError) as error:
        quantity.parse(text)
    assert str(error.value) == message


def test_parts_of_a_byte_are_decimal() -> None:
    assert quantity.parse("0.0001Ki").text == "102400u"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("0", "0", True),
        ("0", "0Ki", False),
        ("1Gi", "1Gi", True),
        ("1", "1000m", False),
        ("1", "2", False),
        ("2", "1", False),
        ("-1", "1", False),
        # Where Go keeps no text, what it holds decides.
        ("+1000", "1000", True),
        ("1000", "2000", False),
        ("8192Ki", "8Mi", True),
        ("-8192Ki", "-8Mi", True),
        ("16Ki", "8Ki", False),
        ("100.0", "0.1000k", True),
        ("12.5", "0.0125k", True),
        ("1.25k", "0.00125M", True),
        ("1.23456k", "0.00123456M", True),
        ("10.00k", "1.000k", False),
    ],
)
def test_identical_quantities_match_like_in_go(first: str, second: str, expected: bool) -> None:
    assert quantity.identical(first, second) is expected


@pytest.mark.parametrize(
    ("fast", "slow"),
    [
        ("1" * 18, "1" * 19),
        ("0.000000001", "0.0000000001"),
        ("1n", "0.1n"),
        ("0.001u", "0.0000001u"),
        ("1" * 11 + "Ki", "1" * 12 + "Ki"),
        ("1" * 8 + "Mi", "1" * 9 + "Mi"),
        ("1" * 5 + "Gi", "1" * 6 + "Gi"),
        ("11Ti", "111Ti"),
        ("1Ki", "1Pi"),
        ("1Ki", "1.5Ki"),
    ],
)
def test_amounts_of_many_digits_are_never_identical(fast: str, slow: str) -> None:
    """Go compares pointers where an amount may not fit in an int64."""
    assert quantity.identical(fast, fast) and not quantity.identical(slow, slow)


@pytest.mark.parametrize(
    ("text", "milli", "value"),
    [
        ("0", 0, 0),
        ("1n", 1, 1),
        ("-1n", -1, -1),
        ("1500u", 2, 1),
        ("-1500u", -2, -1),
        ("-1", -1000, -1),
        # Beyond the fast path a remainder adds 1, whatever the sign.
        ("1.0000000001", 1001, 2),
        ("2.0000000000", 2000, 2),
        ("-1.5000000000", -1500, 0),
        ("-2.0000000000", -2000, -2),
    ],
)
def test_whole_units_and_thousandths(text: str, milli: int, value: int) -> None:
    parsed = quantity.parse(text)
    assert (parsed.milli, parsed.value) == (milli, value)


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("power", range(11))
def test_large_values_wrap_or_are_0(sign: str, power: int) -> None:
    """Go multiplies by some powers of ten without looking."""
    exact = int(f"{sign}{'9' * 18}") * 10**power
    wrapped = (exact + 2**63) % 2**64 - 2**63
    assert quantity.parse(f"{sign}{'9' * 18}e{power}").value == (wrapped if power in (0, 1, 2, 3, 6, 9) else 0)


def test_value_far_below_zero_is_what_overflows() -> None:
    assert quantity.parse("-1234567890123456789012").value == 6735474852
    assert quantity.parse("8Ei").nanos == 9223372036854775807 * 10**9


def test_limits_of_texts() -> None:
    assert quantity.parse("1".rjust(1000, "0")).value == 1
    assert quantity.parse("1e400").format == quantity.DECIMAL_EXPONENT
    for text in ("1".rjust(1001, "0"), "1e401"):
        with pytest.raises(QuantityError):
            quantity.parse(text)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (5, "5"),
        (-5, "-5"),
        # Below 1Ki a number has a decimal suffix.
        (1000, "1k"),
        (1024, "1Ki"),
        (-1024, "-1Ki"),
        (2000, "2000"),
        (-2000, "-2000"),
        (3 << 20, "3Mi"),
    ],
)
def test_integers_in_binary_format(number: int, text: str) -> None:
    made = quantity.Quantity.from_integer(number, quantity.BINARY_SI)
    assert made == (number * 1000000000, quantity.BINARY_SI, text, number)


@pytest.mark.parametrize(("nanos", "value"), [(1, 1), (1500000000, 2), (-1, -1), (-1500000000, -2), (0, 0)])
def test_value_of_nanos_is_rounded_away_from_zero(nanos: int, value: int) -> None:
    assert quantity.from_nanos(nanos, quantity.DECIMAL_SI).value == value


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [("1Gi", "512Mi", "1536Mi"), ("0", "1Gi", "1Gi"), ("2k", "1Ki", "3024"), ("1500m", "-500m", "1")],
)
def test_sum_has_the_format_of_the_first(first: str, second: str, text: str) -> None:
    assert quantity.add(quantity.parse(first), quantity.parse(second)).text == text


def test_part_of_a_byte_has_the_decimal_format() -> None:
    assert [quantity.parse(text).format for text in ("0.0001Ki", "1Ki")] == [quantity.DECIMAL_SI, quantity.BINARY_SI]
