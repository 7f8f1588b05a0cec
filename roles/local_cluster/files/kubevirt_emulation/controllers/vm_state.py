"""Accessors for a VM's spec and status."""

from __future__ import annotations

from typing import Any

Manifest = dict[str, Any]

FINALIZER = "kubevirt.io/virtualMachineControllerFinalize"
# The finalizer of an object whose dependents are to be orphaned.
ORPHAN = "orphan"


def run_strategy_of(vm: Manifest) -> str:
    """The run strategy, also from the deprecated field `running`."""
    spec = vm["spec"]
    if spec.get("running") is not None:
        return "Always" if spec["running"] else "Halted"
    return spec.get("runStrategy") or "Halted"


def status(vm: Manifest) -> Manifest:
    return vm.get("status") or {}


def condition(vm: Manifest, name: str) -> Manifest | None:
    """The VM's condition of that type, whatever its status."""
    return next((entry for entry in status(vm).get("conditions") or [] if entry["type"] == name), None)


def requests(vm: Manifest) -> list[Manifest]:
    """The state change requests from virt-api."""
    return status(vm).get("stateChangeRequests") or []


def is_stop_requested(vm: Manifest, vmi: Manifest) -> bool:
    """Whether the next request is to stop this VMI."""
    pending = requests(vm)
    return bool(pending) and pending[0]["action"] == "Stop" and pending[0].get("uid") == vmi["metadata"]["uid"]


def start_request(vm: Manifest) -> Manifest | None:
    """The next request, if it is a start."""
    pending = requests(vm)
    return pending[0] if pending and pending[0]["action"] == "Start" else None


def is_being_deleted(vm: Manifest) -> bool:
    return "deletionTimestamp" in vm["metadata"]
