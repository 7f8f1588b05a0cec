"""Reads VMs with their ControllerRevisions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.manifest import namespaced_name
from ..._resolver.api.matcher import ROLES, Role
from ..._resolver.declare.impact import impact
from ..._resolver.kubevirt.find.lookup import Lookup
from ..._resolver.kubevirt.vmi.cluster import Cluster, KubeVirt
from ..._resolver.kubevirt.vmi.outstanding import Outstanding, outstanding
from ..._resolver.kubevirt.vmi.readiness import has_guest, restart_required
from ..._resolver.kubevirt.webhooks.mutate import AdmissionResult
from ..._resolver.refresh import drift
from ..._resolver.refresh.controller_revisions import RevisionIndex
from ..._resolver.refresh.drift import Drift
from ..client.errors import ApiError, ConnectionFailed
from ..client.session import Session
from .kubevirt import kubevirt
from .lookup import ClusterLookup

Manifest = dict[str, Any]

_VM = BY_NAME["VirtualMachine"]
_VMI = BY_NAME["VirtualMachineInstance"]
# KubeVirt does not ask for a restart because of a disk or an interface that the VM itself does not list.
_OLDER_REVISIONS = "the guest was started with other revisions of its instancetype or preference"


@dataclass(frozen=True)
class InspectedVM:
    """A VM and its drift.

    revisions: all ControllerRevisions of its namespace, shared by its VMs. kubevirt: the cluster's KubeVirt.
    objects: looks up instancetypes and preferences.
    instance: its VMI; None if there is none or it was not read.
    outstanding: what the running guest lacks; None without a guest, or if the VMI was not read.
    unrequested_restart: why the guest needs a restart for which KubeVirt does not ask; "" if it needs none.
    """

    vm: Manifest
    drift: Drift
    revisions: RevisionIndex
    kubevirt: KubeVirt
    objects: Lookup
    instance: Manifest | None = None
    outstanding: Outstanding | None = None
    unrequested_restart: str = ""

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
    def has_restart_condition(self) -> bool:
        """Whether KubeVirt asks for a restart, needed or not."""
        return restart_required(self.vm) is not None

    @property
    def restart_required(self) -> bool:
        """Whether the guest needs a restart to match the VM.

        KubeVirt asks for a restart that, as far as known, would change something; or it does not ask, although the
        guest gets something only by a restart; or the VM got other revisions and was not restarted since.
        """
        lacks = self.outstanding
        interrupted = lacks is not None and lacks.revised and bool(lacks.fixed)
        return (self.has_restart_condition and not self.guest_current) or bool(self.unrequested_restart) or interrupted

    @property
    def restart_reason(self) -> str:
        """The message of the condition RestartRequired, or this collection's own; "" if no restart is needed."""
        condition = restart_required(self.vm)
        if condition is not None:
            return str(condition.get("message") or "no reason is given")
        return self.unrequested_restart or (_OLDER_REVISIONS if self.restart_required else "")

    @property
    def guest_current(self) -> bool | None:
        """Whether the guest has everything that the VM declares, so that a restart changes nothing; None if unknown."""
        return None if self.outstanding is None else self.outstanding.guest_current


def inspect(
    session: Session,
    namespace: str | None,
    names: list[str] | None = None,
    selector: str | None = None,
) -> list[InspectedVM]:
    """VMs with their drift, sorted by namespace and name.

    One LIST each of VMs, VMIs, revisions, every kind that the VMs refer to, and KubeVirt. What the guests lack is
    unknown if the user may not list VMIs.

    namespace: None for all. names: None for all. selector: a label selector.
    Raises RequestFailed if VMs or revisions cannot be listed.
    """
    query = {"labelSelector": selector} if selector else {}
    vms = session.list(_VM, namespace, **query)
    if names is not None:
        requested = set(names)
        vms = [vm for vm in vms if vm["metadata"]["name"] in requested]
    vms.sort(key=namespaced_name)
    lookup = ClusterLookup(session, everywhere=namespace is None, strict=True)
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
    running = instances(session, namespace) if any(has_guest(vm) for vm in vms) else {}
    return [
        inspected(vm, lookup, kv, running.get(namespaced_name(vm)), revisions[vm["metadata"]["namespace"]])
        for vm in vms
    ]


def inspected(
    vm: Manifest, lookup: ClusterLookup, kv: KubeVirt, instance: Manifest | None, revisions: RevisionIndex
) -> InspectedVM:
    """A VM with its drift and what its guest lacks. instance: its VMI; None if there is none or it is unknown."""
    vm_drift = drift.drift(vm, lookup, kv)
    lacks, unrequested_restart = None, ""
    if instance is not None and has_guest(vm):
        lacks = outstanding(vm, instance, Cluster(lookup, kv))
        if lacks.fields:
            unchanged = impact(vm, AdmissionResult(vm, vm), instance, Cluster(lookup, kv))
            unrequested_restart = str(unchanged.reason) if unchanged.without_condition else ""
    return InspectedVM(vm, vm_drift, revisions, kv, lookup, instance, lacks, unrequested_restart)


def _referred(vms: list[Manifest]) -> Iterator[tuple[str, str]]:
    """The kinds to which VMs refer, with the VMs' namespaces."""
    for vm in vms:
        namespace = vm["metadata"]["namespace"]
        yield "ControllerRevision", namespace
        for role in ROLES:
            matcher = role.matcher_of(vm)
            kind = role.kind_of(matcher) if matcher else None
            if kind is not None:
                yield kind, namespace


def instances(session: Session, namespace: str | None) -> dict[tuple[str, str], Manifest]:
    """All VMIs by namespace and name; empty if the user may not list them."""
    try:
        items = session.list(_VMI, namespace)
    except ApiError as error:
        if error.code != 403:
            raise
        return {}
    return {namespaced_name(item): item for item in items}


def roles_of(option: str) -> tuple[Role, ...]:
    """The roles that an option names: both, instancetype or preference."""
    return tuple(role for role in ROLES if option in ("both", role.matcher))
