"""Hides known secrets wherever they occur in what is shown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, Final

# As Ansible writes it.
_MASK: Final = "********"


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
