"""Quantities as people read them, and as they are made; the rest is in the vectors and the property tests."""

from __future__ import annotations

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import quantity
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import QuantityError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.quantity import Quantity


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
        ("1Ei", "1Ei", "1.15E"),
        ("2000E", "1734.72Ei", "2000E"),
    ],
)
def test_amounts_for_people(text: str, binary: str, decimal: str) -> None:
    assert (quantity.human_readable(text), quantity.human_readable(text, binary=False)) == (binary, decimal)


def test_quantity_of_a_number_equals_its_parsed_text() -> None:
    for number in (0, 1, 1024, 1500, -3, 2**40):
        for form in (quantity.BINARY_SI, quantity.DECIMAL_SI, quantity.DECIMAL_EXPONENT):
            quantity_ = Quantity.from_integer(number, form)
            assert (quantity_.value, quantity_.nanos, quantity_.format) == (number, number * 10**9, form)
            assert quantity.parse(quantity_.text).nanos == quantity_.nanos


@pytest.mark.parametrize(
    ("number", "binary", "decimal", "exponent"),
    [
        (0, "0", "0", "0"),
        (1, "1", "1", "1"),
        # Below 1024 a binary one is written as a decimal one.
        (999, "999", "999", "999"),
        (1000, "1k", "1k", "1e3"),
        (-1000, "-1k", "-1k", "-1e3"),
        (1023, "1023", "1023", "1023"),
        (1024, "1Ki", "1024", "1024"),
        (-1024, "-1Ki", "-1024", "-1024"),
        (1025, "1025", "1025", "1025"),
        (2000, "2000", "2k", "2e3"),
        (1536 * 2**10, "1536Ki", "1572864", "1572864"),
        (2**60, "1Ei", "1152921504606846976", "1152921504606846976"),
        (10**18, "976562500000000Ki", "1E", "1e18"),
    ],
)
def test_the_canonical_text_of_a_number(number: int, binary: str, decimal: str, exponent: str) -> None:
    quantities = [
        Quantity.from_integer(number, form).text
        for form in (quantity.BINARY_SI, quantity.DECIMAL_SI, quantity.DECIMAL_EXPONENT)
    ]
    assert quantities == [binary, decimal, exponent]


@pytest.mark.parametrize(
    ("text", "unchanged"),
    [
        # As many digits as go beside the suffix, and one more.
        ("+12345678901Ki", True),
        ("+123456789013Ki", False),
        ("+12345677Mi", True),
        ("+123456777Mi", False),
        ("+12345Gi", True),
        ("+123455Gi", False),
        ("+99Ti", True),
        ("+101Ti", False),
        ("+1Pi", False),
        ("+1Ei", False),
        # A multiple of 8 might be one of 1024.
        ("+7Ki", True),
        ("+8Ki", False),
        ("+1.Ki", True),
        ("+1.5Ki", False),
        ("+123456789012345678", True),
        ("+1234567890123456789", False),
        ("+1.123456789", True),
        ("+1.1234567890", False),
        ("+1.12345678901", False),
        ("+1.12345678e-1", True),
        ("+1.123456789e-1", False),
        ("+1.12", False),
        ("+1.100", True),
        ("+1.1000", False),
        ("+1000", False),
        ("+1100", True),
        ("+0.125", False),
        ("+1e2", False),
        ("+1e3", True),
    ],
)
def test_canonical_texts_are_unchanged(text: str, unchanged: bool) -> None:
    assert (quantity.canonical(text) == text) == unchanged
    assert quantity.canonical(text).startswith("+") == unchanged
    assert quantity.parse(text).nanos == quantity.parse(text[1:]).nanos


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775806001m", 2**63 - 1),
        # As many as 64 bits hold of them.
        ("9223372036854775808", -(2**63)),
        ("9223372036854775807001m", -(2**63)),
        ("12345678901234567890", 12345678901234567890 - 2**64),
        ("12345678901234567890.5", 12345678901234567891 - 2**64),
        ("1234567890123456789E", 3246728206643101696),
        ("1234567890123456789e19", -4426206080988086272),
        # Of a short number, so only by some powers of ten, and else none.
        ("999999999999999999e1", -8446744073709551626),
        ("999999999999999999e2", 7766279631452241820),
        ("999999999999999999k", 3875820019684211736),
        ("999999999999999999M", 2003764205205896640),
        ("999999999999999999G", -6930898828444486144),
        ("999999999999999999e4", 0),
        ("999999999999999999e5", 0),
        ("999999999999999999e7", 0),
        ("999999999999999999e8", 0),
        ("999999999999999999e10", 0),
        ("999999999999999999T", 0),
        ("-999999999999999999e1", 8446744073709551626),
        # Away from zero, but towards it where a number is of too many digits to be read at once.
        ("1500m", 2),
        ("-1500m", -2),
        ("-1.000000001", -2),
        ("-2.0000000001", -1),
        ("-1.5000000001", 0),
        ("-0.0000000001", 1),
        ("-0.5Ki", -512),
        ("-1.1Ki", -1125),
        ("-2500", -2500),
        # And then with what 64 bits hold of the billionths.
        ("-9.0Gi", 8783067658),
        ("-9Gi", -9 * 2**30),
        ("-7Ei", 0),
        ("-8Ei", -(2**63 - 1)),
        ("8Ei", 2**63 - 1),
        ("7Ei", 7 * 2**60),
        ("-12345678901234567890", -5097733591),
    ],
)
def test_value_matches_go(text: str, value: int) -> None:
    assert quantity.parse(text).value == value


