"""Whether quotas and limit ranges permit VMs to run, from manifests of the VMs and their namespaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from ..._resolver.api.errors import FieldError, QuantityError
from ..._resolver.api.manifest import Manifest, labels_of, name_of, namespaced_name
from ..._resolver.api.matcher import MATCHER_FIELDS
from ..._resolver.api.name_rules import one_line
from ..._resolver.api.quantity import from_nanos
from ..._resolver.kubevirt.config.cluster import KubeVirt
from ..._resolver.kubevirt.find.lookup import Lookup
from ..placement.objects import from_manifest as pod_info
from ..placement.objects import is_over
from ..pod.environment import Environment
from ..pod.render import KEEP, MIGRATE, NoPod, RenderedVM, by_namespace, environments, reading, render_vm
from .application import (
    allows_cluster_quotas,
    application_quota,
    calculator_of,
    cluster_quota,
    measured,
    migration_delta,
    selects,
    watches,
)
from .budget import (
    Budget,
    Nanos,
    Quota,
    QuotaItem,
    SharedQuota,
    claim,
    from_manifest,
    from_pod,
    highest_charges,
    resource_quota,
)
from .limit_range import Defaults, defaulted, defaults_by_order, defaults_of, invalid, violations

_VM: Final = "virtualmachines.kubevirt.io"
_GUEST: Final = "virtualmachineinstances.kubevirt.io"
_REVISION: Final = "controllerrevisions.apps"
_VOLUME: Final = "datavolumes.cdi.kubevirt.io"


def new_objects(vm: Manifest, default_class: str) -> list[QuotaItem]:
    """The VM itself, its revisions, its DataVolumes and their claims.

    default_class: the storage class of claims without one. Unknown are the size of a DataVolume that leaves it to its
    source, and what CDI adds for a file system and during the import. Raises FieldError.
    """
    revisions = [QuotaItem(_REVISION, name_of(vm)) for matcher_field in MATCHER_FIELDS if matcher_field.matcher_of(vm)]
    return [QuotaItem(_VM, name_of(vm)), *revisions, *_volumes(vm, default_class)]


def started_objects(vm: Manifest) -> list[QuotaItem]:
    """The objects that virt-controller creates besides the pod when the VM starts."""
    return [QuotaItem(_GUEST, name_of(vm))]


def _volumes(vm: Manifest, default_class: str) -> Iterator[QuotaItem]:
    for index, template in enumerate(vm["spec"].get("dataVolumeTemplates") or ()):
        name = name_of(template)
        spec = template.get("spec") or {}
        requested = spec.get("storage") or spec.get("pvc") or {}
        size = ((requested.get("resources") or {}).get("requests") or {}).get("storage")
        class_name = requested.get("storageClassName")
        yield QuotaItem(_VOLUME, name)
        try:
            yield claim(name, None if size is None else str(size), default_class if class_name is None else class_name)
        except QuantityError as error:
            raise FieldError(f"spec.dataVolumeTemplates[{index}]", f"{size}: {error}") from None


class QuotaSums:
    """The sums by quota, including VMs that do not fit."""

    def __init__(self, namespace: str, quotas: Sequence[Quota]) -> None:
        self._namespace, self._quotas = namespace, quotas
        self._charges: list[Nanos] = [{} for _quota in quotas]

    def add(self, variants: Sequence[Sequence[QuotaItem]], deleted: Sequence[QuotaItem]) -> None:
        """Counts the objects that are created and deleted for a VM; see budget.highest_charges."""
        for quota, charges in zip(self._quotas, self._charges):
            for name, amount in highest_charges(quota, variants, deleted).items():
                charges[name] = charges.get(name, 0) + amount

    def lines(self) -> Iterator[dict[str, Any]]:
        """{kind, name, namespace, fits, resources}. namespace: except for a quota of several.

        resources: name → {hard, used, wanted, left, lacks}, quantities; lacks if the quota is exceeded.
        """
        for quota, charges in zip(self._quotas, self._charges):
            resources = {name: _quota_line(quota, name, charges.get(name, 0)) for name in quota.hard}
            fits = not any("lacks" in line for line in resources.values())
            space = {"namespace": self._namespace} if self._namespace else {}
            yield {"kind": quota.kind, "name": quota.name, **space, "fits": fits, "resources": resources}


def _quota_line(quota: Quota, name: str, charge: int) -> dict[str, str]:
    hard, used = quota.hard[name], quota.used.get(name, 0)
    remaining = hard.nanos - used - charge

    def text(nanos: int) -> str:
        return from_nanos(nanos, hard.format).text

    result = {"hard": hard.text, "used": text(used), "wanted": text(charge), "left": text(max(0, remaining))}
    # VMs that use nothing of a quota do not exceed it, even if it was exceeded before.
    return {**result, "lacks": text(-remaining)} if remaining < 0 and charge > 0 else result


class QuotaObjects(NamedTuple):
    """The manifests that quotas depend on.

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
    """The objects created and deleted for a VM.

    variants: the created objects for each order of the LimitRanges with another result.
    is_temporary: does not count together with the needs of other VMs.
    """

    variants: list[list[QuotaItem]]
    deleted: list[QuotaItem]
    is_temporary: bool = False


