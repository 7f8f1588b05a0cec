"""The defaults that LimitRanges add to a pod, and the pods that they reject (``LimitRanger`` of Kubernetes)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..._resolver.api.quantity import Quantity, parse
from ..pod.amounts import ZERO, Amounts, Container
from ..pod.amounts import amounts as read
from .budget import CLAIMS, HUGE_PAGES, PODS, QuotaItem

Limit = Mapping[str, Any]

_NANOS_PER_MILLI: Final = 10**6
# Beyond this Kubernetes compares whole units.
_MAX_MILLI: Final = (2**63 - 1) // 1000


class Defaults(NamedTuple):
    """The values of containers that have none of their own."""

    limits: Amounts
    requests: Amounts

    def completed_by(self, other: Defaults) -> Defaults:
        """These defaults, completed by others."""
        return Defaults({**other.limits, **self.limits}, {**other.requests, **self.requests})

    def covers(self, other: Defaults) -> bool:
        return other.limits.keys() <= self.limits.keys() and other.requests.keys() <= self.requests.keys()

    @property
    def key(self) -> frozenset[tuple[str, str, int]]:
        """Equal for equal amounts."""
        kinds = (("limits", self.limits), ("requests", self.requests))
        return frozenset((kind, name, amount.nanos) for kind, amounts in kinds for name, amount in amounts.items())


def defaults_of(limits: Iterable[Limit]) -> Defaults:
    """The defaults of a LimitRange (its `spec.limits`). Raises QuantityError."""
    defaults = Defaults({}, {})
    for limit in map(complete, limits):
        if limit.get("type") == "Container":
            defaults.limits.update(read(limit.get("default")))
            defaults.requests.update(read(limit.get("defaultRequest")))
    return defaults


def defaults_by_order(ranges: Sequence[Defaults]) -> list[Defaults]:
    """The combined defaults of LimitRanges for each order, each result once, beginning with the order of the list.

    The first LimitRange with a default counts. The API server applies them in the order of a Go map, which differs for
    each pod.
    """
    results: list[Defaults] = []
    pending, visited = [Defaults({}, {})], set()
    while pending:
        current = pending.pop()
        if current.key in visited:
            continue
        visited.add(current.key)
        others = [other for other in ranges if not current.covers(other)]
        if not others:
            results.append(current)
        pending += [current.completed_by(other) for other in reversed(others)]
    return results


def defaulted(item: QuotaItem, defaults: Defaults) -> QuotaItem:
    """A pod with the defaults of the LimitRanges of its namespace."""
    return item._replace(
        containers=tuple(_with_defaults(container, defaults) for container in item.containers),
        init_containers=tuple(_with_defaults(container, defaults) for container in item.init_containers),
    )


def complete(limit: Limit) -> Limit:
    """A limit with the API server's defaults: a container's maximum is its default."""
    if limit.get("type") != "Container":
        return limit
    default = {**(limit.get("max") or {}), **(limit.get("default") or {})}
    return {
        **limit,
        "default": default,
        "defaultRequest": {**(limit.get("min") or {}), **default, **(limit.get("defaultRequest") or {})},
    }


def _with_defaults(container: Container, defaults: Defaults) -> Container:
    return container._replace(
        limits={**defaults.limits, **container.limits}, requests={**defaults.requests, **container.requests}
    )


def invalid(item: QuotaItem) -> list[str]:
    """Why the API server rejects the pod after defaulting: requests above limits, fractions of huge pages."""
    return [
        f"the pod is invalid: {problem}"
        for container in (*item.containers, *item.init_containers)
        for problem in (*_requests_above_limits(container), *_partial_pages(container))
    ]


def _requests_above_limits(container: Container) -> Iterator[str]:
    for name, limit in container.limits.items():
        requested = container.requests.get(name)
        if requested is not None and requested.nanos > limit.nanos:
            yield f"{container.name} requests {requested.text} of {name}, more than its limit of {limit.text}"


def _partial_pages(container: Container) -> Iterator[str]:
    for name, amount in container.requests.items():
        if name.startswith(HUGE_PAGES) and amount.nanos % parse(name.removeprefix(HUGE_PAGES)).nanos:
            yield f"{container.name} requests {amount.text} of {name}, which is not a multiple of the page size"


def violations(item: QuotaItem, limits: Iterable[Limit]) -> list[str]:
    """Why a LimitRange rejects a pod or a claim. limits: its `spec.limits`. Raises QuantityError."""
    return [problem for limit in limits for problem in _violated(item, limit)]


def _violated(item: QuotaItem, limit: Limit) -> Iterator[str]:
    kind = limit.get("type")
    if item.resource == CLAIMS and kind == "PersistentVolumeClaim":
        requests = {"storage": item.storage} if item.storage is not None else {}
        yield from _minimum("PersistentVolumeClaim", limit, requests, {})
        yield from _maximum_request(limit, requests)
    elif item.resource == PODS and kind == "Pod":
        # LimitRanger ignores the overhead.
        bare = item._replace(overhead={})
        yield from _bounds("Pod", limit, bare.requests, bare.limits)
    elif item.resource == PODS and kind == "Container":
        for container in (*item.containers, *item.init_containers):
            yield from _bounds(f"Container ({container.name})", limit, container.requests, container.limits)


def _bounds(subject: str, limit: Limit, requests: Amounts, limits: Amounts) -> Iterator[str]:
    yield from _minimum(subject, limit, requests, limits)
    for name, maximum in read(limit.get("max")).items():
        allowed, requested = limits.get(name), requests.get(name)
        if allowed is None:
            yield f"maximum {name} usage per {subject} is {maximum.text}. No limit is specified"
        elif _exceeds(allowed, maximum, requested):
            yield f"maximum {name} usage per {subject} is {maximum.text}, but limit is {allowed.text}"
        elif requested is not None and _exceeds(requested, maximum, allowed):
            yield f"maximum {name} usage per {subject} is {maximum.text}, but request is {requested.text}"
    for name, ratio in read(limit.get("maxLimitRequestRatio")).items():
        yield from _ratio(subject, name, ratio, requests.get(name, ZERO), limits.get(name, ZERO))


def _minimum(subject: str, limit: Limit, requests: Mapping[str, Quantity], limits: Amounts) -> Iterator[str]:
    for name, minimum in read(limit.get("min")).items():
        requested, allowed = requests.get(name), limits.get(name)
        if requested is None:
            yield f"minimum {name} usage per {subject} is {minimum.text}. No request is specified"
        elif _exceeds(minimum, requested, allowed):
            yield f"minimum {name} usage per {subject} is {minimum.text}, but request is {requested.text}"
        elif allowed is not None and _exceeds(minimum, allowed, requested):
            yield f"minimum {name} usage per {subject} is {minimum.text}, but limit is {allowed.text}"


def _maximum_request(limit: Limit, requests: Mapping[str, Quantity]) -> Iterator[str]:
    what = "PersistentVolumeClaim"
    for name, maximum in read(limit.get("max")).items():
        requested = requests.get(name)
        if requested is None:
            yield f"maximum {name} usage per {what} is {maximum.text}. No request is specified"
        elif _exceeds(requested, maximum):
            yield f"maximum {name} usage per {what} is {maximum.text}, but request is {requested.text}"


def _ratio(subject: str, name: str, maximum: Quantity, requested: Quantity, allowed: Quantity) -> Iterator[str]:
    request, limit = _counts(requested, allowed, maximum)[:2]
    start = f"{name} max limit to request ratio per {subject} is {maximum.text}, but"
    if not request:
        yield f"{start} no request is specified or request is 0"
    elif not limit:
        yield f"{start} no limit is specified or limit is 0"
    else:
        ratio, allowed_ratio = limit / request, float(maximum.value)
        # Kubernetes computes with floats, and with thousandths if they do not overflow.
        if maximum.value <= _MAX_MILLI:
            ratio, allowed_ratio = ratio * 1000, float(_milli(maximum))
        if ratio > allowed_ratio:
            yield f"{start} provided ratio is {limit / request:f}"


def _exceeds(first: Quantity, second: Quantity, third: Quantity | None = None) -> bool:
    """Whether the first amount exceeds the second. third: also determines the precision, as in Kubernetes."""
    larger, smaller, _third = _counts(first, second, third or ZERO)
    return larger > smaller


def _counts(*amounts: Quantity) -> list[int]:
    """The amounts in thousandths, or in whole units if one of them is too large."""
    if all(amount.value <= _MAX_MILLI for amount in amounts):
        return [_milli(amount) for amount in amounts]
    return [amount.value for amount in amounts]


def _milli(amount: Quantity) -> int:
    return -(-amount.nanos // _NANOS_PER_MILLI)
