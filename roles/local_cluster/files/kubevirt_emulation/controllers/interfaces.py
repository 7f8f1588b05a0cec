"""Plugs interfaces into a running VMI and removes detached ones (``pkg/network/controllers``).

The emulation has no pods that report interfaces. KubeVirt then assumes the old naming scheme, in which interfaces
cannot be unplugged.
"""

from __future__ import annotations

from typing import Any

from _resolver.api.tree import copy
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
        wanted = plugged(work.vm["spec"]["template"]["spec"], present)
        if wanted != present:
            work.vmi = await context.patch_vmi(vmi, {"spec": _fields(wanted)})
    left = without_detached(work.vm["spec"]["template"]["spec"], present)
    if left is not None:
        answer = await context.patch_vm(work.vm, {"spec": {"template": {"spec": _fields(left)}}})
        work.vm = {**answer, "status": work.vm["status"]}


def plugged(wanted: Manifest, running: Manifest) -> Manifest:
    """Pure: the VMI's spec with the VM's interfaces and states, if a running guest can have them."""
    result = copy(running)
    devices = result["domain"].setdefault("devices", {})
    present = {entry["name"]: entry for entry in devices.get("interfaces") or []}
    networks = {entry["name"]: entry for entry in wanted.get("networks") or []}
    secondary = any("multus" in entry for entry in running.get("networks") or [])
    for interface in _interfaces(wanted):
        current, state = present.get(interface["name"]), interface.get("state")
        pluggable = interface.get("bridge") is not None or interface.get("sriov") is not None
        if current is None and state != "absent" and pluggable:
            devices["interfaces"] = [*(devices.get("interfaces") or []), interface]
            result["networks"] = [*(result.get("networks") or []), networks[interface["name"]]]
        elif current is not None and state != current.get("state") and not (secondary and state == "absent"):
            current.pop("state", None)
            current.update({} if state is None else {"state": state})
    for network in result.get("networks") or []:
        of_vm = networks.get(network["name"]) or {}
        if "multus" in of_vm and "multus" in network:
            network["multus"]["networkName"] = of_vm["multus"]["networkName"]
    return result


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
