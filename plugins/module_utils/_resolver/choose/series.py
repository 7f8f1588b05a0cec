"""What the names and labels of published instancetypes say."""

from __future__ import annotations

from typing import Any, Optional

Manifest = dict[str, Any]
Spec = Optional[Manifest]


# As the published catalogs label instancetypes: general.purpose, memory.intensive, ...
CLASS_LABEL = "instancetype.kubevirt.io/class"


def series_of(name: str) -> str:
    """What comes before the last dot: ``u1`` of ``u1.nano``; "" if there is none."""
    return name.rpartition(".")[0]
