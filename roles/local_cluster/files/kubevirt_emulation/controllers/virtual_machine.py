"""The VM controller: reconciles each VM step by step."""

from __future__ import annotations

import logging
from collections import defaultdict
from typing import Any

from kubevirt_emulation.client import ApiError
from kubevirt_emulation.controllers import (
    data_volumes,
    dynamic_metadata,
    generations,
    instancetype,
    interfaces,
    live_update,
    metadata,
    restart_required,
    run_strategy,
    status,
    vm_state,
    vmi_factory,
)
from kubevirt_emulation.controllers.context import Context, Failure, Work
from kubevirt_emulation.controllers.start_revisions import StartRevisions
from kubevirt_emulation.informer import Key
from kubevirt_emulation.workqueue import WorkQueue

log = logging.getLogger(__name__)

Manifest = dict[str, Any]

WORKERS = 24


class VirtualMachineController:
    """Reconciles VMs after a change of the VM, its VMI or its DataVolumes.

    Changes of instancetypes, preferences and the KubeVirt object do not queue VMs.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._vms = context.caches["VirtualMachine"]
        self._vmis = context.caches["VirtualMachineInstance"]
        self._revisions = StartRevisions(context)
        self._queue: WorkQueue[Key] = WorkQueue()
        # VMs by the DataVolumes that they name; one that no longer does is only looked at in vain.
        self._users: dict[Key, set[Key]] = defaultdict(set)
        self._vms.on_change(self._vm_changed)
        self._vmis.on_change(self._queue.add)  # a VMI has the name of its VM
        context.caches["DataVolume"].on_change(self._data_volume_changed)

    def _vm_changed(self, key: Key) -> None:
        for name in data_volumes.named_by(self._vms.get(key) or {}):
            self._users[key[0], name].add(key)
        self._queue.add(key)

    def _data_volume_changed(self, key: Key) -> None:
        for user in self._users.get(key, ()):
            self._queue.add(user)

    async def run(self) -> None:
        await self._queue.run(WORKERS, self._sync)

    async def _sync(self, key: Key) -> None:
        vm = self._vms.get(key)
        if vm is None:
            self._queue.forget(key)
            return
        stored = vm.get("status") or {}
        work = Work({**vm, "status": stored}, self._vmi_of(vm))
        try:
            try:
                await self._steps(work)
            except Failure as failure:
                work.failure = failure
            work.provisioning = data_volumes.are_filling(self._context, work.vm)
            if await status.write(self._context, work, stored):
                self._queue.add(key)
        except ApiError as error:
            if error.code == 404 and self._vms.get(key) is None:
                return  # deleted meanwhile
            # Conflicts, and namespaces that are terminating, are expected.
            expected = error.code in (404, 409) or "is being terminated" in str(error)
            log.log(logging.DEBUG if expected else logging.WARNING, "%s/%s: %s", *key, error)
            self._queue.retry(key)
            return
        if work.failure is not None:
            self._queue.retry(key)
        else:
            self._queue.forget(key)

    async def _steps(self, work: Work) -> None:
        if vm_state.is_being_deleted(work.vm):
            await self._end(work)
            return
        started = self._revisions.last_spec(work.vm) if work.vmi is not None else None
        await metadata.sync(self._context, work)
        await generations.sync(self._context, self._revisions, work)
        await instancetype.sync(self._context, work)
        await data_volumes.sync(self._context, work)
        if not data_volumes.are_ready(self._context, work.vm) and vm_state.run_strategy_of(work.vm) != "Halted":
            return
        moved = await run_strategy.sync(self._context, self._revisions, work)
        await restart_required.sync(self._context, work, started)
        if not moved:
            await interfaces.sync(self._context, work)
            await dynamic_metadata.sync(self._context, work)
            await live_update.sync(self._context, work)

    async def _end(self, work: Work) -> None:
        """Deletes the VMI of a deleted VM (unless it is to be orphaned), then removes the finalizer."""
        finalizers = work.vm["metadata"].get("finalizers") or []
        if work.vmi is not None and vm_state.ORPHAN not in finalizers:
            await vmi_factory.stop(self._context, self._revisions, work)
            return
        if vm_state.FINALIZER in finalizers:
            rest = [entry for entry in finalizers if entry != vm_state.FINALIZER]
            answer = await self._context.patch_vm(work.vm, {"metadata": {"finalizers": rest or None}})
            work.vm = {**answer, "status": work.vm["status"]}

    def _vmi_of(self, vm: Manifest) -> Manifest | None:
        """The VM's own VMI, not that of an earlier VM of the same name."""
        metadata_ = vm["metadata"]
        vmi = self._vmis.get((metadata_["namespace"], metadata_["name"]))
        owners = (vmi or {"metadata": {}})["metadata"].get("ownerReferences") or []
        return vmi if any(owner["uid"] == metadata_["uid"] for owner in owners) else None
