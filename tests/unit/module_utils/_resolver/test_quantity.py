"""Quantities as people read them, and as they are made; the rest is in the vectors and the property tests."""

from __future__ import annotations

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver import quantity
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.quantity import Quantity


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
    assert (quantity.human(text), quantity.human(text, binary=False)) == (binary, decimal)


def test_a_quantity_made_of_a_number_is_the_one_that_its_text_says() -> None:
    for number in (0, 1, 1024, 1500, -3, 2**40):
        for form in (quantity.BINARY_SI, quantity.DECIMAL_SI):
            made = Quantity.of(number, form)
            assert (made.value, made.nanos, made.format) == (number, number * 10**9, form)
            assert quantity.parse(made.text).nanos == made.nanos
