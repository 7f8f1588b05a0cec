"""Whether quotas and limit ranges permit VMs to run, from manifests of the VMs and their namespaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Final, NamedTuple

from ...api.errors import FieldError, QuantityError
from ...api.matcher import ROLES
from ...api.quantity import of_nanos
from ...kubevirt.find.lookup import Lookup
from ...kubevirt.pod.environment import Environment
from ...kubevirt.pod.manifests import Manifest, by_namespace, environments, labels_of, malformed, name_of, namespace_of
from ...kubevirt.pod.of_vm import KEEP, MIGRATE, Launched, NoPod, launched
from ...kubevirt.vmi.cluster import KubeVirt
from ..placement.workload import is_over
from ..placement.workload import of_manifest as workload
from .application import (
    allows_cluster_quotas,
    application_quota,
    cluster_quota,
    counted,
    growth,
    selects,
    watches,
    way_of,
)
from .budget import Budget, Nanos, Quota, Shared, most_wanted, resource_quota
from .item import Item, claim, of_manifest, of_pod
from .limit_range import Defaults, defaulted, defaults_of, in_any_order, invalid, violations

_VM: Final = "virtualmachines.kubevirt.io"
_GUEST: Final = "virtualmachineinstances.kubevirt.io"
_REVISION: Final = "controllerrevisions.apps"
_VOLUME: Final = "datavolumes.cdi.kubevirt.io"


def of_new(vm: Manifest, default_class: str = "") -> list[Item]:
    """The VM itself, its revisions, its DataVolumes and their claims.

    default_class: the storage class of claims without one. Unknown are the size of a DataVolume that leaves it to its
    source, and what CDI adds for a file system and during the import. Raises FieldError.
    """
    name = str((vm.get("metadata") or {}).get("name") or "")
    revisions = [Item(_REVISION, name) for role in ROLES if role.matcher_of(vm)]
    return [Item(_VM, name), *revisions, *_volumes(vm, default_class)]


def of_start(vm: Manifest) -> list[Item]:
    """What virt-controller creates besides the pod when the VM starts."""
    return [Item(_GUEST, str((vm.get("metadata") or {}).get("name") or ""))]


def _volumes(vm: Manifest, default_class: str) -> Iterator[Item]:
    for index, template in enumerate(vm["spec"].get("dataVolumeTemplates") or ()):
        name = (template.get("metadata") or {}).get("name") or ""
        spec = template.get("spec") or {}
        asked = spec.get("storage") or spec.get("pvc") or {}
        size = ((asked.get("resources") or {}).get("requests") or {}).get("storage")
        named = asked.get("storageClassName")
        yield Item(_VOLUME, name)
        try:
            yield claim(name, None if size is None else str(size), default_class if named is None else named)
        except QuantityError as error:
            raise FieldError(f"spec.dataVolumeTemplates[{index}]", f"{size}: {error}") from None


class Sums:
    """The sums by quota, including VMs that do not fit."""

    def __init__(self, namespace: str, quotas: Sequence[Quota]) -> None:
        self._namespace, self._quotas = namespace, quotas
        self._wanted: list[Nanos] = [{} for _quota in quotas]

    def add(self, variants: Sequence[Sequence[Item]], gone: Sequence[Item]) -> None:
        """Counts the objects that are created and deleted for a VM; see budget.most_wanted."""
        for quota, wanted in zip(self._quotas, self._wanted):
            for name, amount in most_wanted(quota, variants, gone).items():
                wanted[name] = wanted.get(name, 0) + amount

    def lines(self) -> Iterator[dict[str, Any]]:
        """{kind, name, namespace, fits, resources}. namespace: except for a quota of several.

        resources: name → {hard, used, wanted, left, lacks}, quantities; lacks if the quota is exceeded.
        """
        for quota, wanted in zip(self._quotas, self._wanted):
            resources = {name: _figures(quota, name, wanted.get(name, 0)) for name in quota.hard}
            fits = not any("lacks" in figures for figures in resources.values())
            space = {"namespace": self._namespace} if self._namespace else {}
            yield {"kind": quota.kind, "name": quota.name, **space, "fits": fits, "resources": resources}


def _figures(quota: Quota, name: str, wanted: int) -> dict[str, str]:
    hard, used = quota.hard[name], quota.used.get(name, 0)
    left = hard.nanos - used - wanted

    def text(nanos: int) -> str:
        return of_nanos(nanos, hard.format).text

    found = {"hard": hard.text, "used": text(used), "wanted": text(wanted), "left": text(max(0, left))}
    # VMs that use nothing of a quota do not exceed it, even if it was exceeded before.
    return {**found, "lacks": text(-left)} if left < 0 and wanted > 0 else found


class Cluster(NamedTuple):
    """Where VMs are to run, as manifests.

    quotas: ResourceQuotas. limit_ranges: LimitRanges. application_quotas: ApplicationAwareResourceQuotas.
    cluster_quotas: ApplicationAwareClusterResourceQuotas, or their copies in namespaces. aaq: the AAQ object. pods: of
    the VMs' namespaces. guests: the VMIs. vms: the existing VMs. networks: NetworkAttachmentDefinitions; None if
    unknown. default_class: the storage class of claims without one.
    """

    quotas: Sequence[Manifest] = ()
    limit_ranges: Sequence[Manifest] = ()
    application_quotas: Sequence[Manifest] = ()
    cluster_quotas: Sequence[Manifest] = ()
    aaq: Manifest | None = None
    namespaces: Sequence[Manifest] = ()
    networks: Sequence[Manifest] | None = None
    pods: Sequence[Manifest] = ()
    guests: Sequence[Manifest] = ()
    vms: Sequence[Manifest] = ()
    default_class: str = ""


class _Change(NamedTuple):
    """What is created and deleted for a VM.

    variants: the created objects for each order of the LimitRanges with another result.
    fleeting: does not count together with the needs of other VMs.
    """

    variants: list[list[Item]]
    gone: list[Item]
    fleeting: bool = False


def quotas(
    vms: Sequence[Manifest], lookup: Lookup, kubevirt: KubeVirt, cluster: Cluster, of_running: str = KEEP
) -> dict[str, Any]:
    """{virtual_machines, quotas}: whether each VM fits in addition to those before it, and the sums of all.

    A VM fits if its pod is admitted for every order of the LimitRanges; depends_on_order: only for some orders. A VM
    that does not run is started; its other objects count if the VM does not exist yet.
    of_running: for VMs that run, KEEP: nothing; RESTART: a new pod instead of the present one; MIGRATE: a second pod,
    for each VM separately. lookup: instancetypes, preferences and revisions. Raises FieldError.
    """
    spaces = {name_of(one): labels_of(one) for one in cluster.namespaces}
    around = environments(vms, kubevirt, spaces, cluster.quotas, cluster.networks)
    shared = _Shares(cluster)
    own = _split(cluster)
    rooms = {name: _Room(name, own(name), spaces.get(name), around[name], shared) for name in around}
    there = _running(cluster.pods)
    exist = {(namespace_of(one), name_of(one)) for one in cluster.vms}
    results = []
    for vm in vms:
        key = namespace_of(vm), name_of(vm)
        room, old = rooms[key[0]], there.get(key)
        answer = {"name": key[1], "namespace": key[0], "runs": old is not None, "judged": True}
        try:
            change = room.change(vm, lookup, kubevirt, old, key in exist, of_running)
            problems, varies = room.judge(change)
            if varies:
                answer["depends_on_order"] = True
        except (NoPod, FieldError) as error:
            problems, answer["judged"] = [" ".join(str(error).split())], False
        answer["fits"] = not problems
        results.append({**answer, **({"problem": "; ".join(problems)} if problems else {})})
    sums = [*(room.sums[0] for room in rooms.values()), *shared.sums]
    return {"virtual_machines": results, "quotas": [line for one in sums for line in one.lines()]}


class _Shares:
    """AAQ's quotas of several namespaces, with their usage by all namespaces of the VMs."""

    def __init__(self, cluster: Cluster) -> None:
        allowed = allows_cluster_quotas(cluster.aaq)
        self._within = by_namespace(cluster.cluster_quotas if allowed else ())
        self._spaces = {name_of(one): one for one in cluster.namespaces}
        self._known: dict[str, tuple[Shared, Sums]] = {}

    @property
    def sums(self) -> list[Sums]:
        return [one for _shared, one in self._known.values()]

    def of(self, namespace: str) -> list[tuple[Shared, Sums]]:
        """The quotas that apply to a namespace."""
        found = {}
        for manifest in self._within(namespace):
            with _reading(manifest, "ApplicationAwareClusterResourceQuota"):
                if selects(manifest, namespace, self._spaces.get(namespace)):
                    name = name_of(manifest)
                    if name not in self._known:
                        quota = cluster_quota(manifest)
                        self._known[name] = (Shared(quota, dict(quota.used)), Sums("", [quota]))
                    found[name] = self._known[name]
        return list(found.values())


