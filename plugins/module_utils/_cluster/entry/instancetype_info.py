"""The module instancetype_info."""

from __future__ import annotations

from ..._resolver.api.matcher import INSTANCETYPE
from ..._resolver.catalog.facts import INSTANCETYPE_FEATURES
from .ansible_edge import last_net
from .kind_info import run


@last_net
def run_instancetype_info() -> None:
    """The module instancetype_info."""
    run(INSTANCETYPE, INSTANCETYPE_FEATURES, ("class", "series"))
