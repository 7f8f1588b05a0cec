"""The modules instancetype and preference: their options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..._resolver.api.manifest import Manifest, Options
from ..._resolver.api.matcher import INSTANCETYPE, MatcherField
from ..._resolver.declare import instancetypes as manifests
from ..._resolver.declare.state_options import SPEC
from ..writes.catalog_objects import CatalogObjects, ObjectCheck
from .declaration import Declaration, TaskState
from .declared_results import generation
from .module import Module

_SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "existing": {"type": "str", "choices": ["apply", "keep"], "default": "apply"},
    "force": {"type": "bool", "default": False},
}
_RULES: Final[dict[str, Any]] = {"mutually_exclusive": [tuple(SPEC)]}


def declaring(
    matcher_field: MatcherField,
    manifest: Callable[[Options], Manifest],
    states: Sequence[TaskState],
    checks: Sequence[ObjectCheck],
) -> Module:
    """The module that declares instancetypes or preferences. manifest: makes a manifest of options."""
    return Declaration(
        plural=f"{matcher_field.name}s",
        spec=manifests.argument_spec(matcher_field),
        manifest=manifest,
        namespaced=manifests.is_namespaced,
        kind=lambda options, session, _task: CatalogObjects(options, session, checks=checks).kind,
        describe=generation,
        settings=_SETTINGS,
        object_rules=_RULES,
        states=states,
    ).module()


def module(states: Sequence[TaskState] = (), checks: Sequence[ObjectCheck] = ()) -> Module:
    """The module instancetype. states, checks: of capabilities."""
    return declaring(INSTANCETYPE, manifests.instancetype, states, checks)
