"""Plugs interfaces into a running VMI and removes detached ones (``pkg/network/controllers``).

The emulation has no pods that report interfaces, so none can be unplugged.
"""

from __future__ import annotations

from typing import Any

from _resolver.instancetype.vmi.interface_plug import plugged
from kubevirt_emulation.controllers import vmi_state
from kubevirt_emulation.controllers.context import Context, Work

Manifest = dict[str, Any]


async def sync(context: Context, work: Work) -> None:
    """Plugs interfaces into the VMI, and removes detached ones from the VM."""
    vmi = work.vmi
    if vmi is not None and vmi_state.is_being_deleted(vmi):
        return
    present = vmi["spec"] if vmi is not None else {"domain": {"devices": {}}}
    if vmi is not None:
        wanted = plugged(work.vm["spec"]["template"]["spec"], vmi, context.configuration.release)
        if wanted != present:
            work.vmi = await context.patch_vmi(vmi, {"spec": _fields(wanted)})
    left = without_detached(work.vm["spec"]["template"]["spec"], present)
    if left is not None:
        answer = await context.patch_vm(work.vm, {"spec": {"template": {"spec": _fields(left)}}})
        work.vm = {**answer, "status": work.vm["status"]}


def without_detached(wanted: Manifest, running: Manifest) -> Manifest | None:
    """Pure: the VM's interfaces and networks without detached ones that are to be absent; None for no change."""
    present = {entry["name"] for entry in _interfaces(running)}
    kept = [entry for entry in _interfaces(wanted) if entry.get("state") != "absent" or entry["name"] in present]
    if len(kept) == len(_interfaces(wanted)):
        return None
    names = {entry["name"] for entry in kept}
    networks = [entry for entry in wanted.get("networks") or [] if entry["name"] in names]
    return {"domain": {"devices": {"interfaces": kept}}, "networks": networks}


def _interfaces(spec: Manifest) -> list[Manifest]:
    found: list[Manifest] = spec["domain"].get("devices", {}).get("interfaces") or []
    return found


def _fields(spec: Manifest) -> Manifest:
    """The merge patch for interfaces and networks."""
    interfaces = _interfaces(spec) or None
    return {"domain": {"devices": {"interfaces": interfaces}}, "networks": spec.get("networks") or None}
