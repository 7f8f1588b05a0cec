"""VMs as modules return them, and as the inventory's variables: what they are, their revisions, their guests."""

from __future__ import annotations

from collections.abc import Callable

from ..._resolver.api.errors import value_or_none
from ..._resolver.change.controller_revisions import copies_without_revisions
from ..._resolver.change.drift import Drift, revision_spec
from ..._resolver.kubevirt.vm.readiness import run_strategy
from ..._resolver.kubevirt.vm.vmi import guest_figures
from .module import Result
from .results import printable_status, vmi_result

VMFacts = Callable[[Drift], Result]
"""Facts about a VM that a capability adds to results. A module's own file names the function."""


def vm_result(vm: Drift, facts: VMFacts | None = None) -> Result:
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
        "drifted": vm.drifted,
        "revisions_lost_by": copies_without_revisions(vm.vm, vm.cluster.release),
        "conditions": [
            {name: condition.get(name, "") for name in ("type", "status", "reason", "message")}
            for condition in status.get("conditions") or []
        ],
        **_revisions(vm),
    }
    if facts is not None:
        result.update(facts(vm))
    if vm.known_vmi is not None:
        from ..._resolver.guest import guest_devices
        from ..._resolver.guest.local_guest import local_guest

        result["vmi"] = {
            **vmi_result(vm.known_vmi),
            "guest": guest_figures(vm.known_vmi["spec"]),
            "guest_os": (vm.known_vmi.get("status") or {}).get("guestOSInfo") or {},
            "disks": guest_devices.disks(vm.known_vmi),
            "claims": guest_devices.claims(vm.known_vmi),
            "interfaces": guest_devices.interfaces(vm.known_vmi),
            **local_guest(vm.known_vmi),
        }
    return result


def add_captured(vm: Drift, result: Result) -> None:
    """Adds to the result of a VM what its revisions hold. One that cannot be read, or is gone, adds nothing."""
    for matcher_field, part in vm.parts.items():
        revision = vm.revision(part.revision)
        spec = value_or_none(revision_spec, revision, matcher_field, vm.cluster.release) if revision else None
        if revision is not None and spec is not None:
            # The first KubeVirt that captured any stored the spec alone.
            api_version = revision["data"].get("apiVersion") or ""
            result[matcher_field.name]["captured"] = {"api_version": api_version, "spec": spec}


def refresh_result(vm: Drift) -> Result:
    """A VM, and what a refresh of its revisions would change."""
    effect = vm.effect
    result: Result = {
        "name": vm.name,
        "namespace": vm.namespace,
        "uid": vm.vm["metadata"].get("uid", ""),
        "drifted": vm.drifted,
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


def _revisions(vm: Drift) -> Result:
    """The captured revisions, by the matcher that they are for."""
    return {
        matcher_field.name: {
            **part.facts,
            # Up to KubeVirt 1.4 a VM's revisionName refers to the captured revision and does not pin it.
            "pinned": part.pinned and bool(matcher_field.reference_of(vm.vm)),
        }
        for matcher_field, part in vm.parts.items()
    }
