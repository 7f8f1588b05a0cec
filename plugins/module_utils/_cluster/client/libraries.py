"""The libraries of modules, which a target may lack."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import yaml

__all__ = ["LIBRARIES", "MISSING", "yaml"]

LIBRARIES: Final = "urllib3 and PyYAML"
"""What modules need beside Python."""
MISSING: Final = "\n".join(f"No module named {name!r}" for name in ("urllib3", "yaml") if find_spec(name) is None)
"""What Python says of those that are not installed; "" if both are. Each is imported where it is used."""


def __getattr__(name: str) -> Any:
    """`yaml`, or None if it is missing: documentation is also read where it is, from files that need it at once."""
    if name != "yaml":
        raise AttributeError(name)
    return import_module(name) if find_spec(name) is not None else None
