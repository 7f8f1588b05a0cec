"""Reads VMs with their ControllerRevisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, namespaced_name
from ..._resolver.api.matcher import MATCHER_FIELDS, MatcherField
from ..._resolver.guest.effect import ASSUMED, RESTART, GuestEffect, Instance
from ..._resolver.kubevirt.config.cluster import Cluster, KubeVirt
from ..._resolver.kubevirt.find.lookup import Lookup
from ..._resolver.kubevirt.vm.readiness import has_guest
from ..._resolver.refresh import drift
from ..._resolver.refresh.controller_revisions import RevisionIndex
from ..._resolver.refresh.drift import Drift
from ..client.errors import ApiError, ConnectionFailed
from ..client.session import Session
from .kubevirt import kubevirt
from .lookup import ClusterLookup

_VM = KINDS["VirtualMachine"]
_VMI = KINDS["VirtualMachineInstance"]


@dataclass(frozen=True)
class InspectedVM:
    """A VM and its drift.

    revisions: all ControllerRevisions of its namespace, shared by its VMs. kubevirt: the cluster's KubeVirt.
    objects: looks up instancetypes and preferences.
    """

    vm: Manifest
    drift: Drift
    revisions: RevisionIndex
    kubevirt: KubeVirt
    objects: Lookup

    @property
    def namespace(self) -> str:
        return str(self.vm["metadata"]["namespace"])

    @property
    def name(self) -> str:
        return str(self.vm["metadata"]["name"])

    @property
    def label(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def vmi(self) -> Manifest | None:
        """The VMI; None if there is none or the user may not read it."""
        return None if self.drift.vmi is ASSUMED else self.drift.vmi

    @property
    def pending(self) -> GuestEffect:
        """What the guest lacks of earlier changes, see `Drift`."""
        return self.drift.pending

    @property
    def restart_required(self) -> bool:
        """Whether the guest needs a restart to match the VM."""
        return self.pending.needs == RESTART

    @property
    def restart_reason(self) -> str:
        """Why the guest needs a restart, or why KubeVirt asks for one; "" for neither."""
        return self.pending.reason

    @property
    def guest_current(self) -> bool | None:
        """Whether the guest has everything that the VM declares; None without a guest, or if it is unknown."""
        known = self.vmi is not None and has_guest(self.vm)
        return self.pending.guest_current if known else None


def inspect(
    session: Session,
    namespace: str | None,
    names: list[str] | None = None,
    selector: str | None = None,
) -> list[InspectedVM]:
    """VMs with their drift, sorted by namespace and name.

    One LIST each of VMs, VMIs, revisions, every kind that the VMs refer to, and KubeVirt. If the user may not list
    VMIs, the guests count as started from the VMs as they are.

    namespace: None for all. names: None for all. selector: a label selector.
    Raises RequestFailed if VMs or revisions cannot be listed.
    """
    query = {"labelSelector": selector} if selector else {}
    vms = session.list(_VM, namespace, **query)
    if names is not None:
        requested = set(names)
        vms = [vm for vm in vms if vm["metadata"]["name"] in requested]
    vms.sort(key=namespaced_name)
    lookup = ClusterLookup(session, all_namespaces=namespace is None, strict=True)
    lookup.gather_lists(_referred(vms))
    places = sorted({vm["metadata"]["namespace"] for vm in vms})
    revisions = {place: RevisionIndex(lookup.list("ControllerRevision", place)) for place in places}
    problem = lookup.problems.get("ControllerRevision")
    if problem is not None:
        # Without revisions, every VM would seem to have lost its own.
        raise ConnectionFailed(problem.message)
    if not vms:
        return []
    kv = kubevirt(session)
    running = vmis(session, namespace, vms)
    return [inspected(vm, lookup, kv, running(vm), revisions[vm["metadata"]["namespace"]]) for vm in vms]


def inspected(
    vm: Manifest, lookup: ClusterLookup, kv: KubeVirt, vmi: Instance, revisions: RevisionIndex
) -> InspectedVM:
    """A VM with its drift. vmi: see `guest.effect`."""
    return InspectedVM(vm, drift.drift(vm, vmi, Cluster(lookup, kv)), revisions, kv, lookup)


def _referred(vms: list[Manifest]) -> Iterator[tuple[str, str]]:
    """The kinds to which VMs refer, with the VMs' namespaces."""
    for vm in vms:
        namespace = vm["metadata"]["namespace"]
        yield "ControllerRevision", namespace
        for matcher_field in MATCHER_FIELDS:
            matcher = matcher_field.matcher_of(vm)
            kind = matcher_field.kind_of(matcher) if matcher else None
            if kind is not None:
                yield kind, namespace


def vmis(session: Session, namespace: str | None, vms: Iterable[Manifest]) -> Callable[[Manifest], Instance]:
    """Looks up the VMIs of VMs that have a guest: one LIST. If the user may not list them, they are assumed.

    namespace: of the VMs, None for all.
    """
    if not any(has_guest(vm) for vm in vms):
        return lambda _vm: None
    try:
        items = {namespaced_name(item): item for item in session.list(_VMI, namespace)}
    except ApiError as error:
        if error.code != 403:
            raise
        return lambda vm: ASSUMED if has_guest(vm) else None
    return lambda vm: items.get(namespaced_name(vm))


def matcher_fields_of(option: str) -> tuple[MatcherField, ...]:
    """The matcher fields that an option names: both, instancetype or preference."""
    return tuple(matcher_field for matcher_field in MATCHER_FIELDS if option in ("both", matcher_field.matcher))
