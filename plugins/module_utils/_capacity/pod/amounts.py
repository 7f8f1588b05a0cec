"""Amounts of resources by name, as in requests and limits: of a container, of a whole pod, and its QoS class."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..._resolver.api.quantity import DECIMAL_SI, Quantity, add, parse

Amounts = dict[str, Quantity]

ZERO: Final = Quantity.from_integer(0, DECIMAL_SI)
ONE: Final = Quantity.from_integer(1, DECIMAL_SI)
# The resources of a container that are no devices.
PLAIN: Final = ("cpu", "memory", "ephemeral-storage")
HUGE_PAGES: Final = "hugepages-"
_QUALIFIED: Final = re.compile(r"[^/]+/[^/]+")


def read_amounts(texts: Mapping[str, Any] | None) -> Amounts:
    """Parses quantities by resource name. Raises QuantityError."""
    return {name: parse(str(text)) for name, text in (texts or {}).items()}


def units(number: int) -> Quantity:
    """A number of units."""
    return Quantity.from_integer(number, DECIMAL_SI)


def is_qualified(name: str) -> bool:
    """Whether the name of a resource is a domain and a name, as the names of devices are."""
    return _QUALIFIED.fullmatch(name) is not None


def vmi_resources(spec: Mapping[str, Any], kind: str) -> Amounts:
    """A VMI's own resources. kind: requests or limits."""
    return read_amounts(spec["domain"]["resources"].get(kind))


def add_to(amounts: Amounts, name: str, more: Quantity) -> None:
    """Adds to a resource."""
    amounts[name] = add(amounts[name], more) if name in amounts else more


def add_up(*parts: Amounts) -> Amounts:
    """The sum of each resource."""
    result: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            add_to(result, name, amount)
    return result


def largest(*parts: Amounts) -> Amounts:
    """The largest amount of each resource."""
    result: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            if name not in result or amount.nanos > result[name].nanos:
                result[name] = amount
    return result


def amount_texts(amounts: Amounts) -> dict[str, str]:
    """The canonical text of each amount."""
    return {name: amount.text for name, amount in amounts.items()}


class Container(NamedTuple):
    """A container of a pod, and what it asks for.

    requests, limits: amounts in KubeVirt's spelling. claims: [{name, request}]. init: an init container.
    restarts: a restartable one, which runs beside the others.
    """

    name: str
    requests: Amounts
    limits: Amounts
    claims: tuple[dict[str, str], ...] = ()
    init: bool = False
    restarts: bool = False

    @property
    def stored_requests(self) -> Amounts:
        """The requests as the API server stores them: a limit without a request becomes the request."""
        return {**self.limits, **self.requests}

    def manifest(self) -> dict[str, Any]:
        """{name, requests, limits, claims, restartPolicy}, without empty ones."""
        parts = {
            "name": self.name,
            "restartPolicy": "Always" if self.restarts else "",
            "requests": amount_texts(self.requests),
            "limits": amount_texts(self.limits),
            "claims": list(self.claims),
        }
        return {field: value for field, value in parts.items() if value}


def read_containers(spec: Mapping[str, Any]) -> Iterator[Container]:
    """The containers of a Pod's spec, then its init containers. Raises QuantityError."""
    for init, field in ((False, "containers"), (True, "initContainers")):
        for container in spec.get(field) or ():
            resources = container.get("resources") or {}
            yield Container(
                container.get("name", ""),
                read_amounts(resources.get("requests")),
                read_amounts(resources.get("limits")),
                init=init,
                restarts=container.get("restartPolicy") == "Always",
            )


_QOS_RESOURCES = ("cpu", "memory")


def requests(containers: Sequence[Container]) -> Amounts:
    """The requests of the pod, as the API server stores them."""
    return _pod_total((container, container.stored_requests) for container in containers)


def limits(containers: Sequence[Container]) -> Amounts:
    """The sum of the existing limits."""
    return _pod_total((container, container.limits) for container in containers)


def _pod_total(parts: Iterable[tuple[Container, Amounts]]) -> Amounts:
    """The maximum at any time: of all containers, or of an init container with the restartable ones before it."""
    main: Amounts = {}
    sidecars: Amounts = {}
    highest: Amounts = {}
    for container, amounts in parts:
        if not container.init:
            main = add_up(main, amounts)
            continue
        started = add_up(sidecars, amounts)
        highest = largest(highest, started)
        if container.restarts:
            sidecars = started
    return largest(add_up(main, sidecars), highest)


def qos_class(containers: Sequence[Container]) -> str:
    """Guaranteed, Burstable or BestEffort."""
    requested = [_qos_amounts(container.stored_requests) for container in containers]
    limited = [_qos_amounts(container.limits) for container in containers]
    if not any(requested) and not any(limited):
        return "BestEffort"
    all_limited = all(len(amounts) == len(_QOS_RESOURCES) for amounts in limited)
    same = all(
        sum(amounts.get(name, 0) for amounts in requested) == sum(amounts.get(name, 0) for amounts in limited)
        for name in _QOS_RESOURCES
    )
    return "Guaranteed" if all_limited and same else "Burstable"


def _qos_amounts(amounts: Amounts) -> dict[str, int]:
    return {name: amounts[name].nanos for name in _QOS_RESOURCES if name in amounts and amounts[name].nanos}
