"""The module preference: its options."""

from __future__ import annotations

from collections.abc import Sequence

from ..._resolver.api.matcher import PREFERENCE
from ..._resolver.declare.instancetypes import preference
from ..writes.catalog_objects import ObjectCheck
from .declaration import TaskState
from .instancetype import declaring
from .module import Module


def module(states: Sequence[TaskState] = (), checks: Sequence[ObjectCheck] = ()) -> Module:
    """The module. states, checks: of capabilities."""
    return declaring(PREFERENCE, preference, states, checks)
