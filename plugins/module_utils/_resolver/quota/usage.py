"""What an object uses of quotas, by the quotas' resource names (``podEvaluator``, ``pvcEvaluator`` of Kubernetes)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ..pod.amounts import Amounts
from .item import CLAIMS, HUGE_PAGES, PODS, Item, one

_COUNT: Final = "count/"
_REQUESTS: Final = "requests."
_OF_CLASS: Final = ".storageclass.storage.k8s.io/"
_CLAIM_NAMES: Final = ("persistentvolumeclaims", "requests.storage")
_PLAIN: Final = ("cpu", "memory", "ephemeral-storage")
_POD_NAMES: Final = frozenset(
    ("count/pods", "pods", *(f"{kind}{name}" for kind in ("", _REQUESTS, "limits.") for name in _PLAIN))
)
# If a quota has one of these, every container must set it.
_DEMANDED: Final = ("cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory")
_EXTENDED: Final = re.compile(r"[^/]+/[^/]+")


def usage(item: Item) -> Amounts:
    """What an object uses."""
    counted = {f"{_COUNT}{item.resource}": one()}
    if item.resource == PODS:
        return {**counted, "pods": one(), **named(item.requests, item.limits)}
    if item.resource == CLAIMS:
        return {**counted, **_of_claim(item)}
    return counted


def named(requests: Amounts, limits: Amounts) -> Amounts:
    """Requests and limits by the quotas' resource names."""
    found: Amounts = {}
    for name, amount in requests.items():
        if name in _PLAIN or name.startswith(HUGE_PAGES):
            found[name] = found[_REQUESTS + name] = amount
        elif _is_extended(name):
            found[_REQUESTS + name] = amount
    return {**found, **{f"limits.{name}": limits[name] for name in _PLAIN if name in limits}}


def counts(item: Item, name: str) -> bool:
    """Whether a quota's resource name applies to objects of the item's kind."""
    if item.resource == PODS:
        huge = name.startswith((HUGE_PAGES, _REQUESTS + HUGE_PAGES))
        extended = name.startswith(_REQUESTS) and "/" in name and "kubernetes.io/" not in name
        return name in _POD_NAMES or huge or extended
    if item.resource == CLAIMS:
        plain = (*_CLAIM_NAMES, f"{_COUNT}{CLAIMS}")
        return name in plain or name.endswith(tuple(_OF_CLASS + one_name for one_name in _CLAIM_NAMES))
    return name == f"{_COUNT}{item.resource}"


def unsaid(item: Item, names: Iterable[str]) -> dict[str, list[str]]:
    """The quota's resource names that containers of a pod must set and do not, with these containers."""
    found: dict[str, list[str]] = {}
    for name in _DEMANDED:
        if name in names:
            lacking = [
                container.name
                for container in (*item.containers, *item.init_containers)
                if name not in named(container.requests, container.limits)
            ]
            if lacking:
                found[name] = sorted(set(lacking))
    return found


def _of_claim(item: Item) -> Amounts:
    found = {"persistentvolumeclaims": one()}
    if item.storage is not None:
        found["requests.storage"] = item.storage
    if item.storage_class:
        found |= {f"{item.storage_class}{_OF_CLASS}{name}": amount for name, amount in found.items()}
    return found


def _is_extended(name: str) -> bool:
    """Whether a resource of containers is not one of Kubernetes' own."""
    own = "kubernetes.io/" in name or name.startswith(_REQUESTS)
    return _EXTENDED.fullmatch(name) is not None and not own
