"""The defaults that LimitRanges add to a pod, and the pods that they reject (``LimitRanger`` of Kubernetes)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..._resolver.api.manifest import Manifest
from ..._resolver.api.quantity import Quantity, parse
from ..pod.amounts import HUGE_PAGES, ZERO, Amounts, read_amounts
from .budget import CLAIMS, PODS, STORAGE, QuotaItem

# An entry of `spec.limits`.
Limit = Mapping[str, Any]
# The values of containers that have none of their own, by kind (limits or requests) and resource.
Defaults = dict[tuple[str, str], Quantity]

# Beyond this Kubernetes compares whole units.
_MAX_MILLI: Final = (2**63 - 1) // 1000


def _limits(manifest: Manifest) -> Sequence[Limit]:
    return (manifest.get("spec") or {}).get("limits") or ()


def defaults_of(limit_range: Manifest) -> Defaults:
    """The defaults of a LimitRange. Raises QuantityError."""
    defaults: Defaults = {}
    for limit in _limits(limit_range):
        if limit.get("type") == "Container":
            # For the API server a container's maximum is its default.
            default = {**(limit.get("max") or {}), **(limit.get("default") or {})}
            requested = {**(limit.get("min") or {}), **default, **(limit.get("defaultRequest") or {})}
            for kind, texts in (("limits", default), ("requests", requested)):
                defaults |= {(kind, name): amount for name, amount in read_amounts(texts).items()}
    return defaults


def defaults_by_order(ranges: Sequence[Defaults]) -> list[Defaults]:
    """The combined defaults of LimitRanges for each order, each result once, beginning with the order of the list.

    The first LimitRange with a default counts. The API server applies them in the order of a Go map, which differs for
    each pod.
    """
    results: list[Defaults] = []
    pending: list[Defaults] = [{}]
    visited = set()
    while pending:
        current = pending.pop()
        key = frozenset((place, amount.nanos) for place, amount in current.items())
        if key in visited:
            continue
        visited.add(key)
        others = [other for other in ranges if not other.keys() <= current.keys()]
        if not others:
            results.append(current)
        pending += [{**other, **current} for other in reversed(others)]
    return results


def defaulted(item: QuotaItem, defaults: Defaults) -> QuotaItem:
    """A pod with the defaults of the LimitRanges of its namespace."""
    limits, requests = (
        {name: amount for (kind, name), amount in defaults.items() if kind == wanted}
        for wanted in ("limits", "requests")
    )
    return item._replace(
        containers=tuple(
            container._replace(limits={**limits, **container.limits}, requests={**requests, **container.requests})
            for container in item.containers
        )
    )


def invalid(item: QuotaItem) -> Iterator[str]:
    """Why the API server rejects the pod after defaulting: requests above limits, fractions of huge pages."""
    for container in item.containers:
        start = f"the pod is invalid: {container.name} requests"
        for name, limit in container.limits.items():
            requested = container.requests.get(name)
            if requested is not None and requested.nanos > limit.nanos:
                yield f"{start} {requested.text} of {name}, more than its limit of {limit.text}"
        for name, amount in container.requests.items():
            if name.startswith(HUGE_PAGES) and amount.nanos % parse(name.removeprefix(HUGE_PAGES)).nanos:
                yield f"{start} {amount.text} of {name}, which is not a multiple of the page size"


def violations(item: QuotaItem, limit_range: Manifest) -> list[str]:
    """Why a LimitRange rejects a pod or a claim. Raises QuantityError."""
    return [problem for limit in _limits(limit_range) for problem in _violated(item, limit)]


def _violated(item: QuotaItem, limit: Limit) -> Iterator[str]:
    kind = limit.get("type")
    if item.resource == CLAIMS and kind == "PersistentVolumeClaim":
        yield from _bounds(kind, limit, {"storage": item.used[STORAGE]} if STORAGE in item.used else {}, None)
    elif item.resource == PODS and kind == "Pod":
        # LimitRanger ignores the overhead.
        bare = item._replace(overhead={})
        yield from _bounds(kind, limit, bare.requests, bare.limits)
    elif item.resource == PODS and kind == "Container":
        for container in item.containers:
            yield from _bounds(f"Container ({container.name})", limit, container.requests, container.limits)


def _bounds(subject: str, limit: Limit, requests: Amounts, limits: Amounts | None) -> Iterator[str]:
    """The violations of a limit by the amounts of a pod, a container or a claim.

    limits: None for a claim, which has none.
    """
    allowed = limits or {}
    for name, minimum in read_amounts(limit.get("min")).items():
        wanted = {"request": requests.get(name), "limit": allowed.get(name)}
        yield from _bound("minimum", subject, name, minimum, wanted)
    for name, maximum in read_amounts(limit.get("max")).items():
        first = {"limit": allowed.get(name)} if limits is not None else {}
        yield from _bound("maximum", subject, name, maximum, {**first, "request": requests.get(name)})
    for name, ratio in read_amounts(limit.get("maxLimitRequestRatio") if limits is not None else None).items():
        yield from _ratio(subject, name, ratio, requests.get(name, ZERO), allowed.get(name, ZERO))


def _bound(kind: str, subject: str, name: str, bound: Quantity, wanted: Mapping[str, Quantity | None]) -> Iterator[str]:
    """The violation of one bound, if there is one.

    kind: minimum or maximum. wanted: the amounts by their names, of which the first must not be None.
    """
    start = f"{kind} {name} usage per {subject} is {bound.text}"
    first = next(iter(wanted))
    if wanted[first] is None:
        yield f"{start}. No {first} is specified"
        return
    given = {what: amount for what, amount in wanted.items() if amount is not None}
    # All amounts determine the precision, as in Kubernetes.
    limit, *numbers = _counts(bound, *given.values())
    for (what, amount), number in zip(given.items(), numbers):
        if (number < limit) if kind == "minimum" else (number > limit):
            yield f"{start}, but {what} is {amount.text}"
            return


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
            ratio, allowed_ratio = ratio * 1000, float(maximum.milli)
        if ratio > allowed_ratio:
            yield f"{start} provided ratio is {limit / request:f}"


def _counts(*amounts: Quantity) -> list[int]:
    """The amounts in thousandths, or in whole units if one of them is too large."""
    if all(amount.value <= _MAX_MILLI for amount in amounts):
        return [amount.milli for amount in amounts]
    return [amount.value for amount in amounts]
