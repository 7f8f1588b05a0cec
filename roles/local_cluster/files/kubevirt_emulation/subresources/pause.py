"""pause and unpause of a VMI. The node is imitated: a condition is all there is to it."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.client import Client
from kubevirt_emulation.clock import now
from kubevirt_emulation.controllers import vmi_state
from kubevirt_emulation.resources import VMI
from kubevirt_emulation.subresources.answers import conflict, not_found
from kubevirt_emulation.subresources.body import is_dry_run
from kubevirt_emulation.subresources.objects import get

Manifest = dict[str, Any]


async def set_paused(client: Client, namespace: str, name: str, options: Manifest, paused: bool) -> None:
    """Pauses or resumes; raises Refused or ApiError."""
    vmi = await get(client, VMI, namespace, name)
    if vmi is None:
        raise not_found("virtualmachineinstance", name)
    if vmi_state.phase(vmi) != "Running":
        raise conflict("virtualmachineinstance", name, "VMI is not running")
    is_paused = vmi_state.condition(vmi, "Paused") is not None
    if is_paused is paused:
        raise conflict("virtualmachineinstance", name, "VMI is already paused" if paused else "VMI is not paused")
    if is_dry_run(options):
        return
    conditions = [entry for entry in vmi_state.conditions(vmi) if entry["type"] not in ("Ready", "Paused")]
    conditions += vmi_state.paused(now()) if paused else [vmi_state.ready(now())]
    patch = {
        "metadata": {"resourceVersion": vmi["metadata"]["resourceVersion"]},
        "status": {"conditions": conditions},
    }
    await client.patch(VMI, namespace, name, patch)