def check_quotas(
    vms: Sequence[Manifest], lookup: Lookup, kubevirt: KubeVirt, objects: QuotaObjects, running_policy: str = KEEP
) -> dict[str, Any]:
    """{virtual_machines, quotas}: whether each VM fits in addition to those before it, and the sums of all.

    A VM fits if its pod is admitted for every order of the LimitRanges; depends_on_order: only for some orders. A VM
    that does not run is started; its other objects count if the VM does not exist yet.
    running_policy: for VMs that run, KEEP: nothing; RESTART: a new pod instead of the present one; MIGRATE: a second
    pod, for each VM separately. lookup: instancetypes, preferences and revisions. Raises FieldError.
    """
    namespace_labels = {name_of(manifest): labels_of(manifest) for manifest in objects.namespaces}
    environment_of = environments(vms, kubevirt, namespace_labels, objects.quotas, objects.networks)
    shared = _SharedQuotas(objects)
    own = _of_namespaces(objects)
    namespaces = {
        name: _NamespaceQuotas(name, own(name), namespace_labels.get(name), environment_of[name], shared)
        for name in environment_of
    }
    running_pods = _running(objects.pods)
    existing = set(map(namespaced_name, objects.vms))
    results = []
    for vm in vms:
        key = namespaced_name(vm)
        namespace, running_pod = namespaces[key[0]], running_pods.get(key)
        result = {"name": key[1], "namespace": key[0], "runs": running_pod is not None, "evaluated": True}
        try:
            change = namespace.change(vm, lookup, running_pod, key in existing, running_policy)
            problems, depends_on_order = namespace.rejections(change)
            if depends_on_order:
                result["depends_on_order"] = True
        except (NoPod, FieldError) as error:
            problems, result["evaluated"] = [one_line(error)], False
        result["fits"] = not problems
        results.append({**result, **({"problem": "; ".join(problems)} if problems else {})})
    sums = [*(namespace.sums[0] for namespace in namespaces.values()), *shared.sums]
    return {"virtual_machines": results, "quotas": [line for quota_sums in sums for line in quota_sums.lines()]}


class _SharedQuotas:
    """AAQ's quotas of several namespaces, with their usage by all namespaces of the VMs."""

    def __init__(self, objects: QuotaObjects) -> None:
        allowed = allows_cluster_quotas(objects.aaq)
        self._within = by_namespace(objects.cluster_quotas if allowed else ())
        self._namespaces = {name_of(manifest): manifest for manifest in objects.namespaces}
        self._quotas: dict[str, tuple[SharedQuota, QuotaSums]] = {}

    @property
    def sums(self) -> list[QuotaSums]:
        return [sums for _shared, sums in self._quotas.values()]

    def quotas_of(self, namespace: str) -> list[tuple[SharedQuota, QuotaSums]]:
        """The quotas that apply to a namespace."""
        applicable = {}
        for manifest in self._within(namespace):
            with reading(manifest, "ApplicationAwareClusterResourceQuota"):
                if selects(manifest, namespace, self._namespaces.get(namespace)):
                    name = name_of(manifest)
                    if name not in self._quotas:
                        quota = cluster_quota(manifest)
                        self._quotas[name] = (SharedQuota(quota, dict(quota.used)), QuotaSums("", [quota]))
                    applicable[name] = self._quotas[name]
        return list(applicable.values())


