"""Migrations, as source and target see them: nothing is copied, so the guest is on its target at once.

virt-controller makes the target's pod and hands the VMI over; each step here answers one of its phases.
"""

from __future__ import annotations

from typing import Any, Final

from node.api.clock import now
from node.handler import conditions
from node.kubelet.pod_status import HOST

Manifest = dict[str, Any]

_PORTS: Final = {"49152": 0, "49153": 49153}


def advance(vmi: Manifest, phase: str) -> None:
    """The next step of the VMI's migration, whose phase is given. Changes the VMI."""
    state = vmi["status"].get("migrationState")
    if not state or state.get("completed") or state.get("failed") or not state.get("targetNode"):
        return
    if state.get("abortRequested"):
        _abort(state)
    elif not state.get("targetNodeAddress"):
        state.update(targetNodeAddress=HOST, targetDirectMigrationNodePorts=dict(_PORTS))
    elif phase == "TargetReady" and not state.get("startTimestamp"):
        state.update(startTimestamp=now(), mode="PreCopy")
    elif phase == "Running":
        _arrive(vmi, state)


def _abort(state: Manifest) -> None:
    state.update(abortStatus="Succeeded", failureReason="Live migration aborted", endTimestamp=now())
    state.update(failed=True, completed=True)


def _arrive(vmi: Manifest, state: Manifest) -> None:
    status, labels = vmi["status"], vmi["metadata"].setdefault("labels", {})
    state.update(targetNodeDomainDetected=True, targetNodeDomainReadyTimestamp=now(), endTimestamp=now())
    state["completed"] = True
    labels["kubevirt.io/nodeName"] = status["nodeName"] = state["targetNode"]
    labels.pop("kubevirt.io/outdatedLauncherImage", None)
    status["migrationTransport"] = "Unix"
    for name in ("launcherContainerImageVersion", "evacuationNodeName"):
        status.pop(name, None)
    overhead = state.get("targetMemoryOverhead")
    if overhead:
        status.setdefault("memory", {})["memoryOverhead"] = overhead
    _replace_volumes(status)
    conditions.drop(status, "MigrationRequired")
    _plug_cpu(vmi)
    _plug_memory(vmi)


def _replace_volumes(status: Manifest) -> None:
    """Volumes that have migrated with the guest are those of the destination now."""
    moved = {
        entry["sourcePVCInfo"]["claimName"]: entry.get("destinationPVCInfo")
        for entry in status.pop("migratedVolumes", None) or []
        if entry.get("sourcePVCInfo")
    }
    for volume in status.get("volumeStatus") or []:
        claim = volume.get("persistentVolumeClaimInfo") or {}
        if moved.get(claim.get("claimName")):
            volume["persistentVolumeClaimInfo"] = moved[claim["claimName"]]
    conditions.drop(status, "VolumesChange")


def _plug_cpu(vmi: Manifest) -> None:
    """Gives the guest the CPUs that are asked for: like memory, they arrive on a migration's target."""
    vmi["metadata"].get("labels", {}).pop("kubevirt.io/vmi-pod-cpu-resource-limits", None)
    if conditions.drop(vmi["status"], "HotVCPUChange"):
        cpu = vmi["spec"]["domain"].get("cpu") or {}
        topology = {name: cpu[name] for name in ("cores", "sockets", "threads") if cpu.get(name)}
        vmi["status"]["currentCPUTopology"] = topology


def _plug_memory(vmi: Manifest) -> None:
    """Gives the guest the memory that is asked for."""
    labels = vmi["metadata"].get("labels", {})
    for name in ("kubevirt.io/vmi-pod-memory-resource-requests", "kubevirt.io/memory-hotplug-overhead-ratio"):
        labels.pop(name, None)
    if conditions.drop(vmi["status"], "HotMemoryChange"):
        guest = vmi["spec"]["domain"]["memory"]["guest"]
        vmi["status"].setdefault("memory", {}).update(guestCurrent=guest, guestRequested=guest)
