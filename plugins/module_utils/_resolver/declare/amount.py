"""Quantities in module options."""

from __future__ import annotations

from typing import Any

from ..api import quantity
from ..api.errors import FieldError, QuantityError
from ..api.names import shown


def amount(path: str, text: Any) -> str:
    """The canonical text of a quantity. path: of the option. Raises FieldError, caused by QuantityError."""
    try:
        return quantity.canonical(str(text))
    except QuantityError as error:
        raise FieldError(path, f"{shown(text)} is not a quantity; write a quantity such as 512Mi, 4Gi or 4G") from error
