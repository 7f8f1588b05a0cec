"""The selectors of devices that can be evaluated without CEL: equalities of driver and attributes, joined by `&&`.

Whatever else a selector says is not known, which is an answer of its own: CEL has more than a line can imitate, and
Kubernetes adds functions to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

_TEXT: Final = r"\"[^\"\\\n]*\"|'[^'\\\n]*'"
_DRIVER: Final = re.compile(rf"device\s*\.\s*driver\s*==\s*({_TEXT})")
_ATTRIBUTE: Final = re.compile(
    rf"device\s*\.\s*attributes\s*\[\s*({_TEXT})\s*\]\s*\.\s*([A-Za-z_]\w*)\s*==\s*({_TEXT}|true|false|-?\d+)"
)
_KINDS: Final = {"string": str, "bool": bool, "int": int}


def selected(selectors: Iterable[str], driver: str, attributes: Mapping[str, Any]) -> bool | None:
    """Whether a device fits all selectors; None if that is not known. attributes: as in a ResourceSlice.

    The first selector that does not hold decides, in the order of Kubernetes; within one, a term that is false does.
    """
    for selector in selectors:
        answers = {_term(term.strip(), driver, attributes) for term in selector.split("&&")}
        if answers != {True}:
            return False if False in answers else None
    return True


def _term(term: str, driver: str, attributes: Mapping[str, Any]) -> bool | None:
    named = _DRIVER.fullmatch(term)
    if named:
        return bool(named[1][1:-1] == driver)
    compared = _ATTRIBUTE.fullmatch(term)
    if compared is None:
        return None
    domain, name, wanted = compared[1][1:-1], compared[2], _literal(compared[3])
    found = attributes.get(f"{domain}/{name}")
    if found is None and domain == driver:
        found = attributes.get(name)
    if not found:
        # CEL fails, and with it the search for devices.
        return None
    kind, value = next(iter(found.items()))
    # CEL compares values of one type; versions are no texts.
    if kind not in _KINDS or type(value) is not type(wanted):
        return None
    return bool(value == wanted)


def _literal(text: str) -> str | bool | int:
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if text[0] in "\"'" else int(text)
