"""The filter _survey."""

from __future__ import annotations

from datetime import date
from typing import Any

from ansible.errors import AnsibleFilterError


def survey(value: Any, separator: str | None = None) -> str | list[str]:
    """See its documentation. Strings keep their mark as unsafe."""
    if separator is None:
        return _text(value)
    if isinstance(value, (list, tuple)):
        texts = [_text(entry) for entry in value]
    else:
        text = _text(value)
        texts = [part.strip() for part in text.split(separator)] if separator else [text]
    return [entry for entry in texts if entry]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        raise AnsibleFilterError(
            f"expected a text, found the boolean {str(value).lower()}; YAML reads a bare on, off, yes, no, "
            "true and false as booleans: write such a name in a list, with a comma after it"
        )
    if isinstance(value, (int, float, date)):
        return str(value)
    raise AnsibleFilterError(f"expected a text, found {value!r}")
