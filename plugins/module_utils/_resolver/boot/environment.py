"""Defaults in an image: CDI turns environment variables of a registry image's configuration into labels.

Mirrors ``envsToLabels`` of CDI's importer. CDI does not check values: an invalid label value makes the import fail.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_MARK: Final = "KUBEVIRT_IO_"
_DOMAIN: Final = "kubevirt.io/"


def labels(environment: Iterable[str]) -> dict[str, str]:
    """The labels that CDI gives the volume, from ``NAME=value`` texts; of several for one label the last counts."""
    found = {}
    for variable in environment:
        name, assigned, value = variable.partition("=")
        if assigned and _MARK in name:
            found[_label(name)] = value
    return found


def _label(name: str) -> str:
    before, _mark, after = name.partition(_MARK)
    # CDI drops the whole prefix if it begins with an underscore.
    parts = before.removesuffix("_").split("_")
    prefix = ".".join(parts) + "." if parts[0] else ""
    return f"{prefix}{_DOMAIN}{after.replace('_', '-')}".lower()
