"""Kubernetes resource quantities: exact value, order and canonical text.

Follows k8s.io/apimachinery ``resource.Quantity``, also where it keeps a text that another spelling would not give.
Values are exact integers of nano units, so nothing is lost between 1n and 2**63 Ei.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from .errors import QuantityError

BINARY_SI: Final = "BinarySI"
DECIMAL_SI: Final = "DecimalSI"
DECIMAL_EXPONENT: Final = "DecimalExponent"

NANOS_PER_MILLI: Final = 10**6
_NANO: Final = 10**9
_MAX_INT64: Final = 2**63 - 1
# apimachinery's limit for amounts with a binary suffix, in nano units.
_MOST: Final = _MAX_INT64 * _NANO
# apimachinery leaves int64 arithmetic beyond this number of digits.
_FAST_DIGITS: Final = 18
# Go accepts any 32-bit exponent; such numbers are never intended, and could not be printed.
_MAX_EXPONENT: Final = 400
# Longer texts are never intended; Python parses at most 4300 digits.
_MAX_LENGTH: Final = 1000

_BINARY_SUFFIXES: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIXES: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_NAMES: Final = {power: suffix for suffix, power in _DECIMAL_SUFFIXES.items()}

_FORM: Final = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*)([-+]?[0-9]*)", re.ASCII)
_EXPONENT: Final = r"[eE][+-]?[0-9]+"

_BAD_FORM: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_BAD_SUFFIX: Final = "unable to parse quantity's suffix"
_BAD_NUMBER: Final = "unable to parse numeric part of quantity"


class Quantity(NamedTuple):
    """An exact amount and its text.

    nanos: the amount in nano units (an exact integer).
    format: BINARY_SI, DECIMAL_SI or DECIMAL_EXPONENT; determines the canonical text.
    text: the canonical text, as the API server would store it.
    value: whole units, rounded away from zero, as Go's ``Value()``: an int64 that wraps, or becomes 0, for large
    amounts.
    """

    nanos: int
    format: str
    text: str
    value: int

    @property
    def milli(self) -> int:
        """Thousandths, rounded away from zero, as Go's ``MilliValue()``."""
        size = -(-abs(self.nanos) // NANOS_PER_MILLI)
        return size if self.nanos >= 0 else -size

    @staticmethod
    def from_integer(value: int, form: str) -> Quantity:
        """An integer number of units in the given format, as Go's ``NewQuantity``."""
        return from_nanos(value * _NANO, form)


@lru_cache(maxsize=4096)
def parse(text: str) -> Quantity:
    """Parses a quantity such as ``512Mi``, ``1.5Gi``, ``2k`` or ``1e3``.

    Raises QuantityError for a wrong form, an unknown suffix or a missing number, in apimachinery's words.
    """
    sign, digits, fraction, form, base, exponent, fast = _split(text)
    keeps_text = fast and _keeps_text(digits + fraction, form, exponent - len(fraction))

    mantissa = int(digits + fraction)
    if mantissa == 0:
        return Quantity(0, form, "0", 0)
    power = exponent - len(fraction) if base == 10 else -len(fraction)
    nanos = mantissa * _NANO * 10 ** max(power, 0) * (2**exponent if base == 2 else 1)
    nanos = -(-nanos // 10 ** max(-power, 0))
    capped = form == BINARY_SI and nanos > _MOST
    if capped:
        nanos = _MOST
    if form == BINARY_SI and nanos < _NANO:
        form = DECIMAL_SI
    if sign == "-":
        mantissa, nanos = -mantissa, -nanos
    if capped:
        value = nanos // _NANO
    else:
        value = _int64_value(nanos, mantissa, power) if fast else _big_value(nanos)
    return Quantity(nanos, form, text if keeps_text else _print(nanos, form), value)


def _split(text: str) -> tuple[str, str, str, str, int, int, bool]:
    """Sign, digits and fraction of a quantity; format, base and exponent of its suffix; see `_is_fast`."""
    match = _FORM.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if match is None or not text:
        raise QuantityError(_BAD_FORM)
    sign, digits, fraction, letters, tail = match.groups(default="")
    form, base, exponent = _suffix(letters + tail)
    # On its fast path apimachinery reads a number without leading digits as if it had one 0.
    significant = digits.lstrip("0") or "0"
    fast = _is_fast(significant, fraction, form, exponent)
    if not digits and not fraction and not fast:
        raise QuantityError(_BAD_NUMBER)
    return sign, significant, fraction, form, base, exponent, fast


def canonical(text: str) -> str:
    """The text that the API server stores for a quantity: ``1024Mi`` → ``1Gi``. Raises QuantityError."""
    return parse(text).text


def identical(first: str, second: str) -> bool:
    """Whether Go's ``==`` holds for two parsed quantities. It compares how Go holds the amount: ``1`` is not ``1000m``.

    Raises QuantityError.
    """
    held = _parts_of(first)
    return held is not None and held == _parts_of(second)


def _parts_of(text: str) -> tuple[int, int, str, str] | None:
    """The digits, their power of ten, the text if Go keeps it, and the format; None for a pointer to a number."""
    sign, digits, fraction, form, base, exponent, fast = _split(text)
    if text == "0":
        return 0, 0, text, ""
    if not fast:
        return None
    mantissa = int(sign + digits + fraction) * (2**exponent if base == 2 else 1)
    keeps_text = _keeps_text(digits + fraction, form, exponent - len(fraction))
    return mantissa, (exponent if base == 10 else 0) - len(fraction), parse(text).text if keeps_text else "", form


def add(first: Quantity, second: Quantity) -> Quantity:
    """The sum in the format of the first, or of the second if the first is zero (``Quantity.Add``)."""
    return from_nanos(first.nanos + second.nanos, first.format if first.nanos else second.format)


def from_nanos(nanos: int, form: str) -> Quantity:
    """A quantity of nano units in the given format."""
    return Quantity(nanos, form, _print(nanos, form), -(-nanos // _NANO) if nanos > 0 else nanos // _NANO)


def human_readable(text: str, binary: bool = True) -> str:
    """The amount with at most two decimals and the largest suffix that leaves 1 or more: 1610612736 → ``1.5Gi``.

    A valid quantity, rounded half up. binary: Ki, Mi, ...; else k, M, .... Amounts below 1 use m, u or n. Raises
    QuantityError.
    """
    nanos = abs(parse(text).nanos)
    if nanos == 0:
        return "0"
    large = {suffix: _NANO << bits for suffix, bits in _BINARY_SUFFIXES.items()} if binary else {}
    small = {suffix: 10 ** (power + 9) for suffix, power in _DECIMAL_SUFFIXES.items() if power < 3 or not binary}
    units = {**small, **large}
    # The first unit in which the rounded amount is less than one of the next unit.
    suffix, unit = next(
        (
            (suffix, unit)
            for (suffix, unit), more in zip(units.items(), [*units.values()][1:])
            if _hundredths(nanos, unit) * unit < 100 * more
        ),
        [*units.items()][-1],
    )
    integer, rest = divmod(_hundredths(nanos, unit), 100)
    number = f"{integer}.{rest:02}".rstrip("0").rstrip(".")
    return f"{'-' if parse(text).nanos < 0 else ''}{number}{suffix}"


def _hundredths(nanos: int, unit: int) -> int:
    """The amount in hundredths of a unit, rounded half up."""
    return (200 * nanos + unit) // (2 * unit)


def _int64_value(nanos: int, mantissa: int, power: int) -> int:
    """Go's ``Value()`` of an amount that it holds as an int64 and a power of ten."""
    rounded = -(-abs(nanos) // _NANO)
    if rounded <= _MAX_INT64:
        return rounded if nanos > 0 else -rounded
    # Go multiplies directly by some powers of ten; for others it stops at the overflow.
    return _as_int64(mantissa * 10**power) if power in (1, 2, 3, 6, 9) else 0


def _big_value(nanos: int) -> int:
    """Go's ``Value()`` of an amount that it holds as arbitrary-precision nano units."""
    if nanos < _MAX_INT64:
        # Go divides int64s here; far below zero only the overflow remains.
        nanos = _as_int64(nanos)
    units, rest = divmod(abs(nanos), _NANO)
    # Go adds 1 for a remainder, whatever the sign, so that -1.5 becomes 0.
    return _as_int64((units if nanos > 0 else -units) + (rest > 0))


def _as_int64(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def _suffix(suffix: str) -> tuple[str, int, int]:
    """Format, base and exponent of a suffix."""
    if suffix in _DECIMAL_SUFFIXES:
        return DECIMAL_SI, 10, _DECIMAL_SUFFIXES[suffix]
    if suffix in _BINARY_SUFFIXES:
        return BINARY_SI, 2, _BINARY_SUFFIXES[suffix]
    if re.fullmatch(_EXPONENT, suffix):
        exponent = int(suffix[1:])
        if abs(exponent) > _MAX_EXPONENT:
            raise QuantityError(f"the exponent {exponent} is out of range")
        return DECIMAL_EXPONENT, 10, exponent
    raise QuantityError(_BAD_SUFFIX)


def _is_fast(digits: str, fraction: str, form: str, exponent: int) -> bool:
    """Whether apimachinery parses the number as an int64 instead of an arbitrary-precision number."""
    if form == BINARY_SI:
        return not fraction and 15 - len(digits) - int(exponent * 0.3) - 1 >= 0
    return len(digits + fraction) <= _FAST_DIGITS and exponent - len(fraction) >= -9


def _keeps_text(digits: str, form: str, scale: int) -> bool:
    """Whether apimachinery considers the text canonical and keeps it (``ParseQuantity``).

    scale: the power of ten of the last digit.
    """
    if form == BINARY_SI:
        return int(digits) & 7 != 0
    return scale % 3 == 0 and not digits.endswith("000") and not digits.startswith("0")


def _print(nanos: int, form: str) -> str:
    if form == BINARY_SI and nanos % _NANO == 0 and abs(nanos) >= 1024 * _NANO:
        return _print_binary(nanos // _NANO)
    return _print_decimal(nanos, form)


def _print_binary(units: int) -> str:
    for suffix, bits in reversed(_BINARY_SUFFIXES.items()):
        if units % (1 << bits) == 0:
            return f"{units >> bits}{suffix}"
    return str(units)


def _print_decimal(nanos: int, form: str) -> str:
    """The shortest mantissa with an exponent that is a multiple of three.

    There is no suffix beyond E; apimachinery then writes none: 1000E becomes 1.
    """
    if nanos == 0:
        return "0"
    mantissa, power = nanos, -9
    while mantissa % 1000 == 0:
        mantissa, power = mantissa // 1000, power + 3
    if form == DECIMAL_EXPONENT:
        return f"{mantissa}e{power}" if power else str(mantissa)
    return f"{mantissa}{_DECIMAL_NAMES.get(power, '')}"
