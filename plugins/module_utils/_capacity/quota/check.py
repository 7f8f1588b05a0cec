"""Whether quotas and limit ranges permit VMs to run, from manifests of the VMs and their namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any, Final, NamedTuple

from ..._resolver.api.errors import FieldError, KubeVirtError, QuantityError
from ..._resolver.api.manifest import Manifest, labels_of, name_of, namespaced_name
from ..._resolver.api.matcher import MATCHER_FIELDS
from ..._resolver.api.name_rules import one_line
from ..._resolver.kubevirt.cluster import KubeVirt
from ..._resolver.kubevirt.instancetype.lookup import Lookup
from ..placement.scheduler_view import from_manifest as pod_info
from ..pod.environment import Environment
from ..pod.render import KEEP, MIGRATE, by_namespace, environments, read_as, render_vm
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
from .budget import Quota, QuotaItem, claim, from_manifest, from_pod, resource_quota
from .limit_range import Defaults, defaulted, defaults_by_order, defaults_of, invalid, violations

_VM: Final = "virtualmachines.kubevirt.io"
_GUEST: Final = "virtualmachineinstances.kubevirt.io"
_REVISION: Final = "controllerrevisions.apps"
_QUOTA: Final = "ResourceQuota"
# The fields of QuotaObjects with objects that count in their own namespace.
_NAMESPACED: Final = ("quotas", "limit_ranges", "application_quotas", "cluster_quotas", "guests")
_VOLUME: Final = "datavolumes.cdi.kubevirt.io"


def new_objects(vm: Manifest, default_class: str) -> Iterator[QuotaItem]:
    """The VM itself, its revisions, its DataVolumes and their claims.

    default_class: the storage class of claims without one. Unknown are the size of a DataVolume that leaves it to its
    source, and what CDI adds for a file system and during the import. Raises FieldError.
    """
    yield QuotaItem(_VM, name_of(vm))
    for matcher_field in MATCHER_FIELDS:
        if matcher_field.matcher_of(vm):
            yield QuotaItem(_REVISION, name_of(vm))
    for index, template in enumerate(vm["spec"].get("dataVolumeTemplates") or ()):
        name, spec = name_of(template), template.get("spec") or {}
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
    """{virtual_machines, quotas}: whether each VM fits in addition to the VMs before it, and the sums of all.

    A VM fits if its pod is admitted for every order of the LimitRanges; depends_on_order: only for some orders. A VM
    that does not run is started; its other objects count if the VM does not exist yet.
    running_policy: for VMs that run, KEEP: nothing; RESTART: a new pod instead of the present one; MIGRATE: a second
    pod, for each VM separately. lookup: instancetypes, preferences and revisions. Raises FieldError.
    """
    environment_of = environments(vms, kubevirt, objects.namespaces, objects.quotas, objects.networks)
    within = {kind: by_namespace(getattr(objects, kind)) for kind in _NAMESPACED}
    manifests = {name_of(manifest): manifest for manifest in objects.namespaces}
    shared: dict[str, Quota] = {}
    namespaces = {}
    for name, environment in environment_of.items():
        own: dict[str, Any] = {kind: select(name) for kind, select in within.items()}
        namespaces[name] = _NamespaceQuotas(name, objects._replace(**own), manifests.get(name), environment, shared)
    running_pods = _running(objects.pods)
    existing = set(map(namespaced_name, objects.vms))
    results = []
    for vm in vms:
        key = namespaced_name(vm)
        namespace, running_pod = namespaces[key[0]], running_pods.get(key)
        result = {"name": key[1], "namespace": key[0], "has_pod": running_pod is not None, "evaluated": True}
        try:
            change = namespace.change(vm, lookup, running_pod, key in existing, running_policy)
            problems, depends_on_order = namespace.rejections(change)
            if depends_on_order:
                result["depends_on_order"] = True
        except (KubeVirtError, FieldError) as error:
            problems, result["evaluated"] = [one_line(error)], False
        result["fits"] = not problems
        results.append({**result, **({"problem": "; ".join(problems)} if problems else {})})
    lines = [quota.line(namespace.name) for namespace in namespaces.values() for quota in namespace.own]
    return {"virtual_machines": results, "quotas": [*lines, *(quota.line("") for quota in shared.values())]}


class _NamespaceQuotas:
    """A namespace's quotas and limit ranges, and what remains of them. objects: only objects of the namespace.

    manifest: the Namespace, if known. shared: AAQ's quotas of several namespaces by name; gets the ones that apply to
    this namespace. own: the quotas of the namespace alone.
    """

    def __init__(
        self,
        name: str,
        objects: QuotaObjects,
        manifest: Manifest | None,
        environment: Environment,
        shared: dict[str, Quota],
    ) -> None:
        self.name, self._objects, self._environment = name, objects, environment
        self._calculator = calculator_of(objects.aaq)
        self.own = [read_as(_QUOTA, resource_quota, quota) for quota in objects.quotas]
        applicable: dict[str, Quota] = {}

        def join(quota_manifest: Manifest) -> None:
            if selects(quota_manifest, name, manifest):
                quota = cluster_quota(quota_manifest)
                applicable[quota.name] = shared.setdefault(quota.name, quota)

        if manifest is None or watches(objects.aaq, labels_of(manifest)):
            for quota in objects.cluster_quotas if allows_cluster_quotas(objects.aaq) else ():
                read_as("ApplicationAwareClusterResourceQuota", join, quota)
            self.own += [read_as(_QUOTA, application_quota, quota) for quota in objects.application_quotas]
        self._quotas = [*self.own, *applicable.values()]
        self._guests = {name_of(guest): guest for guest in objects.guests}

    def change(
        self, vm: Manifest, lookup: Lookup, running_pod: Manifest | None, exists: bool, running_policy: str
    ) -> _Change:
        """The objects created and deleted for a VM. running_pod: the pod of a VM that runs. Raises KubeVirtError,
        FieldError.
        """
        if running_pod is not None and running_policy == KEEP:
            return _Change([[]], [])
        # The target of a migration has the same size; its source affects only the choice of nodes.
        launch = render_vm(vm, lookup, self._environment)
        bare = from_pod(launch.pod, f"the pod of {name_of(vm)}")
        pods = [defaulted(bare, defaults) for defaults in self._defaults]
        if running_pod is None:
            new = [] if exists else [*new_objects(vm, self._objects.default_class)]
            new.append(QuotaItem(_GUEST, name_of(vm)))
            return _Change([[*new, self._measured(pod, launch.spec)] for pod in pods], [])
        guest = self._guests.get(name_of(vm), {})
        if running_policy == MIGRATE:
            growths = [migration_delta(self._calculator, launch.spec, pod, self._environment, guest) for pod in pods]
            return _Change([[pod._replace(application=amounts)] for pod, amounts in zip(pods, growths)], [], True)
        # Without the VMI, AAQ counts nothing.
        current = from_manifest(running_pod)._replace(application={})
        if guest:
            current = self._measured(current, guest.get("spec") or {}, guest.get("status"))
        return _Change([[self._measured(pod, launch.spec)] for pod in pods], [current])

    def rejections(self, change: _Change) -> tuple[list[str], bool]:
        """(Why the API server would reject the change, whether only for some orders of the LimitRanges).

        Without a refusal the change counts from now on. Raises FieldError.
        """
        refused = [problems for created in change.variants if (problems := [*self._problems(created, change.deleted)])]
        if not change.is_temporary:
            for quota in self._quotas:
                quota.count(change.variants, change.deleted, not refused)
        if not refused or len(refused) == len(change.variants):
            return next(iter(refused), []), False
        names = ", ".join(map(name_of, self._objects.limit_ranges))
        first, *others = refused[0]
        some = f"in some orders of the LimitRanges {names}, which the API server draws for each pod: {first}"
        return [some, *others], True

    def _problems(self, items: Sequence[QuotaItem], deleted: Sequence[QuotaItem]) -> Iterator[str]:
        for item in items:
            yield from invalid(item)
            for manifest in self._objects.limit_ranges:
                for line in read_as("LimitRange", partial(violations, item), manifest):
                    yield f"LimitRange {name_of(manifest)}: {line}"
        for quota in self._quotas:
            yield from quota.problems(items, deleted)

    @cached_property
    def _defaults(self) -> list[Defaults]:
        return defaults_by_order([read_as("LimitRange", defaults_of, item) for item in self._objects.limit_ranges])

    def _measured(self, pod: QuotaItem, spec: Manifest, status: Manifest | None = None) -> QuotaItem:
        """The pod of a VMI with the amounts that AAQ counts."""
        return pod._replace(application=measured(self._calculator, spec, pod, self._environment, status))


def _running(pods: Sequence[Manifest]) -> dict[tuple[str, str], Manifest]:
    """The pods of VMs by namespace and name. Quotas also count a pod that waits for a node."""
    infos = [read_as("Pod", pod_info, manifest) for manifest in pods]
    return {(pod.namespace, pod.vm): manifest for pod, manifest in zip(infos, pods) if pod.is_guest}
