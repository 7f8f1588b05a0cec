"""The VMI's annotation with the generation of its VM."""

from __future__ import annotations

from typing import Any

from _resolver.api import schema, semantic
from kubevirt_emulation.controllers.context import Context, Work
from kubevirt_emulation.controllers.start_revisions import StartRevisions

Manifest = dict[str, Any]

ANNOTATION = "kubevirt.io/vm-generation"

_TEMPLATE = "VirtualMachineInstanceTemplateSpec"


async def sync(context: Context, revisions: StartRevisions, work: Work) -> None:
    """Sets the annotation to the VM's current generation if the template is unchanged since the VMI's start."""
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
    """The generation in the VMI's annotation."""
    found: str | None = (vmi["metadata"].get("annotations") or {}).get(ANNOTATION)
    return found


def _template(spec: Manifest) -> Manifest:
    return schema.canonical(_TEMPLATE, spec.get("template"))