class _Room:
    """A namespace's quotas and limit ranges, and what remains of them. cluster: with those of the namespace only."""

    def __init__(
        self,
        name: str,
        cluster: Cluster,
        labels: Mapping[str, str] | None,
        environment: Environment,
        shares: _Shares,
    ) -> None:
        self._cluster, self._environment = cluster, environment
        self._way = way_of(cluster.aaq)
        own: list[Quota] = [_read(one, resource_quota) for one in cluster.quotas]
        shared = []
        if labels is None or watches(cluster.aaq, labels):
            shared = shares.of(name)
            own += [_read(one, application_quota) for one in cluster.application_quotas]
        self._ranges = cluster.limit_ranges
        self._guests = {name_of(one): one for one in cluster.guests}
        self._budget = Budget(own, [one for one, _sums in shared])
        # The first Sums are the namespace's own.
        self.sums = [Sums(name, own), *(sums for _one, sums in shared)]

    def change(
        self, vm: Manifest, lookup: Lookup, kubevirt: KubeVirt, old: Manifest | None, exists: bool, of_running: str
    ) -> _Change:
        """What is created and deleted for a VM. old: its pod, if it runs. Raises NoPod, FieldError."""
        if old is not None and of_running == KEEP:
            return _Change([[]], [])
        # The target of a migration has the same size; its source affects only the choice of nodes.
        made = launched(vm, lookup, kubevirt, self._environment)
        bare = of_pod(made.pod, f"the pod of {name_of(vm)}")
        pods = [defaulted(bare, known) for known in self._defaults]
        if old is None:
            new = of_new(vm, self._cluster.default_class) if not exists else []
            return _Change([[*new, *of_start(vm), self._counted(made, pod)] for pod in pods], [])
        guest = self._guests.get(name_of(vm), {})
        if of_running == MIGRATE:
            more = [growth(self._way, made.spec, pod, self._environment, guest) for pod in pods]
            return _Change([[pod._replace(application=one)] for pod, one in zip(pods, more)], [], True)
        return _Change([[self._counted(made, pod)] for pod in pods], [self._present(old, guest)])

    def judge(self, change: _Change) -> tuple[list[str], bool]:
        """(Why the API server would reject the change, whether only for some orders of the LimitRanges).

        Without a refusal the change counts from now on. Raises FieldError.
        """
        found = [[*self._refused(created), *self._budget.problems(created, change.gone)] for created in change.variants]
        refused = [problems for problems in found if problems]
        if not change.fleeting:
            for sums in self.sums:
                sums.add(change.variants, change.gone)
            if not refused:
                self._budget.take(change.variants, change.gone)
        if not refused:
            return [], False
        if len(refused) == len(found):
            return refused[0], False
        names = ", ".join(map(name_of, self._ranges))
        first, *others = refused[0]
        return [
            f"in some orders of the LimitRanges {names}, which the API server draws for each pod: {first}",
            *others,
        ], True

    def _refused(self, items: Sequence[Item]) -> Iterator[str]:
        for item in items:
            yield from invalid(item)
            for manifest in self._ranges:
                with _reading(manifest, "LimitRange"):
                    for line in violations(item, _limits(manifest)):
                        yield f"LimitRange {name_of(manifest)}: {line}"

    @cached_property
    def _defaults(self) -> list[Defaults]:
        return in_any_order([self._defaults_of(one) for one in self._ranges])

    def _defaults_of(self, manifest: Manifest) -> Defaults:
        with _reading(manifest, "LimitRange"):
            return defaults_of(_limits(manifest))

    def _counted(self, made: Launched, pod: Item) -> Item:
        return pod._replace(application=counted(self._way, made.spec, pod, self._environment))

    def _present(self, old: Manifest, guest: Manifest) -> Item:
        """The running pod. guest: its VMI; without it AAQ counts nothing."""
        pod = of_manifest(old)
        if not guest:
            return pod._replace(application={})
        spec, status = guest.get("spec") or {}, guest.get("status")
        return pod._replace(application=counted(self._way, spec, pod, self._environment, status))