class _NamespaceQuotas:
    """A namespace's quotas and limit ranges, and what remains of them. objects: only objects of the namespace."""

    def __init__(
        self,
        name: str,
        objects: QuotaObjects,
        labels: Mapping[str, str] | None,
        environment: Environment,
        shared_quotas: _SharedQuotas,
    ) -> None:
        self._objects, self._environment = objects, environment
        self._calculator = calculator_of(objects.aaq)
        own: list[Quota] = [_read(manifest, resource_quota) for manifest in objects.quotas]
        applicable = []
        if labels is None or watches(objects.aaq, labels):
            applicable = shared_quotas.quotas_of(name)
            own += [_read(manifest, application_quota) for manifest in objects.application_quotas]
        self._limit_ranges = objects.limit_ranges
        self._guests = {name_of(guest): guest for guest in objects.guests}
        self._budget = Budget(own, [quota for quota, _sums in applicable])
        # The first QuotaSums are the namespace's own.
        self.sums = [QuotaSums(name, own), *(sums for _quota, sums in applicable)]

    def change(
        self,
        vm: Manifest,
        lookup: Lookup,
        running_pod: Manifest | None,
        exists: bool,
        running_policy: str,
    ) -> _Change:
        """The objects created and deleted for a VM. running_pod: the pod of a VM that runs. Raises NoPod,
        FieldError.
        """
        if running_pod is not None and running_policy == KEEP:
            return _Change([[]], [])
        # The target of a migration has the same size; its source affects only the choice of nodes.
        launch = render_vm(vm, lookup, self._environment)
        bare = from_pod(launch.pod, f"the pod of {name_of(vm)}")
        pods = [defaulted(bare, defaults) for defaults in self._defaults]
        if running_pod is None:
            new = new_objects(vm, self._objects.default_class) if not exists else []
            return _Change([[*new, *started_objects(vm), self._with_usage(launch, pod)] for pod in pods], [])
        guest = self._guests.get(name_of(vm), {})
        if running_policy == MIGRATE:
            growths = [migration_delta(self._calculator, launch.spec, pod, self._environment, guest) for pod in pods]
            return _Change([[pod._replace(application=amounts)] for pod, amounts in zip(pods, growths)], [], True)
        return _Change([[self._with_usage(launch, pod)] for pod in pods], [self._running_item(running_pod, guest)])

    def rejections(self, change: _Change) -> tuple[list[str], bool]:
        """(Why the API server would reject the change, whether only for some orders of the LimitRanges).

        Without a refusal the change counts from now on. Raises FieldError.
        """
        problems_by_variant = [
            [*self._rejections(created), *self._budget.problems(created, change.deleted)] for created in change.variants
        ]
        refused = [problems for problems in problems_by_variant if problems]
        if not change.is_temporary:
            for sums in self.sums:
                sums.add(change.variants, change.deleted)
            if not refused:
                self._budget.reserve(change.variants, change.deleted)
        if not refused:
            return [], False
        if len(refused) == len(problems_by_variant):
            return refused[0], False
        names = ", ".join(map(name_of, self._limit_ranges))
        first, *others = refused[0]
        return [
            f"in some orders of the LimitRanges {names}, which the API server draws for each pod: {first}",
            *others,
        ], True

    def _rejections(self, items: Sequence[QuotaItem]) -> Iterator[str]:
        for item in items:
            yield from invalid(item)
            for manifest in self._limit_ranges:
                with reading(manifest, "LimitRange"):
                    for line in violations(item, _limits(manifest)):
                        yield f"LimitRange {name_of(manifest)}: {line}"

    @cached_property
    def _defaults(self) -> list[Defaults]:
        return defaults_by_order([self._defaults_of(manifest) for manifest in self._limit_ranges])

    def _defaults_of(self, manifest: Manifest) -> Defaults:
        with reading(manifest, "LimitRange"):
            return defaults_of(_limits(manifest))

    def _with_usage(self, launch: RenderedVM, pod: QuotaItem) -> QuotaItem:
        return pod._replace(application=measured(self._calculator, launch.spec, pod, self._environment))

    def _running_item(self, running_pod: Manifest, guest: Manifest) -> QuotaItem:
        """The running pod. guest: its VMI; without it AAQ counts nothing."""
        pod = from_manifest(running_pod)
        if not guest:
            return pod._replace(application={})
        spec, status = guest.get("spec") or {}, guest.get("status")
        return pod._replace(application=measured(self._calculator, spec, pod, self._environment, status))


def _of_namespaces(objects: QuotaObjects) -> Callable[[str], QuotaObjects]:
    """namespace → the objects that count in it. Raises FieldError."""
    quotas, ranges = by_namespace(objects.quotas), by_namespace(objects.limit_ranges)
    application, guests = by_namespace(objects.application_quotas), by_namespace(objects.guests)
    return lambda name: objects._replace(
        quotas=quotas(name), limit_ranges=ranges(name), application_quotas=application(name), guests=guests(name)
    )


def _running(pods: Sequence[Manifest]) -> dict[tuple[str, str], Manifest]:
    """The pods of VMs by namespace and name. Quotas also count a pod that waits for a node."""
    pods_by_vm = {}
    for manifest in pods:
        with reading(manifest, "Pod"):
            pod = pod_info(manifest)
        if pod.owner and pod.vm and not pod.terminating and not is_over(manifest):
            pods_by_vm[pod.namespace, pod.vm] = manifest
    return pods_by_vm


def _limits(limit_range: Manifest) -> Sequence[Manifest]:
    return (limit_range.get("spec") or {}).get("limits") or ()


def _read(manifest: Manifest, reader: Callable[[Manifest], Quota]) -> Quota:
    with reading(manifest, "ResourceQuota"):
        return reader(manifest)
