"""Reads VMs with their ControllerRevisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, namespaced_name
from ..._resolver.api.matcher import MATCHER_FIELDS, MatcherField
from ..._resolver.change.controller_revisions import by_owner
from ..._resolver.change.drift import Drift, drift
from ..._resolver.guest.effect import UNREAD_VMI, MaybeVMI
from ..._resolver.kubevirt.vm.readiness import has_guest
from ..client.errors import ApiError, ConnectionFailed
from ..client.session import Session
from .lookup import ClusterLookup

_VM = KINDS["VirtualMachine"]
_VMI = KINDS["VirtualMachineInstance"]


def inspect(
    session: Session,
    namespace: str | None,
    names: list[str] | None = None,
    selector: str | None = None,
) -> list[Drift]:
    """VMs with their drift, sorted by namespace and name.

    One LIST each of VMs, VMIs, revisions, every kind that the VMs refer to, and KubeVirt. If the user may not list
    VMIs, the guests count as started from the VMs as they are.

    namespace: None for all. names: None for all. selector: a label selector.
    Raises RequestFailed if VMs or revisions cannot be listed.
    """
    return list(inspect_each(session, namespace, names, selector))


def inspect_each(
    session: Session,
    namespace: str | None,
    names: list[str] | None = None,
    selector: str | None = None,
) -> Iterator[Drift]:
    """The same one by one, so that memory holds one drift instead of thousands."""
    query = {"labelSelector": selector} if selector else {}
    vms = session.list(_VM, namespace, **query)
    if names is not None:
        requested = set(names)
        vms = [vm for vm in vms if vm["metadata"]["name"] in requested]
    vms.sort(key=namespaced_name)
    lookup = ClusterLookup(session, all_namespaces=namespace is None, strict=True)
    lookup.gather_lists(_referenced_kinds(vms))
    places = sorted({vm["metadata"]["namespace"] for vm in vms})
    revisions = {place: lookup.list("ControllerRevision", place) for place in places}
    owned = {place: by_owner(listed) for place, listed in revisions.items()}
    problem = lookup.problems.get("ControllerRevision")
    if problem is not None:
        # Without revisions, every VM would seem to have lost its own.
        failure = ConnectionFailed(problem.message)
        failure.code, failure.reason = problem.code, problem.reason
        raise failure
    if not vms:
        return
    cluster, running = lookup.cluster, vmis(session, namespace, vms)
    for vm in vms:
        place, uid = vm["metadata"]["namespace"], vm["metadata"].get("uid", "")
        vm_drift = drift(vm, running(vm), cluster)
        yield vm_drift._replace(own_revisions=owned[place].get(uid, ()), revisions=revisions[place])


def _referenced_kinds(vms: list[Manifest]) -> Iterator[tuple[str, str]]:
    """The kinds to which VMs refer, with the VMs' namespaces."""
    for vm in vms:
        namespace = vm["metadata"]["namespace"]
        yield "ControllerRevision", namespace
        for matcher_field in MATCHER_FIELDS:
            matcher = matcher_field.named_in(vm)
            kind = matcher_field.kind_of(matcher) if matcher else None
            if kind is not None:
                yield kind, namespace


def vmis(session: Session, namespace: str | None, vms: Iterable[Manifest]) -> Callable[[Manifest], MaybeVMI]:
    """Looks up the VMIs of VMs that have a guest: one LIST. If the user may not list them, they are assumed.

    namespace: the namespace of the VMs; None for all namespaces.
    """
    if not any(has_guest(vm) for vm in vms):
        return lambda _vm: None
    try:
        items = {namespaced_name(item): item for item in session.list(_VMI, namespace)}
    except ApiError as error:
        if error.code != 403:
            raise
        return lambda vm: UNREAD_VMI if has_guest(vm) else None
    return lambda vm: items.get(namespaced_name(vm))


def matcher_fields_of(option: str) -> tuple[MatcherField, ...]:
    """The matcher fields that an option names: both, instancetype or preference."""
    return tuple(matcher_field for matcher_field in MATCHER_FIELDS if option in ("both", matcher_field.name))
