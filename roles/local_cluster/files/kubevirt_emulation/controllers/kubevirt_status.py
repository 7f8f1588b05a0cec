"""The status of the KubeVirt object: everything is deployed, and the observed generation."""

from __future__ import annotations

import logging
from typing import Any

from _resolver.instancetype.vmi.configuration import DEFAULT_ARCHITECTURE
from kubevirt_emulation.client import ApiError, Client
from kubevirt_emulation.clock import now
from kubevirt_emulation.informer import Informer, Key
from kubevirt_emulation.resources import KUBEVIRT
from kubevirt_emulation.workqueue import WorkQueue

log = logging.getLogger(__name__)

Manifest = dict[str, Any]

_VERSIONS = ("observedKubeVirtVersion", "operatorVersion", "targetKubeVirtVersion")


class KubeVirtStatus:
    """Emulates virt-operator for the status of the KubeVirt object."""

    def __init__(self, client: Client, kubevirts: Informer, version: str) -> None:
        """kubevirts: the cache with the configuration; a generation in it counts as observed."""
        self._client = client
        self._kubevirts = kubevirts
        self._version = version
        self._queue: WorkQueue[Key] = WorkQueue()
        kubevirts.on_change(self._queue.add)

    async def run(self) -> None:
        await self._queue.run(1, self._sync)

    async def _sync(self, key: Key) -> None:
        kubevirt = self._kubevirts.get(key)
        patch = changes(kubevirt, self._version) if kubevirt is not None else None
        if patch is None:
            self._queue.forget(key)
            return
        try:
            self._kubevirts.observe(await self._client.patch(KUBEVIRT, *key, patch, subresource="status"))
        except ApiError as error:
            if error.code != 404:
                log.warning("%s/%s: %s", *key, error)
                self._queue.retry(key)


def changes(kubevirt: Manifest, version: str) -> Manifest | None:
    """Pure except for the time: the merge patch of the status, or None.

    version: the deployed release, such as 1.9.0.
    """
    generation = kubevirt["metadata"]["generation"]
    status = kubevirt.get("status") or {}
    patch: Manifest = {
        "phase": "Deployed",
        "observedGeneration": generation,
        "defaultArchitecture": status.get("defaultArchitecture") or DEFAULT_ARCHITECTURE,
    }
    patch |= dict.fromkeys(_VERSIONS, f"v{version}")
    if all(status.get(field) == value for field, value in patch.items()):
        return None
    if "conditions" not in status:
        reason, message = "AllComponentsReady", "All components are ready."
        patch["conditions"] = [
            {
                "type": name,
                "status": state,
                "reason": reason,
                "message": message,
                "lastProbeTime": now(),
                "lastTransitionTime": now(),
            }
            for name, state in (("Available", "True"), ("Progressing", "False"), ("Degraded", "False"))
        ]
    return {"status": patch}
