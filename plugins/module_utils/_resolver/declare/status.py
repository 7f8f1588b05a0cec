"""What a VirtualMachine's status says of its guest."""

from __future__ import annotations

from typing import Any, Final

Manifest = dict[str, Any]

# The run strategy of a VM that does not run.
HALTED: Final = "Halted"

# printableStatus of a VM with a guest. A paused one was started, and paused on purpose.
RUNNING: Final = frozenset({"Running", "Paused", "Migrating"})

_STILL_ASKED: Final = (
    "KubeVirt asks for a restart ({reason}), but the running guest already matches the virtual machine, so the task"
    " does not restart the guest again. KubeVirt removes the condition RestartRequired at the next restart"
)


def run_strategy(vm: Manifest) -> str:
    """The run strategy, also where the deprecated `running` gives it."""
    spec = vm.get("spec") or {}
    if spec.get("runStrategy"):
        return str(spec["runStrategy"])
    return "Always" if spec.get("running") else HALTED


def has_guest(vm: Manifest) -> bool:
    """Whether a VM runs; a halted one that still has a guest is on its way down."""
    return bool((vm.get("status") or {}).get("created")) and run_strategy(vm) != HALTED


def is_up(vm: Manifest) -> bool:
    """Whether the guest is ready, as its readiness probe says if it has one, or is paused on purpose."""
    status = vm.get("status") or {}
    return bool(status.get("ready")) or status.get("printableStatus") == "Paused"


def same_status(one: Manifest, other: Manifest) -> bool:
    """Whether two states of a VM report the same: after a write, its controller has not seen the VM yet."""
    first, second = one.get("status") or {}, other.get("status") or {}
    return all(first.get(name) == second.get(name) for name in ("conditions", "printableStatus"))


def observed(vm: Manifest) -> bool:
    """Whether virt-controller has compared the current VM with its running guest; also without a guest."""
    status = vm.get("status") or {}
    desired = status.get("desiredGeneration")
    # Releases that do not say it are not waited for.
    return not status.get("created") or desired is None or desired >= vm["metadata"].get("generation", 0)


def restart_required(vm: Manifest) -> Manifest | None:
    """The condition by which KubeVirt says that the guest has to be restarted to get what the VM says, or None."""
    conditions = (vm.get("status") or {}).get("conditions") or []
    return next((one for one in conditions if one["type"] == "RestartRequired" and one["status"] == "True"), None)


def still_asked(vm: Manifest) -> str:
    """The warning about a VM whose guest has everything, and whose condition RestartRequired stands."""
    return _STILL_ASKED.format(reason=(restart_required(vm) or {}).get("message") or "no reason is given")
