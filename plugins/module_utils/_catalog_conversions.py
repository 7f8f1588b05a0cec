"""The forms of objects that catalogs take beside the current API: those that capabilities convert."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ._conversion.catalogs import CURRENT
from ._resolver.catalog.bundle import Conversion

CONVERSIONS: Final[Sequence[Conversion]] = (CURRENT,)
