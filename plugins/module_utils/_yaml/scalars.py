"""The values of YAML's scalars, as Kubernetes and as Ansible read them: they disagree on `y`, `1e3` and `22:30`.

kubectl and API servers make JSON (sigs.k8s.io/yaml) of what go.yaml.in/yaml/v2 reads: YAML 1.1 without dates and
numbers to the base of 60. Ansible reads with PyYAML.
"""

from __future__ import annotations

import math
import re
from base64 import b64decode
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any, Final

from .._cluster.client.libraries import yaml
from .unquoted import UnquotedNumber

Scalars = Callable[[Any], Any]
"""The event of a scalar → its value. Raises ValueError if the text does not suit the type."""

_PREFIX: Final = "tag:yaml.org,2002:"
_TEXT: Final = f"{_PREFIX}str"
_CONSTRUCTED: Final = frozenset(f"{_PREFIX}{name}" for name in ("null", "bool", "int", "float", "timestamp"))
_BINARY: Final = f"{_PREFIX}binary"
_UNREAD: Final = object()


def _forms(words: str, value: Any) -> dict[str, Any]:
    return dict.fromkeys(words.split(), value)


_WORDS: Final[dict[str, Any]] = {
    **_forms("y Y yes Yes YES true True TRUE on On ON", True),
    **_forms("n N no No NO false False FALSE off Off OFF", False),
    "": None,
    **_forms("~ null Null NULL", None),
    **_forms(".nan .NaN .NAN", math.nan),
    **_forms(".inf .Inf .INF +.inf +.Inf +.INF", math.inf),
    **_forms("-.inf -.Inf -.INF", -math.inf),
}
NOT_TEXT: Final = re.compile(r"^(?:[-+]?\.?[0-9][0-9a-fA-FxXoO_.+-]*|[yYnN])$")
"""Texts that need quotes for Kubernetes, though PyYAML writes none: 1e3, 0o17, y."""
NOT_TEXT_STARTS: Final = "-+.0123456789yYnN"
# The first characters of what is no text.
_HINTS: Final = frozenset("+-0123456789yYnNtTfFoO~.")
_INTEGER: Final = re.compile(r"[-+]?(?:(0[xX][0-9a-fA-F]+)|(0[oO]?[0-7]+)|(0[bB][01]+)|0|[1-9][0-9]*)", re.ASCII)
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_OCTAL: Final = re.compile(r"[-+]?0[0-9_]+", re.ASCII)
_SIXTIES: Final = ":"
_LARGEST: Final = 2**64
# JSON writes larger numbers with an exponent, which no integer may have.
_EXPONENT: Final = 1e21
_TYPES: Final[dict[str, Callable[[Any], bool]]] = {
    f"{_PREFIX}null": lambda value: value is None,
    f"{_PREFIX}bool": lambda value: isinstance(value, bool),
    f"{_PREFIX}int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    f"{_PREFIX}float": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}


def kubernetes(event: Any) -> Any:
    """The value that kubectl and an API server read."""
    tag, text = event.tag, event.value
    if tag is None:
        return _kubernetes(text) if event.implicit[0] else text
    if tag == _BINARY:
        return b64decode(text, validate=True).decode(errors="replace")
    if tag not in _TYPES:
        return text
    value = _kubernetes(text)
    if not _TYPES[tag](value):
        raise ValueError(text)
    return value


def _kubernetes(text: str) -> Any:
    """The value of a text without quotes."""
    if text and text[0] not in _HINTS:
        return text  # as most are
    if text in _WORDS:
        return _WORDS[text]
    plain = text if text[0] == "." else text.replace("_", "")
    value = _whole_number(plain) if _INTEGER.fullmatch(plain) else _UNREAD
    if value is _UNREAD and _FLOAT.fullmatch(plain):
        value = float(plain)
        if math.isinf(value):
            return text
        # JSON has one kind of numbers.
        value = int(Decimal(repr(value))) if value.is_integer() and abs(value) < _EXPONENT else value
    return text if value is _UNREAD else surprising(text, value)


def _whole_number(text: str) -> Any:
    hexadecimal, octal, binary = _INTEGER.fullmatch(text).groups()  # type: ignore[union-attr]
    base = 16 if hexadecimal else 8 if octal else 2 if binary else 10
    digits = text.replace("o", "").replace("O", "") if octal else text
    value = int(digits, base)
    signed = text[0] in "+-"
    return value if -(_LARGEST // 2) <= value < (_LARGEST // 2 if signed else _LARGEST) else _UNREAD


def surprising(text: str, value: Any) -> Any:
    """An `UnquotedNumber` if a number is not the one that people read: `010` is 8, and for PyYAML `1:20` is 80."""
    if value.__class__ is not int:
        return value
    octal = _OCTAL.fullmatch(text) and int(text.replace("_", "")) != value
    return UnquotedNumber(text, value) if octal or _SIXTIES in text else value


def ansible(event: Any) -> Any:
    """The value that Ansible reads, and that modules such as `kubernetes.core.k8s` read in files."""
    loader: Any = _loader()
    tag = event.tag
    if tag is None or tag == "!":
        tag = loader.resolve(yaml.ScalarNode, event.value, event.implicit)
    if tag == _TEXT or tag not in _CONSTRUCTED:
        return event.value  # as most are
    try:
        value = loader.construct_object(yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark))
    except (AttributeError, KeyError) as error:
        raise ValueError(event.value) from error
    # Modules get arguments as JSON.
    return value.isoformat() if isinstance(value, date) else surprising(event.value, value)


@cache
def _loader() -> Any:
    make: Any = yaml.SafeLoader
    return make("")


def key_text(value: Any) -> str | None:
    """The text that a key becomes in JSON; None if it cannot be one."""
    if value is None or (isinstance(value, int) and value >= _LARGEST // 2):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, float):
        return str(value)
    # Numbers have 32 bits there, of which six digits are sure.
    return f"{value:g}" if math.isfinite(value) else f"{value}".replace("inf", ".inf").replace("nan", ".nan")
