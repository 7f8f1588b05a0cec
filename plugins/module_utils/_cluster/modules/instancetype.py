"""The module instancetype: its options."""

from __future__ import annotations

from typing import Any, Final

from ..._resolver.api import state
from ..._resolver.api.matcher import INSTANCETYPE
from ..._resolver.declare import instancetypes as manifests
from ..writes.handlers.catalog import DeclaredTypeHandler
from .objects import ObjectModule

SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "existing": {"type": "str", "choices": ["apply", "keep"], "default": "apply"},
    "force": {"type": "bool", "default": False},
}
RULES: Final[dict[str, Any]] = {"mutually_exclusive": [tuple(state.SPEC)]}

MODULE = ObjectModule(
    plural="instancetypes",
    spec=manifests.argument_spec(INSTANCETYPE),
    manifest=manifests.instancetype,
    namespaced=manifests.is_namespaced,
    handler=lambda options, session, _notes: DeclaredTypeHandler(options, session),
    settings=SETTINGS,
    rules=RULES,
).module
