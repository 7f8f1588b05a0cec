"""An object to be created, as quotas see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ...api.quantity import DECIMAL_SI, Quantity, from_nanos, parse
from ...kubevirt.pod.amounts import Amounts, Container, amounts, limits, qos_class, read_container, requests, total
from ...kubevirt.pod.pod import Pod

PODS: Final = "pods"
CLAIMS: Final = "persistentvolumeclaims"
HUGE_PAGES: Final = "hugepages-"
ONE: Final = Quantity.from_integer(1, DECIMAL_SI)
_NOTHING: Final[Mapping[str, Any]] = {}
_NANO: Final = 10**9
_NANOS_PER_MILLI: Final = 10**6


class QuotaItem(NamedTuple):
    """An object. resource: its kind, as PLURAL or PLURAL.GROUP. name: in messages.

    Of a pod: containers, init_containers, overhead (of its runtime class), affinity, priority_class ("" for none),
    has_deadline (activeDeadlineSeconds), application (AAQ's amounts; None: those of ResourceQuotas).
    Of a claim: storage (None: unknown) and storage_class ("" for none).
    """

    resource: str
    name: str
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Mapping[str, Quantity] = _NOTHING
    affinity: Mapping[str, Any] = _NOTHING
    priority_class: str = ""
    has_deadline: bool = False
    application: Mapping[str, Quantity] | None = None
    storage: Quantity | None = None
    storage_class: str = ""

    @property
    def requests(self) -> Amounts:
        """The requests of the pod in all."""
        return total(requests(self.containers, self.init_containers), dict(self.overhead))

    @property
    def limits(self) -> Amounts:
        """The limits of the pod in all. As in Kubernetes, the overhead is added to limits other than 0."""
        amounts = limits(self.containers, self.init_containers)
        limited = {name for name, amount in amounts.items() if amount.nanos}
        return total(amounts, {name: amount for name, amount in self.overhead.items() if name in limited})

    @property
    def is_best_effort(self) -> bool:
        return qos_class(self.containers, self.init_containers) == "BestEffort"


def from_pod(pod: Pod, name: str) -> QuotaItem:
    """The Item for the pod of a new VM."""
    return QuotaItem(
        PODS,
        name,
        tuple(map(_stored, pod.containers)),
        tuple(map(_stored, pod.init_containers)),
        affinity=pod.affinity,
        priority_class=pod.priority_class,
    )


def from_manifest(manifest: Mapping[str, Any]) -> QuotaItem:
    """Reads a Pod. Raises QuantityError."""
    spec = manifest.get("spec") or {}
    containers, init_containers = (
        tuple(_stored(read_container(entry)) for entry in spec.get(field) or ())
        for field in ("containers", "initContainers")
    )
    return QuotaItem(
        PODS,
        (manifest.get("metadata") or {}).get("name") or "",
        containers,
        init_containers,
        amounts(spec.get("overhead")),
        spec.get("affinity") or {},
        spec.get("priorityClassName") or "",
        spec.get("activeDeadlineSeconds") is not None,
    )


def claim(name: str, storage: str | None, storage_class: str) -> QuotaItem:
    """The Item for a PersistentVolumeClaim. storage: a quantity, None if unknown. Raises QuantityError."""
    amount = parse(storage) if storage is not None else None
    # Kubernetes counts whole bytes.
    rounded = from_nanos(-(-amount.nanos // _NANO) * _NANO, amount.format) if amount is not None else None
    return QuotaItem(CLAIMS, name, storage=rounded, storage_class=storage_class)


def _stored(container: Container) -> Container:
    """The container as the API server stores it: a request for each limit, amounts in whole thousandths."""
    limits = {name: _rounded(amount) for name, amount in container.limits.items()}
    requests = {name: _rounded(amount) for name, amount in container.stored.items()}
    return container._replace(requests=requests, limits=limits)


def _rounded(amount: Quantity) -> Quantity:
    nanos = -(-amount.nanos // _NANOS_PER_MILLI) * _NANOS_PER_MILLI
    return from_nanos(nanos, amount.format) if nanos != amount.nanos else amount
