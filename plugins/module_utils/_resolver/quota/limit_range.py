"""What LimitRanges add to a pod, and what they refuse (``LimitRanger`` of Kubernetes)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..api.quantity import Quantity, parse
from ..pod.amounts import Amounts
from ..pod.amounts import amounts as read
from ..pod.container import Container
from .item import CLAIMS, HUGE_PAGES, PODS, Item

Limit = Mapping[str, Any]

_NANOS_PER_MILLI: Final = 10**6
# Above it Kubernetes compares whole units.
_MOST_MILLI: Final = (2**63 - 1) // 1000
_NONE: Final = Quantity.of(0, "DecimalSI")


def defaulted(item: Item, ranges: Sequence[Sequence[Limit]]) -> Item:
    """A pod with the defaults of LimitRanges (their `spec.limits`). Raises QuantityError.

    Where several LimitRanges have a default for the same resource, Kubernetes takes any; this takes the first.
    """
    for limits in ranges:
        wanted: dict[str, Amounts] = {"default": {}, "defaultRequest": {}}
        for limit in map(complete, limits):
            if limit.get("type") == "Container":
                for field, found in wanted.items():
                    found |= read(limit.get(field))
        item = item._replace(
            containers=tuple(_with(container, wanted) for container in item.containers),
            init_containers=tuple(_with(container, wanted) for container in item.init_containers),
        )
    return item


def complete(limit: Limit) -> Limit:
    """A limit with the defaults that the API server adds: of a container, its maximum is its default."""
    if limit.get("type") != "Container":
        return limit
    default = {**(limit.get("max") or {}), **(limit.get("default") or {})}
    return {
        **limit,
        "default": default,
        "defaultRequest": {**(limit.get("min") or {}), **default, **(limit.get("defaultRequest") or {})},
    }


def _with(container: Container, wanted: Mapping[str, Amounts]) -> Container:
    limits, requests = wanted["default"], wanted["defaultRequest"]
    return container._replace(limits={**limits, **container.limits}, requests={**requests, **container.requests})


def invalid(item: Item) -> list[str]:
    """Why the API server takes no such pod, defaults included: requests above limits, huge pages in parts."""
    return [
        f"the pod is invalid: {problem}"
        for container in (*item.containers, *item.init_containers)
        for problem in (*_reversed(container), *_broken(container))
    ]


def _reversed(container: Container) -> Iterator[str]:
    for name, limit in container.limits.items():
        asked = container.requests.get(name)
        if asked is not None and asked.nanos > limit.nanos:
            yield f"{container.name} requests {asked.text} of {name}, more than its limit of {limit.text}"


def _broken(container: Container) -> Iterator[str]:
    for name, amount in container.requests.items():
        if name.startswith(HUGE_PAGES) and amount.nanos % parse(name.removeprefix(HUGE_PAGES)).nanos:
            yield f"{container.name} requests {amount.text} of {name}, which is not a multiple of the page size"


def violations(item: Item, limits: Iterable[Limit]) -> list[str]:
    """What a LimitRange refuses a pod or a claim for. limits: its `spec.limits`. Raises QuantityError."""
    return [problem for limit in limits for problem in _violated(item, limit)]


def _violated(item: Item, limit: Limit) -> Iterator[str]:
    kind = limit.get("type")
    if item.resource == CLAIMS and kind == "PersistentVolumeClaim":
        requests = {"storage": item.storage} if item.storage is not None else {}
        yield from _minimum("PersistentVolumeClaim", limit, requests, {})
        yield from _maximum_request(limit, requests)
    elif item.resource == PODS and kind == "Pod":
        # LimitRanger counts no overhead.
        bare = item._replace(overhead={})
        yield from _all("Pod", limit, bare.requests, bare.limits)
    elif item.resource == PODS and kind == "Container":
        for container in (*item.containers, *item.init_containers):
            yield from _all(f"Container ({container.name})", limit, container.requests, container.limits)


def _all(what: str, limit: Limit, requests: Amounts, limits: Amounts) -> Iterator[str]:
    yield from _minimum(what, limit, requests, limits)
    for name, most in read(limit.get("max")).items():
        allowed, asked = limits.get(name), requests.get(name)
        if allowed is None:
            yield f"maximum {name} usage per {what} is {most.text}. No limit is specified"
        elif _more(allowed, most, asked):
            yield f"maximum {name} usage per {what} is {most.text}, but limit is {allowed.text}"
        elif asked is not None and _more(asked, most, allowed):
            yield f"maximum {name} usage per {what} is {most.text}, but request is {asked.text}"
    for name, ratio in read(limit.get("maxLimitRequestRatio")).items():
        yield from _ratio(what, name, ratio, requests.get(name, _NONE), limits.get(name, _NONE))


def _minimum(what: str, limit: Limit, requests: Mapping[str, Quantity], limits: Amounts) -> Iterator[str]:
    for name, least in read(limit.get("min")).items():
        asked, allowed = requests.get(name), limits.get(name)
        if asked is None:
            yield f"minimum {name} usage per {what} is {least.text}. No request is specified"
        elif _more(least, asked, allowed):
            yield f"minimum {name} usage per {what} is {least.text}, but request is {asked.text}"
        elif allowed is not None and _more(least, allowed, asked):
            yield f"minimum {name} usage per {what} is {least.text}, but limit is {allowed.text}"


def _maximum_request(limit: Limit, requests: Mapping[str, Quantity]) -> Iterator[str]:
    what = "PersistentVolumeClaim"
    for name, most in read(limit.get("max")).items():
        asked = requests.get(name)
        if asked is None:
            yield f"maximum {name} usage per {what} is {most.text}. No request is specified"
        elif _more(asked, most):
            yield f"maximum {name} usage per {what} is {most.text}, but request is {asked.text}"


def _ratio(what: str, name: str, most: Quantity, asked: Quantity, allowed: Quantity) -> Iterator[str]:
    request, limit = _counts(asked, allowed, most)[:2]
    start = f"{name} max limit to request ratio per {what} is {most.text}, but"
    if not request:
        yield f"{start} no request is specified or request is 0"
    elif not limit:
        yield f"{start} no limit is specified or limit is 0"
    else:
        ratio, allowed_ratio = limit / request, float(most.value)
        # As in Kubernetes: floats, and thousandths of the ratio where they can be counted.
        if most.value <= _MOST_MILLI:
            ratio, allowed_ratio = ratio * 1000, float(_milli(most))
        if ratio > allowed_ratio:
            yield f"{start} provided ratio is {limit / request:f}"


def _more(first: Quantity, second: Quantity, third: Quantity | None = None) -> bool:
    """Whether the first is more than the second. third: what Kubernetes looks at beside them."""
    one, other, _third = _counts(first, second, third or _NONE)
    return one > other


def _counts(*amounts: Quantity) -> list[int]:
    """In thousandths, or in whole units where one of them is too large."""
    if all(amount.value <= _MOST_MILLI for amount in amounts):
        return [_milli(amount) for amount in amounts]
    return [amount.value for amount in amounts]


def _milli(amount: Quantity) -> int:
    return -(-amount.nanos // _NANOS_PER_MILLI)
