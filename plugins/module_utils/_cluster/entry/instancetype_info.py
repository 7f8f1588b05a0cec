"""The module instancetype_info."""

from __future__ import annotations

from ..._resolver.api.matcher import INSTANCETYPE
from ..._resolver.catalog.facts import INSTANCETYPE_FEATURES
from .catalog_objects import reader

MODULE = reader(INSTANCETYPE, INSTANCETYPE_FEATURES, ("class", "series"))
