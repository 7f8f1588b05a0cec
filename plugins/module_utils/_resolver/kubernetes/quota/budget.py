"""What objects use of a namespace's quotas, by scope and resource name, and what remains while they are created
(``podEvaluator``, ``pvcEvaluator`` of Kubernetes).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ...api.label_selector import fits
from ...api.quantity import human
from ...kubevirt.pod.amounts import Amounts, amounts
from .item import CLAIMS, HUGE_PAGES, PODS, Item, one

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


# The amounts of a quota's resources in nano units.
Nanos = dict[str, int]


class Quota(NamedTuple):
    """A quota.

    kind: ResourceQuota or one of AAQ's. hard: the limits. used: the usage. scopes: all must match an object. measure:
    the amounts of an object, {} if the quota does not apply. demands: containers must set the quota's resources.
    """

    kind: str
    name: str
    hard: Amounts
    used: Nanos
    scopes: tuple[Scope, ...]
    measure: Callable[[Item], Amounts]
    demands: bool

    @property
    def called(self) -> str:
        return f"{self.kind} {self.name}"

    def takes(self, item: Item) -> bool:
        """Whether the quota applies to an object."""
        named = any(counts(item, name) for name in self.hard)
        # AAQ considers every pod, because it has resource names of its own.
        return (named or (item.resource == PODS and not self.demands)) and in_scope(item, self.scopes)

    def wanted(self, item: Item) -> Nanos:
        """The amounts that an object uses of the quota."""
        if not self.takes(item):
            return {}
        return {name: amount.nanos for name, amount in self.measure(item).items() if name in self.hard and amount.nanos}


def resource_quota(manifest: Mapping[str, Any]) -> Quota:
    """Reads a ResourceQuota. The limits in its status come first. Raises QuantityError."""
    hard, used = figures(manifest)
    name = (manifest.get("metadata") or {}).get("name") or ""
    return Quota("ResourceQuota", name, hard, used, scopes_of(manifest.get("spec") or {}), usage, True)


def figures(manifest: Mapping[str, Any]) -> tuple[Amounts, Nanos]:
    """The limits and the usage of a quota. Raises QuantityError."""
    spec, status = (manifest.get(part) or {} for part in ("spec", "status"))
    hard = amounts(status.get("hard") or spec.get("hard"))
    return hard, {name: amount.nanos for name, amount in amounts(status.get("used")).items()}


class Shared(NamedTuple):
    """A quota of several namespaces. used: the current usage in all of them."""

    quota: Quota
    used: Nanos


class Budget:
    """The quotas of a namespace with their usage. shared: quotas of several namespaces."""

    def __init__(self, quotas: Iterable[Quota], shared: Iterable[Shared] = ()) -> None:
        own, common = list(quotas), list(shared)
        self.quotas = [*own, *(one.quota for one in common)]
        self.used: list[Nanos] = [*(dict(quota.used) for quota in own), *(one.used for one in common)]

    def problems(self, items: Sequence[Item], gone: Sequence[Item] = ()) -> list[str]:
        """Why the objects cannot all be created; empty if they can. gone: objects that are deleted before."""
        return [
            problem
            for number, quota in enumerate(self.quotas)
            for problem in (*_silent(quota, items), *self._exceeded(number, items, gone))
        ]

    def take(self, variants: Sequence[Sequence[Item]], gone: Sequence[Item] = ()) -> None:
        """Counts created and deleted objects; see most_wanted."""
        for number, quota in enumerate(self.quotas):
            for name, amount in most_wanted(quota, variants, gone).items():
                self.used[number][name] = self.used[number].get(name, 0) + amount

    def _exceeded(self, number: int, items: Iterable[Item], gone: Iterable[Item]) -> list[str]:
        quota, used = self.quotas[number], self.used[number]
        added, removed = wanted_by(quota, items), wanted_by(quota, gone)
        found = []
        for name, amount in added.items():
            before = used.get(name, 0) - removed.get(name, 0)
            if before + amount > quota.hard[name].nanos:
                short = shown(quota, name, before + amount - quota.hard[name].nanos)
                left = shown(quota, name, max(0, quota.hard[name].nanos - before))
                found.append(
                    f"{quota.called} lacks {short} of {name} ({shown(quota, name, amount)} wanted, {left} left)"
                )
        return found


def shown(quota: Quota, name: str, nanos: int) -> str:
    """An amount of a quota's resource, for users."""
    whole, rest = divmod(nanos, 10**9)
    text = str(whole) if not rest else f"{nanos // 10**6}m"
    return human(text, binary="memory" in name or "storage" in name or "hugepages" in name)


def _silent(quota: Quota, items: Iterable[Item]) -> list[str]:
    return [
        f"{quota.called} requires {name} in each container, but {', '.join(containers)} "
        f"{'does' if len(containers) == 1 else 'do'} not set it"
        for item in items
        if quota.demands and item.resource == PODS and quota.takes(item)
        for name, containers in unsaid(item, quota.hard).items()
    ]


def wanted_by(quota: Quota, items: Iterable[Item], gone: Iterable[Item] = ()) -> Nanos:
    """The amounts that created objects use of a quota, minus those of deleted objects."""
    found: Nanos = {}
    for sign, some in ((1, items), (-1, gone)):
        for item in some:
            for name, amount in quota.wanted(item).items():
                found[name] = found.get(name, 0) + sign * amount
    return found


def most_wanted(quota: Quota, variants: Iterable[Sequence[Item]], gone: Sequence[Item] = ()) -> Nanos:
    """Like `wanted_by` for several possible variants: the maximum of each amount."""
    found: Nanos = {}
    for items in variants:
        for name, amount in wanted_by(quota, items, gone).items():
            found[name] = max(amount, found.get(name, amount))
    return found
