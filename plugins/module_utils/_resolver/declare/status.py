"""What the status of a VM says about its guest."""

from __future__ import annotations

from typing import Any, Final

Manifest = dict[str, Any]

# The run strategy of a VM that does not run.
HALTED: Final = "Halted"

# printableStatus values of a VM with a started guest; a paused guest was paused on purpose.
RUNNING: Final = frozenset({"Running", "Paused", "Migrating"})

_STILL_ASKED: Final = (
    "KubeVirt asks for a restart ({reason}), but the running guest already matches the virtual machine, so the task"
    " does not restart the guest again. KubeVirt removes the condition RestartRequired at the next restart"
)


def run_strategy(vm: Manifest) -> str:
    """The run strategy, also from the deprecated field `running`."""
    spec = vm.get("spec") or {}
    if spec.get("runStrategy"):
        return str(spec["runStrategy"])
    return "Always" if spec.get("running") else HALTED


def has_guest(vm: Manifest) -> bool:
    """Whether a VM has a guest that is to go on running; a halted VM's guest is stopping."""
    return bool((vm.get("status") or {}).get("created")) and run_strategy(vm) != HALTED


def is_up(vm: Manifest) -> bool:
    """Whether the guest is ready (by its readiness probe, if any), or is paused on purpose."""
    status = vm.get("status") or {}
    return bool(status.get("ready")) or status.get("printableStatus") == "Paused"


def same_status(one: Manifest, other: Manifest) -> bool:
    """Whether two states of a VM report the same. If so after a write, the controller has not observed the write."""
    first, second = one.get("status") or {}, other.get("status") or {}
    return all(first.get(name) == second.get(name) for name in ("conditions", "printableStatus"))


def observed(vm: Manifest) -> bool:
    """Whether virt-controller has compared the current VM with its guest; true without a guest."""
    status = vm.get("status") or {}
    desired = status.get("desiredGeneration")
    # Older releases do not report it, so do not wait for it.
    return not status.get("created") or desired is None or desired >= vm["metadata"].get("generation", 0)


def restart_required(vm: Manifest) -> Manifest | None:
    """The condition RestartRequired, by which KubeVirt asks for a restart of the guest, or None."""
    conditions = (vm.get("status") or {}).get("conditions") or []
    return next((one for one in conditions if one["type"] == "RestartRequired" and one["status"] == "True"), None)


def still_asked(vm: Manifest) -> str:
    """The warning for a VM with a complete guest and a remaining condition RestartRequired."""
    return _STILL_ASKED.format(reason=(restart_required(vm) or {}).get("message") or "no reason is given")
