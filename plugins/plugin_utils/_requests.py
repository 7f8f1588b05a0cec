"""The options by which all modules reach the cluster, for an action that runs another module."""

from __future__ import annotations

from typing import Any, Final

from ..module_utils._cluster.entry.argument_spec import AUTH, REQUESTS

_NAMES: Final = frozenset(
    key for spec in (AUTH, REQUESTS) for name, option in spec.items() for key in (name, *option.get("aliases", ()))
)


def requests_of(options: dict[str, Any]) -> dict[str, Any]:
    """Those among a task's options that say how the cluster is reached and asked."""
    return {name: value for name, value in options.items() if name in _NAMES}
