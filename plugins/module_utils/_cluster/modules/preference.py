"""The module preference: its options."""

from __future__ import annotations

from ..._resolver.api.matcher import PREFERENCE
from ..._resolver.declare import instancetypes as manifests
from ..writes.handlers.catalog import DeclaredTypeHandler
from .instancetype import RULES, SETTINGS
from .objects import ObjectModule

MODULE = ObjectModule(
    plural="preferences",
    spec=manifests.argument_spec(PREFERENCE),
    manifest=manifests.preference,
    namespaced=manifests.is_namespaced,
    handler=lambda options, session, _notes: DeclaredTypeHandler(options, session),
    settings=SETTINGS,
    rules=RULES,
).module
