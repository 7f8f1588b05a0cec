"""Kubernetes' quantities in bytes."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import Final

_BINARY: Final = {f"{letter}i": 1024**power for power, letter in enumerate("KMGTPE", 1)}
_DECIMAL: Final = {"": Decimal(1), "m": Decimal("0.001")} | {
    letter: Decimal(1000) ** power for power, letter in enumerate("kMGTPE", 1)
}


def parse(text: str) -> int:
    """The value, rounded up. Raises ValueError."""
    number = text.rstrip("kKMGTPEim") if not text.lower().rstrip("0123456789+-").endswith("e") else text
    suffix = text[len(number) :]
    factor = _BINARY.get(suffix) or _DECIMAL.get(suffix)
    if factor is None:
        raise ValueError(f"{text!r} is no quantity")
    try:
        return int((Decimal(number) * factor).to_integral_value(ROUND_CEILING))
    except ArithmeticError:
        raise ValueError(f"{text!r} is no quantity") from None
