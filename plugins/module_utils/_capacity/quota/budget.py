"""Objects to be created, as quotas see them: what they use of a namespace's quotas, by scope and resource name, and
what remains meanwhile (``podEvaluator``, ``pvcEvaluator`` of Kubernetes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..._resolver.api.label_selector import matches_expression
from ..._resolver.api.manifest import name_of
from ..._resolver.api.quantity import Quantity, from_nanos, human_readable, parse
from ..._resolver.kubevirt.vmi.vmi import PREFERRED, REQUIRED
from ..pod.amounts import (
    HUGE_PAGES,
    ONE,
    PLAIN,
    Amounts,
    Container,
    amounts,
    is_qualified,
    limits,
    milli,
    qos_class,
    read_containers,
    requests,
    total,
)
from ..pod.pod import Pod

PODS: Final = "pods"
CLAIMS: Final = "persistentvolumeclaims"
_NOTHING: Final[Mapping[str, Any]] = {}
_NANO: Final = 10**9
_NANOS_PER_MILLI: Final = 10**6


class QuotaItem(NamedTuple):
    """An object that counts. resource: its kind, as PLURAL or PLURAL.GROUP. name: its name in messages.

    A pod has containers, overhead (of its runtime class), affinity, priority_class ("" for none), has_deadline
    (activeDeadlineSeconds) and application (AAQ's amounts; None: the amounts of ResourceQuotas).
    A claim has storage (None: unknown) and storage_class ("" for none).
    """

    resource: str
    name: str
    containers: tuple[Container, ...] = ()
    overhead: Mapping[str, Quantity] = _NOTHING
    affinity: Mapping[str, Any] = _NOTHING
    priority_class: str = ""
    has_deadline: bool = False
    application: Mapping[str, Quantity] | None = None
    storage: Quantity | None = None
    storage_class: str = ""

    @property
    def requests(self) -> Amounts:
        """The sum of the pod's requests."""
        return total(requests(self.containers), dict(self.overhead))

    @property
    def limits(self) -> Amounts:
        """The sum of the pod's limits. Kubernetes adds the overhead to limits other than 0."""
        amounts = limits(self.containers)
        limited = {name for name, amount in amounts.items() if amount.nanos}
        return total(amounts, {name: amount for name, amount in self.overhead.items() if name in limited})

    @property
    def is_best_effort(self) -> bool:
        return qos_class(self.containers) == "BestEffort"


def from_pod(pod: Pod, name: str) -> QuotaItem:
    """The Item for the pod of a new VM."""
    containers = tuple(map(_stored, pod.containers))
    return QuotaItem(PODS, name, containers, affinity=pod.affinity, priority_class=pod.priority_class)


def from_manifest(manifest: Mapping[str, Any]) -> QuotaItem:
    """Reads a Pod. Raises QuantityError."""
    spec = manifest.get("spec") or {}
    return QuotaItem(
        PODS,
        name_of(manifest),
        tuple(map(_stored, read_containers(spec))),
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
    nanos = milli(amount) * _NANOS_PER_MILLI
    return from_nanos(nanos, amount.format) if nanos != amount.nanos else amount


_PRIORITY_CLASS: Final = "PriorityClass"
_ATTRIBUTES_CLASS: Final = "VolumeAttributesClass"

Scope = Mapping[str, Any]


def scopes_of(spec: Mapping[str, Any]) -> tuple[Scope, ...]:
    """The scopes of a quota's spec, each as {scopeName, operator, values}."""
    plain = [{"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()]
    return (*plain, *((spec.get("scopeSelector") or {}).get("matchExpressions") or ()))


def in_scope(item: QuotaItem, scopes: Sequence[Scope]) -> bool:
    """Whether all scopes match an object."""
    return all(_matches(scope, item) for scope in scopes)


def _matches(scope: Scope, item: QuotaItem) -> bool:
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
        "CrossNamespacePodAffinity": _names_namespaces(item.affinity),
    }
    return plain.get(str(name), False)


def _fits(scope: Scope, value: str) -> bool:
    return matches_expression({**scope, "key": "class"}, {"class": value} if value else {})


def _names_namespaces(affinity: Mapping[str, Any]) -> bool:
    """Whether pod affinity names namespaces."""
    for kind in ("podAffinity", "podAntiAffinity"):
        for term in (term for when in (REQUIRED, PREFERRED) for term in (affinity.get(kind) or {}).get(when) or ()):
            affinity_term = term.get("podAffinityTerm", term)
            if affinity_term.get("namespaces") or affinity_term.get("namespaceSelector") is not None:
                return True
    return False


_COUNT: Final = "count/"
_REQUESTS: Final = "requests."
_BY_CLASS: Final = ".storageclass.storage.k8s.io/"
_CLAIM_NAMES: Final = ("persistentvolumeclaims", "requests.storage")
_POD_NAMES: Final = frozenset(
    ("count/pods", "pods", *(f"{kind}{name}" for kind in ("", _REQUESTS, "limits.") for name in PLAIN))
)
# If a quota limits any of these, every container must set it.
_ENFORCED: Final = ("cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory")


def usage(item: QuotaItem) -> Amounts:
    """The resources that an object uses."""
    counted = {f"{_COUNT}{item.resource}": ONE}
    if item.resource == PODS:
        return {**counted, "pods": ONE, **by_quota_name(item.requests, item.limits)}
    if item.resource == CLAIMS:
        return {**counted, **_claim_usage(item)}
    return counted


def by_quota_name(requests: Amounts, limits: Amounts) -> Amounts:
    """Requests and limits by the quotas' resource names."""
    amounts: Amounts = {}
    for name, amount in requests.items():
        if name in PLAIN or name.startswith(HUGE_PAGES):
            amounts[name] = amounts[_REQUESTS + name] = amount
        elif is_qualified(name) and "kubernetes.io/" not in name and not name.startswith(_REQUESTS):
            amounts[_REQUESTS + name] = amount
    return {**amounts, **{f"limits.{name}": limits[name] for name in PLAIN if name in limits}}


def covers(item: QuotaItem, name: str) -> bool:
    """Whether a quota's resource name applies to objects of the item's kind."""
    if item.resource == PODS:
        huge = name.startswith((HUGE_PAGES, _REQUESTS + HUGE_PAGES))
        extended = name.startswith(_REQUESTS) and "/" in name and "kubernetes.io/" not in name
        return name in _POD_NAMES or huge or extended
    if item.resource == CLAIMS:
        plain = (*_CLAIM_NAMES, f"{_COUNT}{CLAIMS}")
        return name in plain or name.endswith(tuple(_BY_CLASS + claim_name for claim_name in _CLAIM_NAMES))
    return name == f"{_COUNT}{item.resource}"


def _claim_usage(item: QuotaItem) -> Amounts:
    amounts = {"persistentvolumeclaims": ONE}
    if item.storage is not None:
        amounts["requests.storage"] = item.storage
    if item.storage_class:
        amounts |= {f"{item.storage_class}{_BY_CLASS}{name}": amount for name, amount in amounts.items()}
    return amounts


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
    measure: Callable[[QuotaItem], Amounts]
    demands: bool

    @property
    def title(self) -> str:
        return f"{self.kind} {self.name}"

    def applies_to(self, item: QuotaItem) -> bool:
        """Whether the quota applies to an object."""
        has_limit = any(covers(item, name) for name in self.hard)
        # AAQ considers every pod, because it has resource names of its own.
        return (has_limit or (item.resource == PODS and not self.demands)) and in_scope(item, self.scopes)

    def charge(self, item: QuotaItem) -> Nanos:
        """The amounts that an object uses of the quota."""
        if not self.applies_to(item):
            return {}
        return {name: amount.nanos for name, amount in self.measure(item).items() if name in self.hard and amount.nanos}


def resource_quota(manifest: Mapping[str, Any]) -> Quota:
    """Reads a ResourceQuota. The limits in its status come first. Raises QuantityError."""
    hard, used = limits_and_usage(manifest)
    return Quota("ResourceQuota", name_of(manifest), hard, used, scopes_of(manifest.get("spec") or {}), usage, True)


def limits_and_usage(manifest: Mapping[str, Any]) -> tuple[Amounts, Nanos]:
    """The limits and the usage of a quota. Raises QuantityError."""
    spec, status = (manifest.get(part) or {} for part in ("spec", "status"))
    hard = amounts(status.get("hard") or spec.get("hard"))
    return hard, {name: amount.nanos for name, amount in amounts(status.get("used")).items()}


class Account:
    """A quota as VMs use it one after the other. used: the usage with the admitted VMs. wanted: what all VMs need."""

    def __init__(self, quota: Quota) -> None:
        self.quota, self.used = quota, dict(quota.used)
        self.wanted: Nanos = {}

    def problems(self, items: Sequence[QuotaItem], deleted: Sequence[QuotaItem] = ()) -> list[str]:
        """Why the objects cannot all be created; empty if they can. deleted: objects that are deleted first."""
        return [*_unset(self.quota, items), *self._exceeded(items, deleted)]

    def count(self, variants: Iterable[Sequence[QuotaItem]], deleted: Sequence[QuotaItem], admitted: bool) -> None:
        """Counts the objects that are created and deleted for a VM, the largest amount of several variants."""
        highest: Nanos = {}
        for items in variants:
            for name, amount in _balance(self.quota, items, deleted).items():
                highest[name] = max(amount, highest.get(name, amount))
        for counted in (self.wanted, self.used) if admitted else (self.wanted,):
            for name, amount in highest.items():
                counted[name] = counted.get(name, 0) + amount

    def line(self, namespace: str) -> dict[str, Any]:
        """{kind, name, namespace, fits, resources}. namespace: "" for a quota of several.

        resources: name → {hard, used, wanted, left, lacks}, quantities; lacks if the quota is exceeded.
        """
        resources = {name: self._resource_line(name) for name in self.quota.hard}
        fits = not any("lacks" in line for line in resources.values())
        space = {"namespace": namespace} if namespace else {}
        return {"kind": self.quota.kind, "name": self.quota.name, **space, "fits": fits, "resources": resources}

    def _resource_line(self, name: str) -> dict[str, str]:
        hard, used, wanted = self.quota.hard[name], self.quota.used.get(name, 0), self.wanted.get(name, 0)
        remaining = hard.nanos - used - wanted
        amounts = {"used": used, "wanted": wanted, "left": max(0, remaining)}
        # VMs that use nothing of a quota do not exceed it, even if it was exceeded before.
        if remaining < 0 < wanted:
            amounts["lacks"] = -remaining
        return {"hard": hard.text, **{part: from_nanos(nanos, hard.format).text for part, nanos in amounts.items()}}

    def _exceeded(self, items: Iterable[QuotaItem], deleted: Iterable[QuotaItem]) -> Iterator[str]:
        added, removed = _balance(self.quota, items), _balance(self.quota, deleted)
        for name, amount in added.items():
            remaining = self.quota.hard[name].nanos - self.used.get(name, 0) + removed.get(name, 0)
            if amount > remaining:
                shortage, charge, left = (
                    _amount_text(name, nanos) for nanos in (amount - remaining, amount, max(0, remaining))
                )
                yield f"{self.quota.title} lacks {shortage} of {name} ({charge} wanted, {left} left)"


def _amount_text(name: str, nanos: int) -> str:
    """An amount of a quota's resource, for users."""
    units, rest = divmod(nanos, _NANO)
    text = str(units) if not rest else f"{nanos // _NANOS_PER_MILLI}m"
    return human_readable(text, binary="memory" in name or "storage" in name or "hugepages" in name)


def _unset(quota: Quota, items: Iterable[QuotaItem]) -> Iterator[str]:
    """The resources that each container of a pod must set, and that some do not."""
    for item in items:
        if quota.demands and item.resource == PODS and quota.applies_to(item):
            named = [(entry.name, by_quota_name(entry.requests, entry.limits)) for entry in item.containers]
            for resource in _ENFORCED:
                lacking = sorted({name for name, amounts in named if resource not in amounts})
                if lacking and resource in quota.hard:
                    verb = "does" if len(lacking) == 1 else "do"
                    names = ", ".join(lacking)
                    yield f"{quota.title} requires {resource} in each container, but {names} {verb} not set it"


def _balance(quota: Quota, items: Iterable[QuotaItem], deleted: Iterable[QuotaItem] = ()) -> Nanos:
    """The amounts that created objects use of a quota, minus the amounts of deleted objects."""
    total: Nanos = {}
    for sign, group in ((1, items), (-1, deleted)):
        for item in group:
            for name, amount in quota.charge(item).items():
                total[name] = total.get(name, 0) + sign * amount
    return total
