"""pause and unpause of a VMI, which only set conditions, because there is no guest."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.client import Client
from kubevirt_emulation.controllers import paused, vmi_state
from kubevirt_emulation.resources import VMI
from kubevirt_emulation.subresources.answers import conflict, not_found
from kubevirt_emulation.subresources.body import is_dry_run
from kubevirt_emulation.subresources.objects import get

Manifest = dict[str, Any]


async def set_paused(client: Client, namespace: str, name: str, options: Manifest, wanted: bool) -> None:
    """Pauses or resumes a VMI. Raises Refused or ApiError."""
    vmi = await get(client, VMI, namespace, name)
    if vmi is None:
        raise not_found("virtualmachineinstance", name)
    if vmi_state.phase(vmi) != "Running":
        raise conflict("virtualmachineinstance", name, "VMI is not running")
    is_paused = vmi_state.condition(vmi, "Paused") is not None
    if is_paused is wanted:
        raise conflict("virtualmachineinstance", name, "VMI is already paused" if wanted else "VMI is not paused")
    if is_dry_run(options):
        return
    patch = {
        "metadata": {"resourceVersion": vmi["metadata"]["resourceVersion"]},
        "status": {"conditions": paused.conditions(vmi_state.conditions(vmi), wanted)},
    }
    await client.patch(VMI, namespace, name, patch)
