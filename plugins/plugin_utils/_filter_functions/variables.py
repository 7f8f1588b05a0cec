"""The filters of what users say of a role: misspelt variables and answers of a survey."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any

from ansible.errors import AnsibleError

from ...module_utils import _known_as as known_as
from ...module_utils._resolver.api.name_rules import did_you_mean, quoted
from ...module_utils._resolver.api.type_remedies import FROM_YAML

_OWN = "; a variable of your own needs another prefix"


def unknown(value: Iterable[str], of: str, known: Iterable[str], near: bool = False) -> list[str]:
    """See its documentation."""
    prefix = f"{of.split()[-1]}_"
    names = list(known)
    hints = {name: _hint(name, names, prefix) for name in sorted(set(value) - set(names))}
    return [
        f"{name} is not a variable of the {of}{hint}{'' if '?' in hint else _OWN}"
        for name, hint in hints.items()
        if "?" in hint or not near
    ]


def _hint(name: str, names: list[str], prefix: str) -> str:
    options: dict[str, dict[str, Any]] = {known.removeprefix(prefix): {} for known in names}
    if meant := known_as.meant(name.removeprefix(prefix), options):
        return f"; did you mean {' or '.join(prefix + option for option in meant)}?"
    return did_you_mean(name, names, prefix)


def failure(result: Mapping[str, Any], otherwise: str = "failed") -> str:
    """See its documentation."""
    if not isinstance(result, Mapping):
        raise AnsibleError(f"expected the result of a task, found {quoted(result)}")
    items = result.get("results")
    # A module's own results are the objects that its message counts and names.
    failed = [
        item
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, Mapping) and "ansible_loop_var" in item and item.get("failed")
    ]
    return str((failed[0] if failed else result).get("msg") or result.get("msg") or otherwise)


def survey(value: Any, separator: str | None = None) -> str | list[str]:
    """See its documentation. Strings keep their mark as unsafe."""
    if separator is None:
        return _text(value)
    if isinstance(value, (list, tuple)):
        texts = [_text(entry) for entry in value]
    else:
        text = _text(value)
        if text[:1] == "[" and text[-1:] == "]":
            raise AnsibleError(
                f"expected a list, found the text of one, {quoted(text)}: leave out brackets and quotes{FROM_YAML}"
            )
        texts = [part.strip() for part in text.split(separator)] if separator else [text]
    return [entry for entry in texts if entry]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        raise AnsibleError(
            f"expected a text, found the boolean {str(value).lower()}; YAML reads a bare on, off, yes, no, "
            "true and false as booleans: write such a name in a list, with a comma after it"
        )
    if isinstance(value, (int, float, date)):
        return str(value)
    raise AnsibleError(f"expected a text, found {value!r}")
