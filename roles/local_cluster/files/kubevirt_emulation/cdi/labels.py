"""Which labels CDI passes on, and from what to what. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from _resolver.api.matcher import VOLUME_LABELS

Manifest = dict[str, Any]

_ALLOWED: Final = re.compile(r"([\w.]+\.kubevirt\.io|kubevirt\.io)/[\w.-]+", re.ASCII)


def of(manifest: Manifest | None) -> dict[str, str]:
    """An object's labels."""
    return dict(((manifest or {}).get("metadata") or {}).get("labels") or {})


def allowed(labels: Mapping[str, str]) -> dict[str, str]:
    """Those that CDI copies between objects (``CopyAllowedLabels``)."""
    return {name: value for name, value in labels.items() if _ALLOWED.fullmatch(name)}


def defaults(present: Iterable[str], source: Mapping[str, str]) -> dict[str, str]:
    """The defaults that a DataVolume gets of its source: none where it has one of the four."""
    if any(name in VOLUME_LABELS for name in present):
        return {}
    return {name: source[name] for name in VOLUME_LABELS if name in source}
