"""Binds every pod to the only node, for a cluster whose nodes nobody has declared: it has no kube-scheduler."""

from __future__ import annotations

from node.api.client import Client
from node.api.controller import Controller
from node.api.informer import Informer, Key
from node.api.resources import NODE, POD


class Scheduler(Controller):
    """Looks at nothing that a scheduler would look at: the node has room for everything."""

    def __init__(self, client: Client, pods: Informer, node: str) -> None:
        super().__init__(pods)
        self._client = client
        self._node = node

    async def sync(self, key: Key) -> None:
        pod = self.cache.get(key)
        if pod is None or pod["spec"].get("nodeName") or pod["metadata"].get("deletionTimestamp"):
            return
        if pod["spec"].get("schedulingGates"):
            return
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": key[1], "uid": pod["metadata"]["uid"]},
            "target": {"apiVersion": NODE.api_version, "kind": NODE.kind, "name": self._node},
        }
        await self._client.request("POST", POD.path(*key, "binding"), binding)
