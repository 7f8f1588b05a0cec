"""What LimitRanges add to a pod, and what they reject (``LimitRanger`` of Kubernetes)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ...api.quantity import Quantity, parse
from ...kubevirt.pod.amounts import Amounts, Container
from ...kubevirt.pod.amounts import amounts as read
from .item import CLAIMS, HUGE_PAGES, PODS, Item

Limit = Mapping[str, Any]

_NANOS_PER_MILLI: Final = 10**6
# Beyond this Kubernetes compares whole units.
_MOST_MILLI: Final = (2**63 - 1) // 1000
_NONE: Final = Quantity.of(0, "DecimalSI")


class Defaults(NamedTuple):
    """What containers without their own values get."""

    limits: Amounts
    requests: Amounts

    def before(self, other: Defaults) -> Defaults:
        """These defaults, completed by others."""
        return Defaults({**other.limits, **self.limits}, {**other.requests, **self.requests})

    def says_all_of(self, other: Defaults) -> bool:
        return other.limits.keys() <= self.limits.keys() and other.requests.keys() <= self.requests.keys()

    @property
    def key(self) -> frozenset[tuple[str, str, int]]:
        """Equal for equal amounts."""
        kinds = (("limits", self.limits), ("requests", self.requests))
        return frozenset((kind, name, amount.nanos) for kind, amounts in kinds for name, amount in amounts.items())


def defaults_of(limits: Iterable[Limit]) -> Defaults:
    """The defaults of a LimitRange (its `spec.limits`). Raises QuantityError."""
    found = Defaults({}, {})
    for limit in map(complete, limits):
        if limit.get("type") == "Container":
            found.limits.update(read(limit.get("default")))
            found.requests.update(read(limit.get("defaultRequest")))
    return found


def in_any_order(ranges: Sequence[Defaults]) -> list[Defaults]:
    """The combined defaults of LimitRanges for each order, each result once; first that of the given order.

    The first LimitRange with a default counts. The API server applies them in the order of a Go map, which differs for
    each pod.
    """
    found: list[Defaults] = []
    begun, seen = [Defaults({}, {})], set()
    while begun:
        one = begun.pop()
        if one.key in seen:
            continue
        seen.add(one.key)
        more = [other for other in ranges if not one.says_all_of(other)]
        if not more:
            found.append(one)
        begun += [one.before(other) for other in reversed(more)]
    return found


def defaulted(item: Item, known: Defaults) -> Item:
    """A pod with the defaults of the LimitRanges of its namespace."""
    return item._replace(
        containers=tuple(_with(container, known) for container in item.containers),
        init_containers=tuple(_with(container, known) for container in item.init_containers),
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


def _with(container: Container, known: Defaults) -> Container:
    return container._replace(
        limits={**known.limits, **container.limits}, requests={**known.requests, **container.requests}
    )


def invalid(item: Item) -> list[str]:
    """Why the API server rejects the pod after defaulting: requests above limits, fractions of huge pages."""
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
    """Why a LimitRange rejects a pod or a claim. limits: its `spec.limits`. Raises QuantityError."""
    return [problem for limit in limits for problem in _violated(item, limit)]


def _violated(item: Item, limit: Limit) -> Iterator[str]:
    kind = limit.get("type")
    if item.resource == CLAIMS and kind == "PersistentVolumeClaim":
        requests = {"storage": item.storage} if item.storage is not None else {}
        yield from _minimum("PersistentVolumeClaim", limit, requests, {})
        yield from _maximum_request(limit, requests)
    elif item.resource == PODS and kind == "Pod":
        # LimitRanger ignores the overhead.
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
        # As in Kubernetes: floats, and thousandths of the ratio if they do not overflow.
        if most.value <= _MOST_MILLI:
            ratio, allowed_ratio = ratio * 1000, float(_milli(most))
        if ratio > allowed_ratio:
            yield f"{start} provided ratio is {limit / request:f}"


def _more(first: Quantity, second: Quantity, third: Quantity | None = None) -> bool:
    """Whether the first is more than the second. third: also determines the precision, as in Kubernetes."""
    one, other, _third = _counts(first, second, third or _NONE)
    return one > other


def _counts(*amounts: Quantity) -> list[int]:
    """The amounts in thousandths, or in whole units if one of them is too large."""
    if all(amount.value <= _MOST_MILLI for amount in amounts):
        return [_milli(amount) for amount in amounts]
    return [amount.value for amount in amounts]


def _milli(amount: Quantity) -> int:
    return -(-amount.nanos // _NANOS_PER_MILLI)
