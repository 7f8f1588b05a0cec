"""VMs as modules return them, and as the inventory's variables: what they are, their revisions, their guests."""

from __future__ import annotations

from collections.abc import Callable

from ..._resolver.api.manifest import Manifest
from ..._resolver.kubevirt.vm.readiness import run_strategy
from ..._resolver.kubevirt.vmi import guest_devices
from ..._resolver.kubevirt.vmi.vmi import guest
from ..._resolver.refresh.controller_revisions import copies_without_revisions
from ..._resolver.refresh.drift import revision_spec
from ..reads.revisions import InspectedVM
from .outcome import Result

VMFacts = Callable[[InspectedVM], Result]
"""Facts about a VM that a capability adds to results. A module's own file names the function."""


def vm_result(vm: InspectedVM, facts: VMFacts | None = None) -> Result:
    """A VM. facts: adds what a capability knows of it."""
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
    if facts is not None:
        result.update(facts(vm))
    if vm.vmi is not None:
        result["instance"] = {
            **vmi_result(vm.vmi),
            "guest": guest(vm.vmi["spec"]),
            "guest_os": (vm.vmi.get("status") or {}).get("guestOSInfo") or {},
            "disks": guest_devices.disks(vm.vmi),
            "claims": guest_devices.claims(vm.vmi),
            "interfaces": guest_devices.interfaces(vm.vmi),
        }
    return result


def add_captured(vm: InspectedVM, result: Result) -> None:
    """Adds to the result of a VM what its revisions hold. One that cannot be read, or is gone, adds nothing."""
    for matcher_field, part in vm.drift.parts.items():
        revision = vm.revisions.by_name.get(part.revision)
        spec = None if revision is None else revision_spec(revision, matcher_field, vm.kubevirt.release).spec
        if revision is not None and spec is not None:
            # The first KubeVirt that captured any stored the spec alone.
            api_version = revision["data"].get("apiVersion") or ""
            result[matcher_field.matcher]["captured"] = {"api_version": api_version, "spec": spec}


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


def vmi_result(vmi: Manifest) -> Result:
    """The VMI of a VM."""
    status = vmi.get("status") or {}
    return {
        "uid": vmi["metadata"]["uid"],
        "phase": status.get("phase", ""),
        "node": status.get("nodeName", ""),
    }


def printable_status(vm: Manifest) -> str:
    return str((vm.get("status") or {}).get("printableStatus", ""))


def _revisions(vm: InspectedVM) -> Result:
    """The captured revisions, by the matcher that they are for."""
    return {
        matcher_field.matcher: {
            **part._asdict(),
            # Up to KubeVirt 1.4 a VM's revisionName refers to the captured revision and does not pin it.
            "pinned": part.pinned and bool(matcher_field.reference_of(vm.vm)),
            "changes": list(part.changes),
        }
        for matcher_field, part in vm.drift.parts.items()
    }
