"""The filter _unknown."""

from __future__ import annotations

from collections.abc import Iterable

from ...module_utils._resolver.api.names import nearest

_OWN = "; a variable of your own needs another prefix"


def unknown(value: Iterable[str], of: str, known: Iterable[str], near: bool = False) -> list[str]:
    """See its documentation."""
    prefix = f"{of.split()[-1]}_"
    names = list(known)
    hints = {name: nearest(name, names, prefix) for name in sorted(set(value) - set(names))}
    return [
        f"{name} is not a variable of the {of}{hint}{'' if '?' in hint else _OWN}"
        for name, hint in hints.items()
        if "?" in hint or not near
    ]
