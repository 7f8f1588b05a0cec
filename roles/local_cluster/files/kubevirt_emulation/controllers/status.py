"""A VM's status, computed from the VM, its VMI and the outcome of its synchronization."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.controllers import generations, prerequisites, vm_state, vmi_state
from kubevirt_emulation.controllers.context import Context, Work
from kubevirt_emulation.controllers.vmi_state import stated

Manifest = dict[str, Any]

_STARTING_PHASES = ("", "Pending", "Scheduling", "Scheduled")
# A VM has all conditions of its VMI except these, which are its own.
_OF_THE_VM = ("Ready", "Failure", "RestartRequired")


async def write(context: Context, work: Work, stored: Manifest) -> bool:
    """Writes the status if it differs from the stored one. Returns whether it contains requests to process."""
    status = compute(work)
    if status == stored:
        return False
    await context.patch_vm(work.vm, [{"op": "add", "path": "/status", "value": status}], "status")
    return "stateChangeRequests" in status


def compute(work: Work) -> Manifest:
    """The new status; the references in work.vm's status are kept."""
    vm, vmi = work.vm, work.vmi
    status = dict(vm_state.status(vm))
    _set(status, "created", vmi is not None)
    _set(status, "ready", vmi is not None and vmi_state.condition(vmi, "Ready") is not None)
    if vmi is not None or status.get("runStrategy"):
        # The recorded strategy shows that the VM was started before.
        status["runStrategy"] = vm_state.run_strategy_of(vm)
    if vmi is not None:
        status["desiredGeneration"] = vm["metadata"]["generation"]
        observed = generations.observed(vmi)
        if observed:
            status["observedGeneration"] = int(observed)
    _set(status, "stateChangeRequests", _pending(vm, vmi))
    _set(status, "volumeSnapshotStatuses", _snapshots(vm))
    status["conditions"] = _conditions(work)
    status["printableStatus"] = _printable(work)
    return status


def _set(status: Manifest, name: str, value: Any) -> None:
    """Sets a field; Go omits empty fields."""
    if value:
        status[name] = value
    else:
        status.pop(name, None)


def _pending(vm: Manifest, vmi: Manifest | None) -> list[Manifest]:
    """The requests that are not processed yet."""
    pending = vm_state.requests(vm)
    if pending and pending[0]["action"] == "Stop":
        if vmi is None or pending[0].get("uid") != vmi["metadata"]["uid"]:
            return pending[1:]
    elif pending and vmi is not None and not vmi_state.is_being_deleted(vmi) and not vmi_state.is_final(vmi):
        return pending[1:]
    return pending


def _snapshots(vm: Manifest) -> list[Manifest]:
    result = []
    for volume in vm["spec"]["template"]["spec"].get("volumes") or []:
        name = volume["name"]
        if "persistentVolumeClaim" in volume or "dataVolume" in volume:
            reason = f"No VolumeSnapshotClass: Volume snapshots are not configured for this StorageClass [] [{name}]"
        else:
            reason = f"Snapshot is not supported for this volumeSource type [{name}]"
        result.append({"name": name, "enabled": False, "reason": reason})
    return result


def _conditions(work: Work) -> list[Manifest]:
    """The VM's own conditions and those of its VMI, which remain after the VMI is gone."""
    vmi = work.vmi
    found = {entry["type"]: entry for entry in vm_state.status(work.vm).get("conditions") or []}
    if work.failure is None:
        found.pop("Failure", None)
    wanted = [_ready(vmi)]
    if work.failure is not None:
        wanted.append(stated("Failure", "True", reason=work.failure.reason, message=str(work.failure)))
    if vmi is not None:
        wanted += (entry for entry in vmi_state.conditions(vmi) if entry["type"] not in _OF_THE_VM)
        kept = {*_OF_THE_VM, *(entry["type"] for entry in wanted)}
        found = {name: entry for name, entry in found.items() if name in kept}
    for entry in wanted:
        current = found.get(entry["type"])
        if current is None or _said(current) != _said(entry):
            found[entry["type"]] = entry
    return list(found.values())


def _ready(vmi: Manifest | None) -> Manifest:
    if vmi is None:
        return stated("Ready", "False", reason="VMINotExists", message="VMI does not exist")
    found = next((entry for entry in vmi_state.conditions(vmi) if entry["type"] == "Ready"), None)
    return found or stated("Ready", "False", reason="VMIConditionMissing", message="VMI is missing the Ready condition")


def _said(condition: Manifest) -> tuple[str, str]:
    """The part of a condition that counts for a change; a new message alone is neither a change nor copied."""
    return condition["status"], condition.get("reason") or ""


def _printable(work: Work) -> str:
    vmi = work.vmi
    running = vmi is not None and vmi_state.phase(vmi) == "Running"
    if vm_state.is_being_deleted(work.vm):
        return "Terminating"
    if vmi is not None and vmi_state.is_being_deleted(vmi) and not vmi_state.is_final(vmi):
        return "Stopping"
    if running and vmi is not None and vmi_state.condition(vmi, "Paused") is not None:
        return "Paused"
    if running:
        return "Running"
    if vmi is not None and prerequisites.lacks_claim(vmi):
        return "ErrorPvcNotFound"
    if work.provisioning:
        return "Provisioning"
    return "Starting" if vmi is not None and vmi_state.phase(vmi) in _STARTING_PHASES else "Stopped"
