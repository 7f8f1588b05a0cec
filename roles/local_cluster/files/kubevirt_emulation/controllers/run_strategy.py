"""Whether a VM is to run, from its run strategy and from virt-api's requests in its status."""

from __future__ import annotations

from kubevirt_emulation.controllers import data_volumes, vmi_factory, vmi_state
from kubevirt_emulation.controllers.context import Context, Work
from kubevirt_emulation.controllers.start_revisions import StartRevisions
from kubevirt_emulation.controllers.vm_state import is_stop_requested, run_strategy_of, start_request, status


async def sync(context: Context, revisions: StartRevisions, work: Work) -> bool:
    """Starts or stops the VM if needed. Returns whether it did. Raises Failure."""
    if work.vmi is not None:
        stopped = _is_to_stop(work) and await vmi_factory.stop(context, revisions, work)
        if stopped and run_strategy_of(work.vm) == "RerunOnFailure" and vmi_state.phase(work.vmi) == "Failed":
            pending = [*(status(work.vm).get("stateChangeRequests") or []), {"action": "Start"}]
            work.vm = {**work.vm, "status": {**status(work.vm), "stateChangeRequests": pending}}
        return stopped
    request = start_request(work.vm)
    strategy = run_strategy_of(work.vm)
    if strategy == "Halted" and request is not None:
        # A start that the run strategy alone does not express, such as a paused start.
        answer = await context.patch_vm(work.vm, {"spec": {"runStrategy": "Always"}})
        work.vm = {**answer, "status": work.vm["status"]}
        strategy = "Always"
    if not _is_to_start(work, strategy) or not data_volumes.are_ready(context, work.vm):
        return False
    paused = ((request or {}).get("data") or {}).get("paused") == "true"
    await vmi_factory.start(context, revisions, work, paused)
    return True


def _is_to_stop(work: Work) -> bool:
    assert work.vmi is not None
    strategy = run_strategy_of(work.vm)
    if strategy == "Halted" or is_stop_requested(work.vm, work.vmi):
        return True
    # The VMI of an ended guest is deleted before a new start. With Manual and Once it stays.
    return vmi_state.is_final(work.vmi) and strategy in ("Always", "RerunOnFailure")


def _is_to_start(work: Work, strategy: str) -> bool:
    recorded = status(work.vm).get("runStrategy")
    if strategy in ("Always", "Once"):
        return True
    if strategy == "Manual":
        return start_request(work.vm) is not None
    if strategy == "RerunOnFailure":
        # A stopped VM waits for a request; the recorded strategy shows that it has run.
        return start_request(work.vm) is not None or recorded != strategy
    return False
