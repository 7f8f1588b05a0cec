"""Changes of a running VM: updates the VMI as far as possible, and asks for a restart for the rest.

`_resolver` decides what can change in a running guest; this module patches the VMI.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable

from _resolver.api import schema
from _resolver.instancetype.find.lookup import Problem
from _resolver.instancetype.vmi import hot_plug, volume_plug
from _resolver.instancetype.vmi.restart_required import applied
from kubevirt_emulation.clock import now
from kubevirt_emulation.controllers import restart_required, vmi_state
from kubevirt_emulation.controllers.context import Context, Failure, Work

Manifest = dict[str, Any]

_CPU_ERROR = "Error encountered while handling CPU change request: "
_MEMORY_ERROR = "error encountered while handling memory hotplug requests: "
_VOLUMES_ERROR = "error encountered while handling volumes update requests: "
# Field → the condition of a VMI during its hotplug. No node completes a hotplug here, so the condition stays.
_UNDER_WAY = {"/spec/domain/cpu/sockets": "HotVCPUChange", "/spec/domain/memory/guest": "HotMemoryChange"}


async def sync(context: Context, work: Work) -> None:
    """Patches the VMI, or asks for a restart. Raises Failure if the change has to wait."""
    vmi = work.vmi
    if vmi is None or vmi_state.is_being_deleted(vmi):
        return
    patch = _volumes(work.vm, vmi) if context.configuration.plugs_volumes else []
    before, failure = work.vm, None
    # While RestartRequired is set, the guest gets no updates.
    if context.configuration.live_updates and not restart_required.is_set(work):
        try:
            for step in await _steps(context, work, vmi):
                patch += step()
        except Failure as error:
            work.vm, failure = before, error
    if patch:
        work.vmi = await context.patch_vmi(vmi, [*patch, *_under_way(vmi, patch)])
    if failure is not None:
        raise failure


async def _steps(context: Context, work: Work, vmi: Manifest) -> Iterable[Callable[[], list[Manifest]]]:
    """The updates in KubeVirt's order. Each returns a JSON patch, asks for a restart or raises Failure."""
    vm = work.vm
    template = await context.objects.resolve(lambda lookup: applied(vm, lookup, context.configuration.release))
    if isinstance(template, Problem):
        raise Failure("HotPlugCPUError", _CPU_ERROR + template.message)
    wanted, ratio = template["spec"], context.configuration.cpu_allocation_ratio

    def take(update: hot_plug.Update, reason: str, prefix: str) -> list[Manifest]:
        if update.failure is not None:
            raise Failure(reason, prefix + update.failure)
        if update.restart_required is not None:
            restart_required.require(work, update.restart_required)
        return list(update.patch)

    return (
        lambda: take(hot_plug.sockets(wanted, vmi, ratio), "HotPlugCPUError", _CPU_ERROR),
        lambda: list(hot_plug.scheduling(wanted, vmi["spec"])),
        lambda: take(hot_plug.memory(wanted, vmi), "HotPlugMemoryError", _MEMORY_ERROR),
        lambda: take(volume_plug.migrated(*_canonical(vm, vmi)), "VolumesUpdateError", _VOLUMES_ERROR),
    )


def _volumes(vm: Manifest, vmi: Manifest) -> list[Manifest]:
    """The JSON patch that plugs and unplugs volumes; it does not wait for a restart."""
    return list(volume_plug.plugged(*_canonical(vm, vmi)))


def _canonical(vm: Manifest, vmi: Manifest) -> tuple[Manifest, Manifest]:
    """VM and VMI with canonical specs of the VMI."""
    template = schema.canonical("VirtualMachineInstanceTemplateSpec", vm["spec"]["template"])
    spec = schema.canonical("VirtualMachineInstanceSpec", vmi["spec"])
    return {"spec": {**vm["spec"], "template": template}}, {**vmi, "spec": spec}


def _under_way(vmi: Manifest, patch: list[Manifest]) -> list[Manifest]:
    names = (_UNDER_WAY.get(step["path"]) for step in patch)
    return [
        {
            "op": "add",
            "path": "/status/conditions/-",
            "value": {"type": name, "status": "True", "lastProbeTime": None, "lastTransitionTime": now()},
        }
        for name in names
        if name is not None and vmi_state.condition(vmi, name) is None
    ]
