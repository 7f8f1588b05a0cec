"""The remedies for values of a wrong type that mean the right one, as surveys and templates of Ansible give them."""

from __future__ import annotations

import re
from typing import Any, Final

from .name_rules import quoted

QUOTES: Final = "; put it in quotes"
_BY_TEMPLATE: Final = "{{{{ value | {} }}}} if it comes from a template"
AS_TEXT: Final = f"{QUOTES}, or write {_BY_TEMPLATE.format('string')}"
FROM_YAML: Final = f"; write {_BY_TEMPLATE.format('from_yaml')}"
OMIT: Final = f"; write {_BY_TEMPLATE.format('default(omit, true)')}, such as the answer of a survey"
_BOOLEAN: Final = r"'(?i:true|false|yes|no|on|off|y|n|0|1)'|[01]"
_STRING: Final = (r"(?!an object$|a list$|null$|None$|[\[{']).*", AS_TEXT)
_OBJECT: Final = (r"'\s*([\[{]|- |[^']*: ).*", FROM_YAML)
# An expected type → the values that mean one of it, as messages quote them, and the remedy.
_REMEDIES: Final = {
    **dict.fromkeys(("a string", "a text"), _STRING),
    "true or false": (_BOOLEAN, f"; write true or false without quotes, or {_BY_TEMPLATE.format('bool')}"),
    "a whole number": (
        r"'\s*[-+]?[0-9]+\s*'|-?[0-9]+\.0",
        f"; write it without quotes, or {_BY_TEMPLATE.format('int')}",
    ),
    "a number": (r"'\s*[-+]?[0-9.]+\s*'", f"; write it without quotes, or {_BY_TEMPLATE.format('float')}"),
    **dict.fromkeys(("a list", "an object", "a dictionary"), _OBJECT),
}
_EXPECTED: Final = rf"(?s)expected ({'|'.join(_REMEDIES)}), found (.*)"


def wrong_type(expected: str, value: Any) -> str:
    """The message about a value of a wrong type, with the remedy."""
    reason = f"expected {expected}, found {quoted(value)}"
    return reason + type_remedy(reason)


def type_remedy(reason: str) -> str:
    """The remedy for a value of a wrong type that means the right one; "" for other values.

    Surveys give text for numbers, and templates numbers for text. reason: in the words of `schema`.
    """
    match = re.fullmatch(_EXPECTED, reason)
    if match is None:
        return ""
    meant, remedy = _REMEDIES[match[1]]
    return remedy if re.fullmatch(meant, match[2], re.DOTALL) else ""
