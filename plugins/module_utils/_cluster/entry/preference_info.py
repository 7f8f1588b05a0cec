"""The module preference_info."""

from __future__ import annotations

from ..._resolver.api.matcher import PREFERENCE
from ..._resolver.catalog.facts import PREFERENCE_FEATURES
from .catalog_objects import reader

MODULE = reader(PREFERENCE, PREFERENCE_FEATURES, ("os", "architecture"))
