"""VMs as modules return them, and as the inventory's variables: what they are, their revisions, their guests."""

from __future__ import annotations

from typing import Any

from ..._capacity.pod.environment import Environment
from ..._capacity.pod.pod import Unrenderable
from ..._capacity.pod.resources import resources
from ..._resolver.api import schema
from ..._resolver.api.matcher import INSTANCETYPE, PREFERENCE, ROLE_OF_KIND
from ..._resolver.kubevirt.config.cluster import KubeVirt
from ..._resolver.kubevirt.find import lookup
from ..._resolver.kubevirt.vm.readiness import run_strategy
from ..._resolver.kubevirt.vmi import expand
from ..._resolver.kubevirt.vmi.vmi import guest
from ..._resolver.refresh.controller_revisions import copies_without_revisions
from ..._resolver.refresh.drift import REVISION_LOST, UNKNOWN, RoleDrift
from ..reads.revisions import InspectedVM

Manifest = dict[str, Any]
Result = dict[str, Any]


def vm_result(vm: InspectedVM, with_resources: bool = True) -> Result:
    """A VM. with_resources: also the resources at its next start."""
    metadata, status = vm.vm["metadata"], vm.vm.get("status") or {}
    result: Result = {
        "name": vm.name,
        "namespace": vm.namespace,
        "uid": metadata.get("uid", ""),
        "labels": metadata.get("labels") or {},
        "run_strategy": run_strategy(vm.vm),
        "status": printable_status(vm.vm),
        "ready": bool(status.get("ready")),
        "restart_required": vm.restart_required,
        **({"restart_reason": vm.restart_reason} if vm.restart_reason else {}),
        "drifted": vm.drift.drifted,
        "revisions_lost_by": copies_without_revisions(vm.vm, vm.kubevirt.release),
        "conditions": [
            {name: condition.get(name, "") for name in ("type", "status", "reason", "message")}
            for condition in status.get("conditions") or []
        ],
        **_revisions(vm),
    }
    if with_resources:
        result.update(_resources(vm, vm.kubevirt))
    if vm.instance is not None:
        result["instance"] = {**instance_result(vm.instance), "guest": guest(vm.instance["spec"])}
    return result


def refresh_result(vm: InspectedVM) -> Result:
    """A VM, and what a refresh of its revisions would change."""
    effect = vm.drift.effect
    result: Result = {
        "name": vm.name,
        "namespace": vm.namespace,
        "drifted": vm.drift.drifted,
        "guest_before": effect.guest_before,
        "guest_after": effect.guest_after,
        "changes": list(effect.changes),
        "needs": effect.needs,
        "restart_required": vm.restart_required,
        "status": printable_status(vm.vm),
    }
    if vm.restart_reason:
        result["restart_reason"] = vm.restart_reason
    if vm.guest_current is not None:
        result["guest_current"] = vm.guest_current
        result["outstanding"] = list(vm.pending.outstanding)
    if effect.refusal:
        result["refusal"] = effect.refusal
    return {**result, **_revisions(vm)}


def instance_result(instance: Manifest) -> Result:
    """The VMI of a VM."""
    status = instance.get("status") or {}
    return {
        "uid": instance["metadata"]["uid"],
        "phase": status.get("phase", ""),
        "node": status.get("nodeName", ""),
    }


def printable_status(vm: Manifest) -> str:
    return str((vm.get("status") or {}).get("printableStatus", ""))


def _revisions(vm: InspectedVM) -> Result:
    """The captured revisions, by the matcher that they are for."""
    return {
        role.matcher: {
            **part._asdict(),
            # Up to KubeVirt 1.4 a VM's revisionName refers to the captured revision and does not pin it.
            "pinned": part.pinned and bool(role.reference_of(vm.vm)),
            "changes": list(part.changes),
        }
        for role, part in vm.drift.parts.items()
    }


def _resources(vm: InspectedVM, cluster: KubeVirt) -> Result:
    """{resources}: of guest and pod at the next start, with the captured revisions; or {problem}: why unknown."""
    captured = vm.drift.captured
    for role, part in vm.drift.parts.items():
        lost = part.state in (REVISION_LOST, UNKNOWN) and part.revision not in vm.revisions.by_name
        if captured[role] is None or lost:
            return {"problem": _missing(role.matcher, part)}
    template = schema.canonical("VirtualMachineInstanceTemplateSpec", vm.vm["spec"].get("template"))
    specs = captured.get(INSTANCETYPE), captured.get(PREFERENCE)
    problem = expand.fill_new(template, *specs, cluster)
    if problem is not None:
        return {"problem": problem.message}
    metadata = {**template["metadata"], "name": vm.name, "namespace": vm.namespace}
    try:
        return {"resources": resources(metadata, template["spec"], Environment(cluster))}
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
