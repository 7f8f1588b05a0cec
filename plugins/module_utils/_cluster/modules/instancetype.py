"""The modules instancetype and preference: their options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..._resolver.api import state
from ..._resolver.api.manifest import Manifest, Options
from ..._resolver.api.matcher import INSTANCETYPE, MatcherField
from ..._resolver.declare import instancetypes as manifests
from ..writes.handlers.catalog import DeclaredTypeHandler
from .objects import ObjectModule
from .outcome import Module

_SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "existing": {"type": "str", "choices": ["apply", "keep"], "default": "apply"},
    "force": {"type": "bool", "default": False},
}
_RULES: Final[dict[str, Any]] = {"mutually_exclusive": [tuple(state.SPEC)]}


def declaring(matcher_field: MatcherField, manifest: Callable[[Options], Manifest]) -> Module:
    """The module that declares instancetypes or preferences. manifest: of an object's options."""
    return ObjectModule(
        plural=f"{matcher_field.matcher}s",
        spec=manifests.argument_spec(matcher_field),
        manifest=manifest,
        namespaced=manifests.is_namespaced,
        handler=lambda options, session, _notes: DeclaredTypeHandler(options, session),
        settings=_SETTINGS,
        object_rules=_RULES,
    )


MODULE = declaring(INSTANCETYPE, manifests.instancetype)
