"""Objects to be created, as quotas see them: what they use of a namespace's quotas, by scope and resource name, and
what remains meanwhile (``podEvaluator``, ``pvcEvaluator`` of Kubernetes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ..._resolver.api.label_selector import matches_expression
from ..._resolver.api.manifest import name_of
from ..._resolver.api.quantity import NANOS_PER_MILLI, Quantity, from_nanos, human_readable, parse
from ..._resolver.kubevirt.vm.vmi import PREFERRED, REQUIRED
from ..pod import amounts
from ..pod.amounts import HUGE_PAGES, ONE, PLAIN, Amounts, Container
from ..pod.pod import Pod

PODS: Final = "pods"
CLAIMS: Final = "persistentvolumeclaims"
STORAGE: Final = "requests.storage"
_NOTHING: Final[Mapping[str, Any]] = {}
_NANO: Final = 10**9


class QuotaItem(NamedTuple):
    """An object that counts. resource: its kind, as PLURAL or PLURAL.GROUP. name: its name in messages.

    A pod has containers, overhead (of its runtime class), affinity, priority_class ("" for none), has_deadline
    (activeDeadlineSeconds) and application (AAQ's amounts; None: the amounts of ResourceQuotas). A claim has what it
    uses (`used`).
    """

    resource: str
    name: str
    containers: tuple[Container, ...] = ()
    overhead: Mapping[str, Quantity] = _NOTHING
    affinity: Mapping[str, Any] = _NOTHING
    priority_class: str = ""
    has_deadline: bool = False
    application: Mapping[str, Quantity] | None = None
    used: Mapping[str, Quantity] = _NOTHING

    @property
    def requests(self) -> Amounts:
        """The sum of the pod's requests."""
        return amounts.add_up(amounts.requests(self.containers), dict(self.overhead))

    @property
    def limits(self) -> Amounts:
        """The sum of the pod's limits. Kubernetes adds the overhead to limits other than 0."""
        limits = amounts.limits(self.containers)
        limited = {name for name, amount in limits.items() if amount.nanos}
        return amounts.add_up(limits, {name: amount for name, amount in self.overhead.items() if name in limited})


def from_pod(pod: Pod, name: str) -> QuotaItem:
    """The item for the pod of a new VM."""
    containers = tuple(map(_stored, pod.containers))
    return QuotaItem(PODS, name, containers, affinity=pod.affinity, priority_class=pod.priority_class)


def from_manifest(manifest: Mapping[str, Any]) -> QuotaItem:
    """Reads a Pod. Raises QuantityError."""
    spec = manifest.get("spec") or {}
    return QuotaItem(
        PODS,
        name_of(manifest),
        tuple(map(_stored, amounts.read_containers(spec))),
        amounts.read_amounts(spec.get("overhead")),
        spec.get("affinity") or {},
        spec.get("priorityClassName") or "",
        spec.get("activeDeadlineSeconds") is not None,
    )


def claim(name: str, storage: str | None, storage_class: str) -> QuotaItem:
    """The item for a PersistentVolumeClaim. storage: a quantity, None if unknown. Raises QuantityError."""
    used = {CLAIMS: ONE}
    if storage is not None:
        # Kubernetes counts whole bytes.
        used[STORAGE] = _rounded(parse(storage), _NANO)
    if storage_class:
        used |= {f"{storage_class}.storageclass.storage.k8s.io/{resource}": used[resource] for resource in used}
    return QuotaItem(CLAIMS, name, used=used)


def _stored(container: Container) -> Container:
    """The container as the API server stores it: a request for each limit, amounts in whole thousandths."""
    limits, requests = (
        {name: _rounded(amount, NANOS_PER_MILLI) for name, amount in part.items()}
        for part in (container.limits, container.stored_requests)
    )
    return container._replace(requests=requests, limits=limits)


def _rounded(amount: Quantity, unit: int) -> Quantity:
    """An amount rounded up. unit: in nano units."""
    nanos = -(-amount.nanos // unit) * unit
    return from_nanos(nanos, amount.format) if nanos != amount.nanos else amount


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
        return name == "VolumeAttributesClass" and _fits(scope, "")
    if item.resource != PODS:
        return False
    if name == "PriorityClass":
        return _fits(scope, item.priority_class)
    best_effort = amounts.qos_class(item.containers) == "BestEffort"
    plain = {
        "Terminating": item.has_deadline,
        "NotTerminating": not item.has_deadline,
        "BestEffort": best_effort,
        "NotBestEffort": not best_effort,
        "CrossNamespacePodAffinity": _names_namespaces(item.affinity),
    }
    return plain.get(str(name), False)


def _fits(scope: Scope, value: str) -> bool:
    return matches_expression({**scope, "key": "class"}, {"class": value} if value else {})


def _names_namespaces(affinity: Mapping[str, Any]) -> bool:
    """Whether pod affinity names namespaces."""
    rules = [affinity.get(kind) or {} for kind in ("podAffinity", "podAntiAffinity")]
    terms = [term for rule in rules for when in (REQUIRED, PREFERRED) for term in rule.get(when) or ()]
    bare = [term.get("podAffinityTerm", term) for term in terms]
    return any(term.get("namespaces") or term.get("namespaceSelector") is not None for term in bare)


_REQUESTS: Final = "requests."
# If a quota limits any of these, every container must set it.
_ENFORCED: Final = ("cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory")


def used_amounts(item: QuotaItem) -> Amounts:
    """The resources that an object uses."""
    counted = {f"count/{item.resource}": ONE, **item.used}
    if item.resource == PODS:
        return {**counted, PODS: ONE, **name_for_quotas(item.requests, item.limits)}
    return counted


def name_for_quotas(requests: Amounts, limits: Amounts) -> Amounts:
    """Requests and limits by the quotas' resource names."""
    named: Amounts = {}
    for name, amount in requests.items():
        if name in PLAIN or name.startswith(HUGE_PAGES):
            named[name] = named[_REQUESTS + name] = amount
        elif amounts.is_qualified(name) and "kubernetes.io/" not in name and not name.startswith(_REQUESTS):
            named[_REQUESTS + name] = amount
    return {**named, **{f"limits.{name}": limits[name] for name in PLAIN if name in limits}}


# The amounts of a quota's resources in nano units.
Nanos = dict[str, int]


@dataclass(eq=False)
class Quota:
    """A quota as VMs use it one after the other.

    kind: ResourceQuota or one of AAQ's. hard: the limits. before: the usage without the VMs. scopes: all must match an
    object. measure: the amounts of an object, {} if the quota does not apply. demands: containers must set the quota's
    resources. used: the usage with the admitted VMs. wanted: what all VMs need.
    """

    kind: str
    name: str
    hard: Amounts
    before: Nanos
    scopes: tuple[Scope, ...]
    measure: Callable[[QuotaItem], Amounts]
    demands: bool
    used: Nanos = field(init=False)
    wanted: Nanos = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.used = dict(self.before)

    def used_amounts(self, item: QuotaItem) -> Nanos:
        """The amounts that an object uses of the quota."""
        if not in_scope(item, self.scopes):
            return {}
        return {name: amount.nanos for name, amount in self.measure(item).items() if name in self.hard and amount.nanos}

    def problems(self, items: Sequence[QuotaItem], deleted: Sequence[QuotaItem] = ()) -> Iterator[str]:
        """Why the objects cannot all be created; nothing if they can. deleted: objects that are deleted first."""
        for item in items:
            if self.demands and item.resource == PODS and in_scope(item, self.scopes):
                yield from self._unset(item)
        added, removed = self._net_use(items), self._net_use(deleted)
        for name, amount in added.items():
            remaining = self.hard[name].nanos - self.used.get(name, 0) + removed.get(name, 0)
            if amount > remaining:
                shortage, charge, left = (
                    _amount_text(name, nanos) for nanos in (amount - remaining, amount, max(0, remaining))
                )
                yield f"{self.kind} {self.name} lacks {shortage} of {name} ({charge} wanted, {left} left)"

    def _unset(self, pod: QuotaItem) -> Iterator[str]:
        """The resources that each container of a pod must set, and that some do not."""
        named = [
            (container.name, name_for_quotas(container.requests, container.limits)) for container in pod.containers
        ]
        for resource in _ENFORCED:
            lacking = sorted({name for name, given in named if resource not in given})
            if lacking and resource in self.hard:
                verb, names = "does" if len(lacking) == 1 else "do", ", ".join(lacking)
                yield f"{self.kind} {self.name} requires {resource} in each container, but {names} {verb} not set it"

    def count(self, variants: Iterable[Sequence[QuotaItem]], deleted: Sequence[QuotaItem], admitted: bool) -> None:
        """Counts the objects that are created and deleted for a VM, the largest amount of several variants."""
        highest: Nanos = {}
        for items in variants:
            for name, amount in self._net_use(items, deleted).items():
                highest[name] = max(amount, highest.get(name, amount))
        for counted in (self.wanted, self.used) if admitted else (self.wanted,):
            for name, amount in highest.items():
                counted[name] = counted.get(name, 0) + amount

    def _net_use(self, items: Iterable[QuotaItem], deleted: Iterable[QuotaItem] = ()) -> Nanos:
        """The amounts that created objects use of the quota, minus the amounts of deleted objects."""
        total: Nanos = {}
        for sign, group in ((1, items), (-1, deleted)):
            for item in group:
                for name, amount in self.used_amounts(item).items():
                    total[name] = total.get(name, 0) + sign * amount
        return total

    def line(self, namespace: str) -> dict[str, Any]:
        """{kind, name, namespace, fits, resources}. namespace: "" for a quota of several.

        resources: name → {hard, used, wanted, left, lacks}, quantities; lacks if the quota is exceeded.
        """
        resources = {name: self._resource_line(name) for name in self.hard}
        fits = not any("lacks" in line for line in resources.values())
        space = {"namespace": namespace} if namespace else {}
        return {"kind": self.kind, "name": self.name, **space, "fits": fits, "resources": resources}

    def _resource_line(self, name: str) -> dict[str, str]:
        hard, used, wanted = self.hard[name], self.before.get(name, 0), self.wanted.get(name, 0)
        remaining = hard.nanos - used - wanted
        parts = {"used": used, "wanted": wanted, "left": max(0, remaining)}
        # VMs that use nothing of a quota do not exceed it, even if it was exceeded before.
        if remaining < 0 < wanted:
            parts["lacks"] = -remaining
        return {"hard": hard.text, **{part: from_nanos(nanos, hard.format).text for part, nanos in parts.items()}}


def _amount_text(name: str, nanos: int) -> str:
    """An amount of a quota's resource, for users."""
    units, rest = divmod(nanos, _NANO)
    text = str(units) if not rest else f"{nanos // NANOS_PER_MILLI}m"
    return human_readable(text, binary="memory" in name or "storage" in name or "hugepages" in name)


def resource_quota(manifest: Mapping[str, Any]) -> Quota:
    """Reads a ResourceQuota. The limits in its status come first. Raises QuantityError."""
    hard, used = read_limits_and_usage(manifest)
    return Quota(
        "ResourceQuota", name_of(manifest), hard, used, scopes_of(manifest.get("spec") or {}), used_amounts, True
    )


def read_limits_and_usage(manifest: Mapping[str, Any]) -> tuple[Amounts, Nanos]:
    """The limits and the usage of a quota. Raises QuantityError."""
    spec, status = (manifest.get(part) or {} for part in ("spec", "status"))
    hard, used = map(amounts.read_amounts, (status.get("hard") or spec.get("hard"), status.get("used")))
    return hard, {name: amount.nanos for name, amount in used.items()}
