"""What a limit says of an object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from .checks import checks, view
from .language import Limit

Manifest = dict[str, Any]


class Violation(NamedTuple):
    """One line with the field, the value and what is permitted. action: of the limit."""

    text: str
    action: str


def violations(
    limits: Iterable[Limit],
    manifest: Manifest,
    before: Manifest | None,
    namespace: str,
    labels: Mapping[str, str],
) -> Iterator[Violation]:
    """What breaks the limits of a namespace: of a VM, a VMI that a user creates, or an instancetype of the namespace.

    manifest: a VM after the mutating webhook. before: the object before an update, or None. labels: of the namespace.
    """
    applying = [limit for limit in limits if limit.applies(namespace, labels)]
    if not applying:
        return
    obj = view(manifest, before)
    for limit in applying:
        for check in checks(limit):
            if text := check(obj):
                yield Violation(text, limit.action)
