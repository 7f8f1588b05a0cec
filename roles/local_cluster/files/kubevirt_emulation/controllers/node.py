"""Emulates the node: a VMI runs once it is created, and ends when it is deleted. There is no guest."""

from __future__ import annotations

import logging
from typing import Any

from kubevirt_emulation.client import ApiError, Client
from kubevirt_emulation.clock import now
from kubevirt_emulation.controllers import paused, persistent_state, vmi_state
from kubevirt_emulation.controllers.vmi_factory import FINALIZER
from kubevirt_emulation.informer import Informer, Key, key_of
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.resources import VMI
from kubevirt_emulation.workqueue import WorkQueue

log = logging.getLogger(__name__)

Manifest = dict[str, Any]

NODE = "node01"
WORKERS = 8


class Node:
    """Emulates virt-handler for all VMIs."""

    def __init__(
        self, client: Client, vmis: Informer, storage_classes: Informer, configuration: KubeVirtConfiguration
    ) -> None:
        self._client = client
        self._vmis = vmis
        self._storage_classes = storage_classes
        self._configuration = configuration
        self._queue: WorkQueue[Key] = WorkQueue()
        vmis.on_change(self._queue.add)
        storage_classes.on_change(lambda _key: self._look_again())

    def _look_again(self) -> None:
        """Queues the VMIs again, because they may have waited for the StorageClass."""
        for vmi in self._vmis.objects():
            self._queue.add(key_of(vmi))

    async def run(self) -> None:
        await self._queue.run(WORKERS, self._sync)

    async def _sync(self, key: Key) -> None:
        vmi = self._vmis.get(key)
        patch = self._next(vmi) if vmi is not None else None
        if patch is None or vmi is None:
            self._queue.forget(key)
            return
        patch["metadata"] = {**patch.get("metadata", {}), "resourceVersion": vmi["metadata"]["resourceVersion"]}
        try:
            self._vmis.observe(await self._client.patch(VMI, *key, patch))
        except ApiError as error:
            if error.code not in (404, 409):
                log.warning("%s/%s: %s", *key, error)
            if error.code != 404:
                self._queue.retry(key)
            return
        # Read the object again for the next step.
        self._queue.forget(key)
        self._queue.add(key)

    def _next(self, vmi: Manifest) -> Manifest | None:
        """The patch for the VMI's next step; None if there is none."""
        starts = vmi_state.phase(vmi) in ("", "Pending") and not vmi_state.is_being_deleted(vmi)
        if not starts or not persistent_state.is_needed(vmi["spec"]):
            return changes(vmi)
        can_start = persistent_state.has_class(self._configuration.raw, self._storage_classes.objects())
        return changes(vmi) if can_start else persistent_state.wait(vmi)


def changes(vmi: Manifest) -> Manifest | None:
    """Pure except for the time: the merge patch for the VMI's next step, or None."""
    phase = vmi_state.phase(vmi)
    finalizers = vmi["metadata"].get("finalizers") or []
    if vmi_state.is_being_deleted(vmi):
        if not vmi_state.is_final(vmi):
            return {"status": {"phase": "Succeeded", **_transition(vmi, "Succeeded")}}
        if FINALIZER in finalizers:
            rest = [entry for entry in finalizers if entry != FINALIZER]
            return {"metadata": {"finalizers": rest or None}}
        return None
    if phase == "Running" or vmi_state.is_final(vmi):
        return None
    domain = vmi["spec"]["domain"]
    cpu = domain.get("cpu") or {}
    guest = (domain.get("memory") or {}).get("guest")
    status: Manifest = {
        "phase": "Running",
        "nodeName": NODE,
        "conditions": paused.conditions([], vmi["spec"].get("startStrategy") == "Paused"),
        "currentCPUTopology": {name: cpu[name] for name in ("cores", "sockets", "threads") if cpu.get(name)},
        **_transition(vmi, "Running"),
    }
    if guest is not None:
        status["memory"] = {"guestAtBoot": guest, "guestCurrent": guest, "guestRequested": guest}
    return {"metadata": {"labels": {"kubevirt.io/nodeName": NODE}}, "status": status}


def _transition(vmi: Manifest, phase: str) -> Manifest:
    """The timestamp of a phase."""
    before = (vmi.get("status") or {}).get("phaseTransitionTimestamps") or []
    return {"phaseTransitionTimestamps": [*before, {"phase": phase, "phaseTransitionTimestamp": now()}]}
