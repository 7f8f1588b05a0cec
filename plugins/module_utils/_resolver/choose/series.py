"""The meaning of names and labels of published instancetypes."""

from __future__ import annotations

from typing import Any, Optional

Manifest = dict[str, Any]
Spec = Optional[Manifest]


# The label of published catalogs: general.purpose, memory.intensive, ...
CLASS_LABEL = "instancetype.kubevirt.io/class"


def series_of(name: str) -> str:
    """The part before the last dot: ``u1`` of ``u1.nano``; "" if there is none."""
    return name.rpartition(".")[0]
