"""Changes of a running VM: what can change in the guest is changed in the VMI, the rest asks for a restart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from _resolver.instancetype.vmi.live_update import compare
from kubevirt_emulation.clock import now
from kubevirt_emulation.controllers import vmi_state
from kubevirt_emulation.controllers.context import Context, Work
from kubevirt_emulation.controllers.start_revisions import StartRevisions
from kubevirt_emulation.controllers.vm_state import condition
from kubevirt_emulation.controllers.vmi_factory import GENERATION

Manifest = dict[str, Any]

_CPU_CHANGE = "HotVCPUChange"


async def observe_generation(context: Context, revisions: StartRevisions, work: Work) -> None:
    """Notes in the VMI that it is that of the VM's present generation, as far as the template goes."""
    instance = work.vmi
    started = revisions.spec(work.vm, instance) if instance is not None else None
    if instance is None or started is None or started["template"] != work.vm["spec"]["template"]:
        return
    generation = str(work.vm["metadata"]["generation"])
    if (instance["metadata"].get("annotations") or {}).get(GENERATION) != generation:
        work.vmi = await context.patch_vmi(instance, {"metadata": {"annotations": {GENERATION: generation}}})


async def sync(context: Context, revisions: StartRevisions, work: Work) -> None:
    """Changes the VMI, or notes in `work` that a restart is needed."""
    vm, instance = work.vm, work.vmi
    if instance is None or vmi_state.phase(instance) != "Running" or vmi_state.is_being_deleted(instance):
        return
    started = revisions.spec(vm, instance)
    if started is None:
        return
    configuration = context.configuration
    update = await context.objects.resolve(
        lambda lookup: compare(
            vm,
            started,
            instance,
            lookup,
            configuration.defaults,
            live=configuration.live_updates,
            release=configuration.release,
        )
    )
    work.restart_required = update.restart_required
    if update.restart_required is None and not configuration.behaviour.withdraws_restarts:
        work.restart_required = (condition(vm, "RestartRequired") or {}).get("message")
    # While a restart is asked for, nothing is changed live.
    waits = update.restart_required is not None and condition(vm, "RestartRequired") is not None
    if update.patch and not waits:
        work.vmi = await context.patch_vmi(instance, [*update.patch, *_plugging(instance, update.patch)])


def _plugging(instance: Manifest, patch: Sequence[Manifest]) -> list[Manifest]:
    """The condition that tells of sockets on their way into the guest: no node takes them up here, so that it stays."""
    has_it = vmi_state.condition(instance, _CPU_CHANGE) is not None
    if has_it or not any(step["path"] == "/spec/domain/cpu/sockets" for step in patch):
        return []
    condition = {"type": _CPU_CHANGE, "status": "True", "lastProbeTime": None, "lastTransitionTime": now()}
    return [{"op": "add", "path": "/status/conditions/-", "value": condition}]
