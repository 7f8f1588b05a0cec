"""The module preference_info."""

from __future__ import annotations

from ..._resolver.api.matcher import PREFERENCE
from ..._resolver.catalog.facts import PREFERENCE_FEATURES
from .ansible_edge import last_net
from .kind_info import run


@last_net
def run_preference_info() -> None:
    """The module preference_info."""
    run(PREFERENCE, PREFERENCE_FEATURES, ("os", "architecture"))
