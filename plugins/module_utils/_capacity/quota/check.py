"""Whether quotas and limit ranges permit VMs to run, from manifests of the VMs and their namespaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, NamedTuple

from ..._resolver.api.errors import FieldError, KubeVirtError, QuantityError
from ..._resolver.api.manifest import Manifest, labels_of, name_of, namespaced_name
from ..._resolver.api.matcher import MATCHER_FIELDS
from ..._resolver.api.name_rules import one_line
from ..._resolver.kubevirt.config.cluster import KubeVirt
from ..._resolver.kubevirt.find.lookup import Lookup
from ..placement.objects import from_manifest as pod_info
from ..placement.objects import is_over
from ..pod.environment import Environment
from ..pod.render import KEEP, MIGRATE, by_namespace, environments, reading, render_vm
from ..pod.resources import RenderedVM
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
from .budget import Account, Quota, QuotaItem, claim, from_manifest, from_pod, resource_quota
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
        except (KubeVirtError, FieldError) as error:
            problems, result["evaluated"] = [one_line(error)], False
        result["fits"] = not problems
        results.append({**result, **({"problem": "; ".join(problems)} if problems else {})})
    lines = [account.line(namespace.name) for namespace in namespaces.values() for account in namespace.own]
    return {"virtual_machines": results, "quotas": [*lines, *(account.line("") for account in shared.accounts)]}


class _SharedQuotas:
    """AAQ's quotas of several namespaces, which all namespaces of the VMs use."""

    def __init__(self, objects: QuotaObjects) -> None:
        allowed = allows_cluster_quotas(objects.aaq)
        self._within = by_namespace(objects.cluster_quotas if allowed else ())
        self._namespaces = {name_of(manifest): manifest for manifest in objects.namespaces}
        self._accounts: dict[str, Account] = {}

    @property
    def accounts(self) -> list[Account]:
        return list(self._accounts.values())

    def accounts_of(self, namespace: str) -> list[Account]:
        """The quotas that apply to a namespace."""
        applicable = {}
        for manifest in self._within(namespace):
            with reading(manifest, "ApplicationAwareClusterResourceQuota"):
                if selects(manifest, namespace, self._namespaces.get(namespace)):
                    name = name_of(manifest)
                    if name not in self._accounts:
                        self._accounts[name] = Account(cluster_quota(manifest))
                    applicable[name] = self._accounts[name]
        return list(applicable.values())


class _NamespaceQuotas:
    """A namespace's quotas and limit ranges, and what remains of them. objects: only objects of the namespace.

    own: the quotas of the namespace alone.
    """

    def __init__(
        self,
        name: str,
        objects: QuotaObjects,
        labels: Mapping[str, str] | None,
        environment: Environment,
        shared_quotas: _SharedQuotas,
    ) -> None:
        self.name, self._objects, self._environment = name, objects, environment
        self._calculator = calculator_of(objects.aaq)
        self.own = [_read(manifest, resource_quota) for manifest in objects.quotas]
        shared = []
        if labels is None or watches(objects.aaq, labels):
            shared = shared_quotas.accounts_of(name)
            self.own += [_read(manifest, application_quota) for manifest in objects.application_quotas]
        self._accounts = [*self.own, *shared]
        self._limit_ranges = objects.limit_ranges
        self._guests = {name_of(guest): guest for guest in objects.guests}

    def change(
        self,
        vm: Manifest,
        lookup: Lookup,
        running_pod: Manifest | None,
        exists: bool,
        running_policy: str,
    ) -> _Change:
        """The objects created and deleted for a VM. running_pod: the pod of a VM that runs. Raises
        KubeVirtError, FieldError.
        """
        if running_pod is not None and running_policy == KEEP:
            return _Change([[]], [])
        # The target of a migration has the same size; its source affects only the choice of nodes.
        launch = render_vm(vm, lookup, self._environment)
        bare = from_pod(launch.pod, f"the pod of {name_of(vm)}")
        pods = [defaulted(bare, defaults) for defaults in self._defaults]
        if running_pod is None:
            new = new_objects(vm, self._objects.default_class) if not exists else []
            new.append(QuotaItem(_GUEST, name_of(vm)))
            return _Change([[*new, self._with_usage(launch, pod)] for pod in pods], [])
        guest = self._guests.get(name_of(vm), {})
        if running_policy == MIGRATE:
            growths = [migration_delta(self._calculator, launch.spec, pod, self._environment, guest) for pod in pods]
            return _Change([[pod._replace(application=amounts)] for pod, amounts in zip(pods, growths)], [], True)
        return _Change([[self._with_usage(launch, pod)] for pod in pods], [self._running_item(running_pod, guest)])

    def rejections(self, change: _Change) -> tuple[list[str], bool]:
        """(Why the API server would reject the change, whether only for some orders of the LimitRanges).

        Without a refusal the change counts from now on. Raises FieldError.
        """
        refused = [problems for created in change.variants if (problems := [*self._problems(created, change.deleted)])]
        if not change.is_temporary:
            for account in self._accounts:
                account.count(change.variants, change.deleted, not refused)
        if not refused or len(refused) == len(change.variants):
            return next(iter(refused), []), False
        names = ", ".join(map(name_of, self._limit_ranges))
        first, *others = refused[0]
        some = f"in some orders of the LimitRanges {names}, which the API server draws for each pod: {first}"
        return [some, *others], True

    def _problems(self, items: Sequence[QuotaItem], deleted: Sequence[QuotaItem]) -> Iterator[str]:
        for item in items:
            yield from invalid(item)
            for manifest in self._limit_ranges:
                with reading(manifest, "LimitRange"):
                    for line in violations(item, _limits(manifest)):
                        yield f"LimitRange {name_of(manifest)}: {line}"
        for account in self._accounts:
            yield from account.problems(items, deleted)

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


def _read(manifest: Manifest, reader: Callable[[Manifest], Quota]) -> Account:
    with reading(manifest, "ResourceQuota"):
        return Account(reader(manifest))
