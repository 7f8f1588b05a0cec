"""The forms of objects, beside the current API, that catalogs take because a capability converts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ._conversion.catalogs import CURRENT
from ._resolver.catalog.bundle import Conversion

CONVERSIONS: Final[Sequence[Conversion]] = (CURRENT,)
