"""Reads VMs with their revisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import ROLES, Role
from ..._resolver.declare.readiness import restart_required
from ..._resolver.refresh import drift
from ..._resolver.refresh.drift import Drift
from ..client.errors import ConnectionFailed
from ..client.session import Session
from .lookup import WideLookup

__all__ = ["Inspected", "inspect", "roles_of", "unknown_names"]

Manifest = dict[str, Any]

_VM = BY_NAME["VirtualMachine"]


@dataclass(frozen=True)
class Inspected:
    """A VM and its drift. revisions: all ControllerRevisions of its namespace."""

    vm: Manifest
    drift: Drift
    revisions: list[Manifest]

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
    def restart_required(self) -> bool:
        return restart_required(self.vm) is not None


def inspect(
    session: Session, namespace: str | None, names: list[str] | None = None, selector: str | None = None
) -> list[Inspected]:
    """VMs with their drift, in order of namespace and name: one LIST of VMs, revisions, and each kind they refer to.

    namespace: None for all. names: None for all. selector: a label selector. Raises ApiError or ConnectionFailed where
    VMs or revisions cannot be listed.
    """
    query = {"labelSelector": selector} if selector else {}
    vms, _version = session.list(_VM, namespace, **query)
    if names is not None:
        vms = [vm for vm in vms if vm["metadata"]["name"] in names]
    vms.sort(key=lambda vm: (vm["metadata"]["namespace"], vm["metadata"]["name"]))
    lookup = WideLookup(session, everywhere=namespace is None)
    places = sorted({vm["metadata"]["namespace"] for vm in vms})
    kept = {place: lookup.list("ControllerRevision", place) for place in places}
    problem = lookup.problems.get("ControllerRevision")
    if problem is not None:
        # Without them every VM would seem to have lost its revisions.
        raise ConnectionFailed(problem.message)
    return [Inspected(vm, drift.drift(vm, lookup), kept[vm["metadata"]["namespace"]]) for vm in vms]


def unknown_names(seen: list[Inspected], names: list[str]) -> list[str]:
    """The names that no inspected VM has."""
    found = {one.name for one in seen}
    return [name for name in names if name not in found]


def roles_of(option: str) -> tuple[Role, ...]:
    """The roles that an option means: both, instancetype or preference."""
    return tuple(role for role in ROLES if option in ("both", role.matcher))
