"""Hides known secrets wherever they occur in what is shown."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, Final

# As Ansible writes it.
_MASK: Final = "********"


def without(value: Any, secrets: Iterable[str]) -> Any:
    """A JSON value in which no text contains any of the secrets; the keys stay, as Ansible leaves them."""
    known = frozenset(filter(None, secrets))
    shortest_first = sorted(known, key=len)
    return _without(value, known, shortest_first, list(map(len, shortest_first))) if known else value


def _without(value: Any, known: frozenset[str], secrets: list[str], lengths: list[int]) -> Any:
    if isinstance(value, dict):
        return {key: _without(entry, known, secrets, lengths) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without(entry, known, secrets, lengths) for entry in value]
    if isinstance(value, str):
        # The options contain all of them.
        if value in known:
            return _MASK
        # The secrets of thousands of VMs are mostly longer than the texts that are told of them.
        for secret in reversed(secrets[: bisect_right(lengths, len(value))]):
            value = value.replace(secret, _MASK)
    return value
