"""The requests of a whole pod, as scheduler and quota count them, and its QoS class."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .amounts import Amounts, maximum, total
from .container import Container

_QOS_RESOURCES = ("cpu", "memory")


def requests(containers: Iterable[Container], init_containers: Iterable[Container]) -> Amounts:
    """The requests of the pod, as the API server stores them."""
    return _whole(containers, init_containers, lambda container: container.stored)


def limits(containers: Iterable[Container], init_containers: Iterable[Container]) -> Amounts:
    """The sum of the existing limits."""
    return _whole(containers, init_containers, lambda container: container.limits)


def _whole(
    containers: Iterable[Container], init_containers: Iterable[Container], of: Callable[[Container], Amounts]
) -> Amounts:
    """The maximum at any time: of all containers, or of an init container with the restartable ones before it."""
    beside: Amounts = {}
    most: Amounts = {}
    for container in init_containers:
        if container.restarts:
            beside = total(beside, of(container))
            most = maximum(most, beside)
        else:
            most = maximum(most, total(beside, of(container)))
    return maximum(total(*(of(container) for container in containers), beside), most)


def qos_class(containers: Iterable[Container], init_containers: Iterable[Container]) -> str:
    """Guaranteed, Burstable or BestEffort."""
    every = [*containers, *init_containers]
    asked = total(*(_counted(container.stored) for container in every))
    allowed = total(*(_counted(container.limits) for container in every))
    if not asked and not allowed:
        return "BestEffort"
    all_limited = all(len(_counted(container.limits)) == len(_QOS_RESOURCES) for container in every)
    same = {name: amount.nanos for name, amount in asked.items()} == {
        name: amount.nanos for name, amount in allowed.items()
    }
    return "Guaranteed" if all_limited and same else "Burstable"


def _counted(amounts: Amounts) -> Amounts:
    return {name: amounts[name] for name in _QOS_RESOURCES if name in amounts and amounts[name].nanos}
