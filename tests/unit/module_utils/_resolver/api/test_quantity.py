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


def test_identical_quantities_match_like_in_go() -> None:
    assert quantity.identical("0", "0") and quantity.identical("1Gi", "1Gi")
    # It compares pointers where an amount has too many digits.
    digits = "1234567890123456789012345"
    assert not quantity.identical(digits, digits)
