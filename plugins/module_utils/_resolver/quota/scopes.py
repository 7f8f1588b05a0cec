"""The scopes of a ResourceQuota: whether it applies to an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..api.label_selector import fits
from .item import CLAIMS, PODS, Item

_PRIORITY_CLASS: Final = "PriorityClass"
_ATTRIBUTES_CLASS: Final = "VolumeAttributesClass"
_TERMS: Final = ("requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution")

Scope = Mapping[str, Any]


def scopes_of(spec: Mapping[str, Any]) -> tuple[Scope, ...]:
    """The scopes of a quota's spec, each as {scopeName, operator, values}."""
    plain = [{"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()]
    return (*plain, *((spec.get("scopeSelector") or {}).get("matchExpressions") or ()))


def in_scope(item: Item, scopes: Sequence[Scope]) -> bool:
    """Whether all scopes match an object."""
    return all(_takes(scope, item) for scope in scopes)


def _takes(scope: Scope, item: Item) -> bool:
    name = scope.get("scopeName")
    if item.resource == CLAIMS:
        # The claims of DataVolumes have no such class.
        return name == _ATTRIBUTES_CLASS and _fits(scope, "")
    if item.resource != PODS:
        return False
    if name == _PRIORITY_CLASS:
        return _fits(scope, item.priority_class)
    plain = {
        "Terminating": item.has_deadline,
        "NotTerminating": not item.has_deadline,
        "BestEffort": item.is_best_effort,
        "NotBestEffort": not item.is_best_effort,
        "CrossNamespacePodAffinity": _crosses(item.affinity),
    }
    return plain.get(str(name), False)


def _fits(scope: Scope, value: str) -> bool:
    return fits({**scope, "key": "class"}, {"class": value} if value else {})


def _crosses(affinity: Mapping[str, Any]) -> bool:
    """Whether pod affinity names namespaces."""
    for kind in ("podAffinity", "podAntiAffinity"):
        for term in (term for when in _TERMS for term in (affinity.get(kind) or {}).get(when) or ()):
            one = term.get("podAffinityTerm", term)
            if one.get("namespaces") or one.get("namespaceSelector") is not None:
                return True
    return False
