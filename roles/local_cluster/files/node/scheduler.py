"""Binds every pod to a node, for a cluster whose nodes nobody has declared: it has no kube-scheduler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from node.api.client import Client
from node.api.controller import Controller
from node.api.informer import Informer, Key
from node.api.resources import NODE, POD
from node.launcher_pods import FINAL, LauncherPods, phase

Manifest = dict[str, Any]


class Scheduler(Controller):
    """Binds pods to the first node: every node has room for everything.

    A guest migrates to another node. On one node virt-controller cannot tell its two pods apart if they were created
    in the same second (CurrentVMIPod).
    """

    def __init__(self, client: Client, pods: Informer, launcher_pods: LauncherPods, nodes: Sequence[str]) -> None:
        super().__init__(pods)
        self._client = client
        self._launcher_pods = launcher_pods
        self._nodes = nodes

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
            "target": {"apiVersion": NODE.api_version, "kind": NODE.kind, "name": self._node(pod)},
        }
        await self._client.request("POST", POD.path(*key, "binding"), binding)

    def _node(self, pod: Manifest) -> str:
        namespace = pod["metadata"]["namespace"]
        for owner in pod["metadata"].get("ownerReferences") or []:
            launcher = self.cache.get((namespace, owner["name"])) if owner["kind"] == POD.kind else None
            if launcher is not None:  # the pod plugs a volume into its guest
                return str(launcher["spec"]["nodeName"])
        vmi = self._launcher_pods.vmi(pod)
        others = self._launcher_pods.pods_of(vmi) if vmi is not None else []
        taken = {other["spec"].get("nodeName") for other in others if phase(other) not in FINAL}
        return next((node for node in self._nodes if node not in taken), self._nodes[0])
