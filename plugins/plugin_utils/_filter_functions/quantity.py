"""The filter quantity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._resolver.api.errors import QuantityError
from ...module_utils._resolver.api.quantity import Quantity, human_readable, parse

FORMS = ("integer", "canonical", "human", "human_decimal")


def quantity(value: Any, form: Any = "integer", compare: Any = None) -> Any:
    """See its documentation."""
    if form not in FORMS:
        raise AnsibleFilterError(f"form: {form!r} is not a valid value; choose {' or '.join(FORMS)}")
    other = None if compare is None else _parsed(compare, "compare: ")

    def convert(entry: Any) -> Any:
        amount = _parsed(entry)
        if other is not None:
            return (amount.nanos > other.nanos) - (amount.nanos < other.nanos)
        if form == "integer":
            return amount.value
        return amount.text if form == "canonical" else human_readable(amount.text, binary=form == "human")

    if isinstance(value, Iterable) and not isinstance(value, (str, Mapping)):
        return [convert(entry) for entry in value]
    return convert(value)


def _parsed(value: Any, label: str = "") -> Quantity:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise AnsibleFilterError(f"{label}expected a quantity such as 512Mi, found {value!r}")
    try:
        return parse(str(value).strip())
    except QuantityError:
        raise AnsibleFilterError(f"{label}{value!r} is not a quantity; write a quantity such as 512Mi or 4G") from None
