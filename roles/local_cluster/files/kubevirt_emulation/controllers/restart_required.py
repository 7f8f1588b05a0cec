"""The condition RestartRequired of a VM. `_resolver` decides whether it differs too much from its guest's start."""

from __future__ import annotations

from typing import Any

from _resolver.api import schema
from _resolver.api.release import NEWEST, Release
from _resolver.instancetype.find.lookup import Lookup, Problem
from _resolver.instancetype.vmi.restart_required import OTHER_FIELD, applied, differs
from kubevirt_emulation.clock import now
from kubevirt_emulation.controllers import vm_state
from kubevirt_emulation.controllers.context import Context, Work

Manifest = dict[str, Any]

CONDITION = "RestartRequired"


async def sync(context: Context, work: Work, started: Manifest | None) -> None:
    """Sets or removes the condition.

    started: the VM's spec at the guest's start. Without it, or if a spec cannot be expanded, the condition stays as it
    is.
    """
    vm, vmi, configuration = work.vm, work.vmi, context.configuration
    if started is None or vmi is None:
        return
    found = await context.objects.resolve(
        lambda lookup: compare(vm, started, vmi, lookup, configuration.live_updates, configuration.release)
    )
    if found:
        require(work, OTHER_FIELD)
    elif found is False and configuration.behaviour.withdraws_restarts:
        settle(work)


def is_set(work: Work) -> bool:
    """Whether the VM has the condition, whatever its status."""
    return vm_state.condition(work.vm, CONDITION) is not None


def require(work: Work, message: str) -> None:
    """Sets the condition. An existing one keeps its message, because KubeVirt compares only status and reason."""
    condition = vm_state.condition(work.vm, CONDITION)
    if condition is not None and condition["status"] == "True" and not condition.get("reason"):
        return
    settle(work)
    new = {"type": CONDITION, "status": "True", "message": message, "lastProbeTime": None, "lastTransitionTime": now()}
    _replace(work, [*(vm_state.status(work.vm).get("conditions") or []), new])


def settle(work: Work) -> None:
    """Removes the condition."""
    conditions = vm_state.status(work.vm).get("conditions") or []
    _replace(work, [entry for entry in conditions if entry["type"] != CONDITION])


def _replace(work: Work, conditions: list[Manifest]) -> None:
    work.vm = {**work.vm, "status": {**vm_state.status(work.vm), "conditions": conditions}}


def compare(
    vm: Manifest, started: Manifest, vmi: Manifest, lookup: Lookup, live: bool, release: Release = NEWEST
) -> bool | None:
    """Pure: whether the VM differs from its start in fields that need a restart; None if it cannot be expanded.

    started: its spec at the start. live: the cluster changes running guests.
    """
    present = applied(vm, lookup, release)
    past = applied({**vm, "spec": started, "status": {}}, lookup, release)
    if isinstance(present, Problem) or isinstance(past, Problem):
        return None
    running = schema.canonical("VirtualMachineInstanceSpec", vmi["spec"])
    return differs(vm, past["spec"], present["spec"], running, live=live, release=release)
