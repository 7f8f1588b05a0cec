"""Which generation of its VM a VMI is of: an annotation of the VMI."""

from __future__ import annotations

from typing import Any

from _resolver.api import schema, semantic
from kubevirt_emulation.controllers.context import Context, Work
from kubevirt_emulation.controllers.start_revisions import StartRevisions

Manifest = dict[str, Any]

ANNOTATION = "kubevirt.io/vm-generation"

_TEMPLATE = "VirtualMachineInstanceTemplateSpec"


async def sync(context: Context, revisions: StartRevisions, work: Work) -> None:
    """Notes that the VMI is of the VM's present generation, if the template is still that of the VMI's start."""
    vm, vmi = work.vm, work.vmi
    if vmi is None or observed(vmi) == str(vm["metadata"]["generation"]):
        return
    started = revisions.spec_of(vmi)
    if started is None:
        return
    if semantic.equal(_TEMPLATE, *(_template(spec) for spec in (started, vm["spec"]))):
        generation = str(vm["metadata"]["generation"])
    elif observed(vmi) is None:
        generation = vmi["status"]["virtualMachineRevisionName"].rpartition("-")[2]
    else:
        return
    work.vmi = await context.patch_vmi(vmi, {"metadata": {"annotations": {ANNOTATION: generation}}})


def observed(vmi: Manifest) -> str | None:
    """The generation that the VMI says it is of."""
    found: str | None = (vmi["metadata"].get("annotations") or {}).get(ANNOTATION)
    return found


def _template(spec: Manifest) -> Manifest:
    return schema.canonical(_TEMPLATE, spec.get("template"))
