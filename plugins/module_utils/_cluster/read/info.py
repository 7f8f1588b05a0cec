"""VMs for info modules: matchers, captured revisions, resources of the guests, and state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._resolver.api import schema
from ..._resolver.api.matcher import ROLE_OF_KIND, ROLES
from ..._resolver.kubevirt.find import lookup
from ..._resolver.kubevirt.pod.pod import Unrenderable
from ..._resolver.kubevirt.pod.resources import around, resources
from ..._resolver.kubevirt.vmi import expand
from ..._resolver.kubevirt.vmi.cluster import KubeVirt
from ..._resolver.kubevirt.vmi.guest import guest
from ..._resolver.kubevirt.vmi.readiness import run_strategy
from ..._resolver.refresh.controller_revisions import copies_without_revisions
from ..._resolver.refresh.drift import REVISION_LOST, UNKNOWN, RoleDrift
from .revisions import Inspected, tell_role

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Filter:
    """The VMs to return; None means any.

    instancetype, preference: the name in the matcher. drifted, restart_required: the state of the VM.
    """

    instancetype: str | None = None
    preference: str | None = None
    drifted: bool | None = None
    restart_required: bool | None = None

    def takes(self, seen: Inspected) -> bool:
        wanted = {"instancetype": self.instancetype, "preference": self.preference}
        for role in ROLES:
            name = wanted[role.matcher]
            if name is not None and (role.matcher_of(seen.vm) or {}).get("name") != name:
                return False
        if self.drifted is not None and seen.drift.drifted is not self.drifted:
            return False
        return self.restart_required is None or seen.restart_required is self.restart_required


def tell(seen: Inspected, resolved: bool = True) -> dict[str, Any]:
    """The module's result for a VM. resolved: also the resources at its next start."""
    instance = seen.instance
    metadata, status = seen.vm["metadata"], seen.vm.get("status") or {}
    told: dict[str, Any] = {
        "name": seen.name,
        "namespace": seen.namespace,
        "uid": metadata.get("uid", ""),
        "labels": metadata.get("labels") or {},
        "run_strategy": run_strategy(seen.vm),
        "status": status.get("printableStatus", ""),
        "ready": bool(status.get("ready")),
        "restart_required": seen.restart_required,
        **({"restart_reason": seen.restart_reason} if seen.restart_reason else {}),
        "drifted": seen.drift.drifted,
        "revisions_lost_by": copies_without_revisions(seen.vm, seen.kubevirt.release),
        "conditions": [
            {name: one.get(name, "") for name in ("type", "status", "reason", "message")}
            for one in status.get("conditions") or []
        ],
    }
    for role, part in zip(ROLES, (seen.drift.instancetype, seen.drift.preference)):
        if part is not None:
            told[role.matcher] = tell_role(part, role.reference_of(seen.vm))
    if resolved:
        told.update(_resolved(seen, seen.kubevirt))
    if instance is not None:
        state = instance.get("status") or {}
        told["instance"] = {
            "uid": instance["metadata"]["uid"],
            "phase": state.get("phase", ""),
            "node": state.get("nodeName", ""),
            "guest": guest(instance["spec"]),
        }
    return told


def _resolved(seen: Inspected, cluster: KubeVirt) -> dict[str, Any]:
    """{resources}: of guest and pod at the next start, with the captured revisions; or {problem}: why they
    are unknown.
    """
    for role, part, spec in zip(ROLES, (seen.drift.instancetype, seen.drift.preference), seen.drift.captured):
        lost = (
            part is not None and part.state in (REVISION_LOST, UNKNOWN) and part.revision not in seen.revisions.by_name
        )
        if part is not None and (spec is None or lost):
            return {"problem": _missing(role.matcher, part)}
    template = schema.canonical("VirtualMachineInstanceTemplateSpec", seen.vm["spec"].get("template"))
    problem = expand.fill_new(template, *seen.drift.captured, cluster.configuration, cluster.release)
    if problem is not None:
        return {"problem": problem.message}
    metadata = {**template["metadata"], "name": seen.name, "namespace": seen.namespace}
    try:
        return {"resources": resources(metadata, template["spec"], cluster, around(cluster))}
    except Unrenderable as error:
        return {"problem": f"KubeVirt cannot create a pod for the VM: {error}"}


def _missing(matcher: str, part: RoleDrift) -> str:
    if part.state == UNKNOWN:
        return f"{matcher}: cannot read the ControllerRevision {part.revision}: {part.problem}"
    if part.revision:
        return lookup.not_found("ControllerRevision", part.revision).message
    if part.kind in ROLE_OF_KIND:
        return lookup.not_found(part.kind, part.name).message
    return f"{matcher}.kind: KubeVirt has no kind {part.kind}"
