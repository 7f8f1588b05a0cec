"""The options for connections and requests, for an action that runs another module."""

from __future__ import annotations

from typing import Any, Final

from ..module_utils._cluster.entry.argument_spec import AUTH, REQUESTS

_NAMES: Final = frozenset(
    key for spec in (AUTH, REQUESTS) for name, option in spec.items() for key in (name, *option.get("aliases", ()))
)


def requests_of(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a task that concern connections and requests."""
    return {name: value for name, value in options.items() if name in _NAMES}
