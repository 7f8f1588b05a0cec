"""Emulates the node: a VMI runs once it is created, and ends when it is deleted. There is no guest."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from kubevirt_emulation.client import ApiError, Client
from kubevirt_emulation.clock import now
from kubevirt_emulation.controllers import paused, persistent_state, prerequisites, vmi_state
from kubevirt_emulation.controllers.prerequisites import CLAIM, Missing, Needed
from kubevirt_emulation.controllers.vmi_factory import FINALIZER
from kubevirt_emulation.informer import Informer, Key, key_of
from kubevirt_emulation.kubevirt_configuration import KubeVirtConfiguration
from kubevirt_emulation.resources import KINDS, VMI
from kubevirt_emulation.workqueue import WorkQueue

log = logging.getLogger(__name__)

Manifest = dict[str, Any]

NODE = "node01"
WORKERS = 8


class Node:
    """Emulates virt-handler for all VMIs."""

    def __init__(self, client: Client, caches: Mapping[str, Informer], configuration: KubeVirtConfiguration) -> None:
        """caches: of VMIs, StorageClasses and claims."""
        self._client = client
        self._vmis = caches["VirtualMachineInstance"]
        self._storage_classes = caches["StorageClass"]
        self._claims = caches[CLAIM]
        self._configuration = configuration
        self._queue: WorkQueue[Key] = WorkQueue()
        # VMIs by the claim that they wait for.
        self._waiting: dict[Key, set[Key]] = defaultdict(set)
        self._vmis.on_change(self._queue.add)
        self._storage_classes.on_change(lambda _key: self._look_again())
        self._claims.on_change(self._claim_changed)

    def _look_again(self) -> None:
        """Queues the VMIs again, because they may have waited for the StorageClass."""
        for vmi in self._vmis.objects():
            self._queue.add(key_of(vmi))

    def _claim_changed(self, key: Key) -> None:
        for user in self._waiting.pop(key, ()):
            self._queue.add(user)

    async def run(self) -> None:
        await self._queue.run(WORKERS, self._sync)

    async def _sync(self, key: Key) -> None:
        vmi = self._vmis.get(key)
        missing = await self._missing(vmi) if vmi is not None and _starts(vmi) else None
        patch = _next(vmi, missing) if vmi is not None else None
        if patch is None or vmi is None:
            if missing is None:
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

    async def _missing(self, vmi: Manifest) -> Missing | None:
        for needed in prerequisites.claims(vmi):
            if not await self._exists(needed, vmi):
                return needed.missing
        if persistent_state.is_needed(vmi["spec"]):
            classes = self._storage_classes.objects()
            if not persistent_state.has_class(self._configuration.raw, classes):
                return persistent_state.NO_CLASS
        for needed in prerequisites.of_the_pod(vmi):
            if not await self._exists(needed, vmi):
                return needed.missing
        return None

    async def _exists(self, needed: Needed, vmi: Manifest) -> bool:
        """Whether an object exists. If not, the VMI is queued again when it may."""
        place = (vmi["metadata"]["namespace"], needed.name)
        if needed.kind == CLAIM:
            if self._claims.get(place) is not None:
                return True
            self._waiting[place].add(key_of(vmi))
        try:
            # The cache may be behind, and of the other kinds there is none.
            await self._client.get(KINDS[needed.kind], *place)
        except ApiError as error:
            if error.code != 404:
                raise
            if needed.kind != CLAIM:
                self._queue.retry(key_of(vmi))
            return False
        return True


def _starts(vmi: Manifest) -> bool:
    return vmi_state.phase(vmi) in ("", "Pending") and not vmi_state.is_being_deleted(vmi)


def _next(vmi: Manifest, missing: Missing | None) -> Manifest | None:
    """The patch for the VMI's next step; None if there is none."""
    return changes(vmi) if missing is None else prerequisites.waiting(vmi, missing)


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
