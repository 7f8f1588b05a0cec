"""Annotations that a running VMI takes from its VM."""

from __future__ import annotations

from typing import Any

from kubevirt_emulation.controllers import vmi_state
from kubevirt_emulation.controllers.context import Context, Work

Manifest = dict[str, Any]

_OF_THE_TEMPLATE = ("descheduler.alpha.kubernetes.io/evict", "descheduler.alpha.kubernetes.io/prefer-no-eviction")
_OF_THE_VM = ("kubevirt.io/skip-backup-hooks",)


async def sync(context: Context, work: Work) -> None:
    """Sets the VM's annotations in the VMI, and removes those that the VM lacks."""
    vmi = work.vmi
    if vmi is None or vmi_state.is_being_deleted(vmi):
        return
    changed = changes(work.vm, vmi)
    if changed:
        work.vmi = await context.patch_vmi(vmi, {"metadata": {"annotations": changed}})


def changes(vm: Manifest, vmi: Manifest) -> dict[str, str | None]:
    """Pure: the changed annotations of the VMI, None for a removed one."""
    sources = (_OF_THE_TEMPLATE, vm["spec"]["template"].get("metadata") or {}), (_OF_THE_VM, vm["metadata"])
    present = vmi["metadata"].get("annotations") or {}
    wanted = {key: (source.get("annotations") or {}).get(key) for keys, source in sources for key in keys}
    return {key: value for key, value in wanted.items() if value != present.get(key)}
