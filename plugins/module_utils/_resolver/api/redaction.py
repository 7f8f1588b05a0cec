"""Hides secrets in values before they are shown."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, Final

HIDDEN: Final = "(hidden)"
# As Ansible writes it.
_MASK: Final = "********"
_CHANGED: Final = "(hidden, another value)"
# The annotation contains the whole object as kubectl applied it, including cloud-init data.
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
ADDED: Final = frozenset(
    {LAST_APPLIED, "kubevirt.io/latest-observed-api-version", "kubevirt.io/storage-observed-api-version"}
)
"""Annotations that the cluster or kubectl sets on a VM, which belong into no manifest."""
# cloud-init data and download headers often contain passwords and tokens.
SECRET: Final = frozenset(
    {"userData", "userDataBase64", "networkData", "networkDataBase64", "extraHeaders", LAST_APPLIED}
)
_SUSPECTS: Final = SECRET | {"url", "value"}
_SECRET_VALUE: Final = "(value of a secret parameter)"
# Names of parameters whose values are secret.
_SECRET_NAME: Final = re.compile(
    r"pass(?!ive|through)|pwd|secret|token|credential|private_?key|api_?key", re.IGNORECASE
)
# User and password of a URL, and its query, which may be a signature.
_SECRET_PARTS: Final = (re.compile(r"(?<=://)[^/@?]*(?=@)"), re.compile(r"(?<=\?).*", re.DOTALL))


def redact(before: Any, after: Any) -> tuple[Any, Any]:
    """Two states of an object with secrets hidden, such that changes of secrets remain visible.

    Parts without secrets are not copied, to save memory for thousands of objects.
    """
    if not (_may_hide(before) or _may_hide(after)):
        return before, after
    old_secrets = _secrets(before)
    text = HIDDEN if before == after or not old_secrets else _CHANGED
    return _hide(before, HIDDEN), _hide(after, text, old_secrets)


def is_secret(parameter: Any) -> bool:
    """Whether a parameter of a template has a name like that of a secret."""
    return isinstance(parameter, str) and bool(_SECRET_NAME.search(parameter))


def secret_texts(value: Any, name: str = "") -> frozenset[str]:
    """All texts in a value (options or a manifest) that must be hidden wherever they occur."""
    if isinstance(value, dict):
        named = ((_SECRET_VALUE if _is_value(value, name, key) else str(key), entry) for key, entry in value.items())
        return frozenset().union(*(secret_texts(entry, key) for key, entry in named))
    if isinstance(value, list):
        return frozenset().union(*(secret_texts(entry, name) for entry in value))
    if name == _SECRET_VALUE and isinstance(value, (int, float)) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        return frozenset()
    if name == "url":
        return frozenset(text for part in _SECRET_PARTS for text in part.findall(value) if text)
    return frozenset({value} if value and name in (_SECRET_VALUE, *SECRET) else ())


def _hides(owner: dict[str, Any], key: str) -> bool:
    """Whether all of a field is secret: by its name, or as the value of a parameter."""
    return key in SECRET or _is_value(owner, "", key)


def _is_value(owner: dict[str, Any], field: str, key: str) -> bool:
    """Whether a key of an object has a secret parameter's value. field: which has the object."""
    return (key == "value" and is_secret(owner.get("name"))) or (field == "parameters" and is_secret(key))


def _may_hide(value: Any) -> bool:
    """Whether a value has a field that may be hidden. Most objects of a large task have none."""
    if isinstance(value, dict):
        return not _SUSPECTS.isdisjoint(value) or any(map(_may_hide, value.values()))
    return isinstance(value, list) and any(map(_may_hide, value))


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
    if name == "url" and isinstance(value, str):
        for part in _SECRET_PARTS:
            value = part.sub(HIDDEN, value)
    if isinstance(value, list):
        entries = [_hide(entry, text, old_secrets) for entry in value]
        return entries if any(new is not old for new, old in zip(entries, value)) else value
    return value


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
