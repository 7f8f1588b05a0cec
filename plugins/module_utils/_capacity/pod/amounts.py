"""Amounts of resources by name, as in requests and limits: of a container, of a whole pod, and its QoS class."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from ..._resolver.api.quantity import DECIMAL_SI, Quantity, add, parse

Amounts = dict[str, Quantity]

ZERO: Final = Quantity.from_integer(0, DECIMAL_SI)
ONE: Final = Quantity.from_integer(1, DECIMAL_SI)


def amounts(texts: Mapping[str, Any] | None) -> Amounts:
    """Parses quantities by resource name. Raises QuantityError."""
    return {name: parse(str(text)) for name, text in (texts or {}).items()}


def vmi_resources(spec: Mapping[str, Any], kind: str) -> Amounts:
    """A VMI's own resources. kind: requests or limits."""
    return amounts(spec["domain"]["resources"].get(kind))


def add_to(amounts: Amounts, name: str, more: Quantity) -> None:
    """Adds to a resource."""
    amounts[name] = add(amounts[name], more) if name in amounts else more


def total(*parts: Amounts) -> Amounts:
    """The sum of each resource."""
    result: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            add_to(result, name, amount)
    return result


def maximum(*parts: Amounts) -> Amounts:
    """The largest amount of each resource."""
    result: Amounts = {}
    for part in parts:
        for name, amount in part.items():
            if name not in result or amount.nanos > result[name].nanos:
                result[name] = amount
    return result


def texts(amounts: Amounts) -> dict[str, str]:
    """The canonical text of each amount."""
    return {name: amount.text for name, amount in amounts.items()}


class Container(NamedTuple):
    """requests, limits: amounts in KubeVirt's spelling. claims: [{name, request}].
    restarts: a restartable init container, which runs beside the others.
    """

    name: str
    requests: Amounts
    limits: Amounts
    claims: tuple[dict[str, str], ...] = ()
    restarts: bool = False

    @property
    def stored(self) -> Amounts:
        """The requests as the API server stores them: a limit without a request becomes the request."""
        return {**self.limits, **self.requests}

    def manifest(self) -> dict[str, Any]:
        """{name, requests, limits, claims, restartPolicy}, without empty ones."""
        parts = {
            "name": self.name,
            "restartPolicy": "Always" if self.restarts else "",
            "requests": texts(self.requests),
            "limits": texts(self.limits),
            "claims": list(self.claims),
        }
        return {field: value for field, value in parts.items() if value}


def read_containers(spec: Mapping[str, Any]) -> tuple[list[Container], list[Container]]:
    """The containers and init containers of a Pod's spec. Raises QuantityError."""
    containers, init_containers = (
        [_read_container(container) for container in spec.get(field) or ()]
        for field in ("containers", "initContainers")
    )
    return containers, init_containers


def _read_container(container: Mapping[str, Any]) -> Container:
    resources = container.get("resources") or {}
    return Container(
        container.get("name", ""),
        amounts(resources.get("requests")),
        amounts(resources.get("limits")),
        restarts=container.get("restartPolicy") == "Always",
    )


_QOS_RESOURCES = ("cpu", "memory")


def requests(containers: Iterable[Container], init_containers: Iterable[Container]) -> Amounts:
    """The requests of the pod, as the API server stores them."""
    return _pod_total(containers, init_containers, lambda container: container.stored)


def limits(containers: Iterable[Container], init_containers: Iterable[Container]) -> Amounts:
    """The sum of the existing limits."""
    return _pod_total(containers, init_containers, lambda container: container.limits)


def _pod_total(
    containers: Iterable[Container], init_containers: Iterable[Container], select: Callable[[Container], Amounts]
) -> Amounts:
    """The maximum at any time: of all containers, or of an init container with the restartable ones before it."""
    sidecars: Amounts = {}
    maximum_so_far: Amounts = {}
    for container in init_containers:
        if container.restarts:
            sidecars = total(sidecars, select(container))
            maximum_so_far = maximum(maximum_so_far, sidecars)
        else:
            maximum_so_far = maximum(maximum_so_far, total(sidecars, select(container)))
    return maximum(total(*(select(container) for container in containers), sidecars), maximum_so_far)


def qos_class(containers: Iterable[Container], init_containers: Iterable[Container]) -> str:
    """Guaranteed, Burstable or BestEffort."""
    all_containers = [*containers, *init_containers]
    requested = total(*(_qos_amounts(container.stored) for container in all_containers))
    limited = total(*(_qos_amounts(container.limits) for container in all_containers))
    if not requested and not limited:
        return "BestEffort"
    all_limited = all(len(_qos_amounts(container.limits)) == len(_QOS_RESOURCES) for container in all_containers)
    same = {name: amount.nanos for name, amount in requested.items()} == {
        name: amount.nanos for name, amount in limited.items()
    }
    return "Guaranteed" if all_limited and same else "Burstable"


def _qos_amounts(amounts: Amounts) -> Amounts:
    return {name: amounts[name] for name in _QOS_RESOURCES if name in amounts and amounts[name].nanos}
