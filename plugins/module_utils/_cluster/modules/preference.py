"""The module preference: its options."""

from __future__ import annotations

from ..._resolver.api.matcher import PREFERENCE
from ..._resolver.declare.instancetypes import preference
from .instancetype import declaring

MODULE = declaring(PREFERENCE, preference)