@pytest.mark.parametrize("exponent", [400, -400])
def test_the_largest_exponent(exponent: int) -> None:
    assert quantity.parse(f"1e{exponent}").format == quantity.DECIMAL_EXPONENT
    further = exponent + (1 if exponent > 0 else -1)
    with pytest.raises(QuantityError) as error:
        quantity.parse(f"1e{further}")
    assert str(error.value) == f"the exponent {further} is out of range"


def test_binary_quantities_below_one_are_decimal() -> None:
    formats = {text: quantity.parse(text).format for text in ("0.0001Ki", "-0.0001Ki", "0.0009765625Ki", "1Ki", "0Ki")}
    assert formats == {
        "0.0001Ki": quantity.DECIMAL_SI,
        "-0.0001Ki": quantity.DECIMAL_SI,
        "0.0009765625Ki": quantity.BINARY_SI,
        "1Ki": quantity.BINARY_SI,
        "0Ki": quantity.BINARY_SI,
    }


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("10E", "10E"),
        ("1001E", "1001E"),
        # apimachinery has no suffix for these.
        ("1000E", "1"),
        ("-2500000E", "-2500"),
        ("1000000000000000000000", "1"),
        ("1e21", "1e21"),
        ("1000e18", "1e21"),
    ],
)
def test_suffixes_end_at_exa(text: str, canonical: str) -> None:
    assert quantity.canonical(text) == canonical


@pytest.mark.parametrize("text", ["k", "+", ".", ".Ti", "-e9"])
def test_no_digits_are_zero(text: str) -> None:
    assert (quantity.parse(text).nanos, quantity.canonical(text)) == (0, "0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
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


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        ("1Gi", "1M", "1074741824"),
        ("1Gi", "512Mi", "1536Mi"),
        ("0", "512Mi", "512Mi"),
        ("1500m", "500m", "2"),
        ("1", "1n", "1000000001n"),
    ],
)
def test_sum_has_the_format_of_its_first_part(first: str, second: str, text: str) -> None:
    total = quantity.add(quantity.parse(first), quantity.parse(second))
    assert total.text == text and total == quantity.from_nanos(total.nanos, total.format)


def test_nanos_are_rounded_away_from_zero() -> None:
    values = [quantity.from_nanos(nanos, quantity.DECIMAL_SI).value for nanos in (1, 10**9, -1)]
    assert values == [1, 1, -1]


def test_identical_quantities_match_like_in_go() -> None:
    assert quantity.identical("0", "0") and quantity.identical("1Gi", "1Gi")
    # It compares pointers where an amount has too many digits.
    digits = "1234567890123456789012345"
    assert not quantity.identical(digits, digits)