def _split(cluster: Cluster) -> Callable[[str], Cluster]:
    """namespace → the cluster with what counts in this namespace only. Raises FieldError."""
    quotas, ranges = by_namespace(cluster.quotas), by_namespace(cluster.limit_ranges)
    application, guests = by_namespace(cluster.application_quotas), by_namespace(cluster.guests)
    return lambda name: cluster._replace(
        quotas=quotas(name), limit_ranges=ranges(name), application_quotas=application(name), guests=guests(name)
    )


def _running(pods: Sequence[Manifest]) -> dict[tuple[str, str], Manifest]:
    """The pods of VMs by namespace and name. Quotas also count a pod that waits for a node."""
    found = {}
    for manifest in pods:
        with _reading(manifest, "Pod"):
            pod = workload(manifest)
        if pod.owner and pod.vm and not pod.terminating and not is_over(manifest):
            found[pod.namespace, pod.vm] = manifest
    return found


def _limits(limit_range: Manifest) -> Sequence[Manifest]:
    return (limit_range.get("spec") or {}).get("limits") or ()


@contextmanager
def _reading(manifest: Manifest, kind: str) -> Iterator[None]:
    try:
        yield
    except (AttributeError, QuantityError, TypeError) as error:
        raise FieldError(f"{kind[0].lower()}{kind[1:]}s", malformed(kind, manifest, error)) from None


def _read(manifest: Manifest, reader: Callable[[Manifest], Quota]) -> Quota:
    with _reading(manifest, "ResourceQuota"):
        return reader(manifest)
