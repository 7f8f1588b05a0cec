"""Starts a VM: builds its VMI with `_resolver` and creates it."""

from __future__ import annotations

from typing import Any

from _resolver.instancetype.vmi import vmi as vmi_builder
from kubevirt_emulation.client import ApiError
from kubevirt_emulation.controllers import generations, restart_required, vmi_state
from kubevirt_emulation.controllers.context import Context, Failure, Work
from kubevirt_emulation.controllers.metadata import OBSERVED
from kubevirt_emulation.controllers.start_revisions import StartRevisions
from kubevirt_emulation.resources import VMI

Manifest = dict[str, Any]

# Keeps the VMI until the emulated node has ended it.
FINALIZER = "foregroundDeleteVirtualMachine"

_FAILED = "Failure while starting VMI: "


async def start(context: Context, revisions: StartRevisions, work: Work, paused: bool) -> None:
    """Creates the VMI of work.vm. Raises Failure."""
    restart_required.settle(work)
    vm = work.vm
    configuration = context.configuration
    built = await context.objects.resolve(
        lambda lookup: vmi_builder.build(vm, lookup, configuration.defaults, configuration.release)
    )
    if built.error is not None:
        context.recorder.warning(vm, "FailedCreate", f"Error creating virtual machine instance: {built.error.message}")
        raise Failure("FailedCreate", _FAILED + built.error.message)
    assert built.metadata is not None and built.spec is not None
    name = await revisions.create(vm)
    if paused:
        built.spec["startStrategy"] = "Paused"
    generation = str(vm["metadata"]["generation"])
    annotations = {**(built.metadata.get("annotations") or {}), **OBSERVED, generations.ANNOTATION: generation}
    manifest = {
        "apiVersion": VMI.api_version,
        "kind": VMI.kind,
        "metadata": {**built.metadata, "annotations": annotations, "finalizers": [FINALIZER]},
        "spec": built.spec,
        "status": {"virtualMachineRevisionName": name},
    }
    try:
        work.vmi = await context.client.create(VMI, vm["metadata"]["namespace"], manifest)
    except ApiError as error:
        if error.reason == "AlreadyExists":
            raise  # the old one is still being deleted; retry
        context.recorder.warning(vm, "FailedCreate", f"Error creating virtual machine instance: {error}")
        raise Failure("FailedCreate", _FAILED + str(error)) from None
    context.caches["VirtualMachineInstance"].observe(work.vmi)
    context.recorder.normal(
        vm,
        "SuccessfulCreate",
        f"Started the virtual machine by creating the new virtual machine instance {vm['metadata']['name']}",
    )


async def stop(context: Context, revisions: StartRevisions, work: Work) -> bool:
    """Deletes the VMI, once. Returns whether it did. work.vmi stays until it is gone."""
    vmi = work.vmi
    if vmi is None or vmi_state.is_being_deleted(vmi):
        return False
    metadata = vmi["metadata"]
    try:
        work.vmi = await context.client.delete(
            VMI, metadata["namespace"], metadata["name"], {"preconditions": {"uid": metadata["uid"]}}
        )
    except ApiError as error:
        if error.code in (404, 409):
            return False
        raise
    context.caches["VirtualMachineInstance"].observe(work.vmi)
    restart_required.settle(work)
    if context.configuration.behaviour.removes_start_revisions:
        await revisions.remove(work.vm)
    context.recorder.normal(
        work.vm,
        "SuccessfulDelete",
        f"Stopped the virtual machine by deleting the virtual machine instance {metadata['uid']}",
    )
    return True
