"""What remains of a namespace's quotas while objects are created."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..api.quantity import human
from ..pod.amounts import Amounts, amounts
from .item import PODS, Item
from .scopes import Scope, in_scope, scopes_of
from .usage import counts, unsaid, usage

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
