"""Hides secrets in values before they are shown."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .secret_texts import LAST_APPLIED, QUERY, SECRET, USER_INFO, is_value, logins

HIDDEN: Final = "(hidden)"
_FILL_IN: Final = "(hidden: write the value here, as kubectl get vm -o yaml shows it)"
# Ansible writes the same mask.
_MASK: Final = "********"
_CHANGED: Final = "(hidden, another value)"
# Annotations that the cluster or kubectl sets on a VM.
_ADDED: Final = frozenset(
    {LAST_APPLIED, "kubevirt.io/latest-observed-api-version", "kubevirt.io/storage-observed-api-version"}
)
_URL_QUERY: Final = re.compile(r"(?<=[^\s\"'<>]\?)[^\s\"'<>]+")
_SUSPECTS: Final = SECRET | {"url", "value"}


def own_annotations(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The annotations of an object that belong in a manifest: neither the cluster nor kubectl has set them."""
    return {key: value for key, value in (metadata.get("annotations") or {}).items() if key not in _ADDED}


def redact(before: Any, after: Any) -> tuple[Any, Any]:
    """Two states of an object with secrets hidden, such that changes of secrets remain visible.

    Parts without secrets are not copied, to save memory for thousands of objects.
    """
    if not (_may_hide(before) or _may_hide(after)):
        return before, after
    old_secrets = _secrets(before)
    text = HIDDEN if before == after or not old_secrets else _CHANGED
    return _hide(before, HIDDEN), _hide(after, text, old_secrets)


def redact_field(field: str, before: Any, after: Any) -> tuple[Any, Any]:
    """Two values of a field with secrets hidden, such that they differ in what is shown if they differ.

    field: its path, whose last key may have dots. before, after: None if absent.
    """
    name = next((key for key in SECRET if f".{field}".endswith(f".{key}")), field.rpartition(".")[2])
    old, new = redact(*({} if value is None else {name: value} for value in (before, after)))
    hidden = old.get(name), new.get(name)
    return (hidden[0], _CHANGED) if hidden[0] == hidden[1] and before != after else hidden


def to_fill_in(value: Any) -> Any:
    """A value with texts in the place of secrets that say to fill them in; see `is_hidden`."""
    return _hide(value, _FILL_IN) if _may_hide(value) else value


def is_hidden(text: str) -> bool:
    """Whether a text stands for a hidden value."""
    return text in (HIDDEN, _FILL_IN, _CHANGED, _MASK)


def _hides(owner: dict[str, Any], key: str) -> bool:
    """Whether all of a field is secret: by its name, or as the value of a parameter."""
    return key in SECRET or is_value(owner, "", key)


def _may_hide(value: Any) -> bool:
    """Whether a value has a field that may be hidden. Most objects of a large task have none."""
    if isinstance(value, dict):
        return not _SUSPECTS.isdisjoint(value) or any(map(_may_hide, value.values()))
    if isinstance(value, list):
        return any(map(_may_hide, value))
    return isinstance(value, str) and "://" in value


def _secrets(value: Any) -> frozenset[str]:
    if isinstance(value, dict):
        secrets = {str(entry) for key, entry in value.items() if _hides(value, key)}
        return frozenset(secrets.union(*(_secrets(entry) for key, entry in value.items() if not _hides(value, key))))
    if isinstance(value, list):
        return frozenset().union(*map(_secrets, value))
    return frozenset()


def _hide(value: Any, text: str, old_secrets: frozenset[str] = frozenset(), name: str = "") -> Any:
    if isinstance(value, dict):
        hidden = {
            key: (HIDDEN if str(entry) in old_secrets else text)
            if _hides(value, key)
            else _hide(entry, text, old_secrets, key)
            for key, entry in value.items()
        }
        return hidden if any(hidden[key] is not entry for key, entry in value.items()) else value
    if isinstance(value, str):
        if name == "url":
            return QUERY.sub(HIDDEN, USER_INFO.sub(HIDDEN, value))
        return without_logins(value) if "://" in value else value
    if isinstance(value, list):
        entries = [_hide(entry, text, old_secrets) for entry in value]
        return entries if any(new is not old for new, old in zip(entries, value)) else value
    return value


def without_logins(text: str, name: str = "") -> str:
    """A text without the users and passwords of its URLs. name: the option or field that has the value."""
    for login in logins(text, name) if "@" in text else ():
        text = text.replace(login, HIDDEN)
    return text


def without_url_secrets(text: str) -> str:
    """A sentence of another program without the logins and queries of the URLs in it."""
    return _URL_QUERY.sub(HIDDEN, USER_INFO.sub(HIDDEN, text)) if "://" in text else text


def mask_secrets(value: Any, secrets: Iterable[str]) -> Any:
    """A JSON value in which no text contains any of the secrets; the keys stay, as Ansible leaves them."""
    all_secrets = frozenset(filter(None, secrets))
    shortest_first = sorted(all_secrets, key=len)
    return _mask(value, all_secrets, shortest_first, list(map(len, shortest_first))) if all_secrets else value


def _mask(value: Any, all_secrets: frozenset[str], secrets: list[str], lengths: list[int]) -> Any:
    if isinstance(value, dict):
        return {key: _mask(entry, all_secrets, secrets, lengths) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mask(entry, all_secrets, secrets, lengths) for entry in value]
    if isinstance(value, str):
        # The options contain all of them.
        if value in all_secrets:
            return _MASK
        # The secrets of thousands of VMs are mostly longer than the texts of their results.
        for secret in reversed(secrets[: bisect_right(lengths, len(value))]):
            value = value.replace(secret, _MASK)
    return value
