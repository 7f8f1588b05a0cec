"""The pods of virt-handler, one on each node, and the clients that write as they do.

KubeVirt lets virt-handler change only the VMIs of its own node, which it knows from the token: it is bound to the pod.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from node.api.client import ApiError, Client, Connection
from node.api.controller import Controller, NotYet
from node.api.informer import Informer, Key
from node.api.resources import POD, SERVICE_ACCOUNT

Manifest = dict[str, Any]

NAMESPACE: Final = "kubevirt"
_ACCOUNT: Final = "kubevirt-handler"
_YEAR: Final = 365 * 86400
_COMING: Final = (403, 404)  # namespace, account or role are not there yet


def pod_name(node: str) -> str:
    return f"virt-handler-{node}"


class Agents(Controller):
    """Sees that each node has its pod, as the DaemonSet would, and a token for it."""

    def __init__(
        self, connection: Connection, client: Client, pods: Informer, nodes: Iterable[str], image: str
    ) -> None:
        super().__init__(pods)
        self._connection = connection
        self._client = client
        self._image = image
        self._nodes = {(NAMESPACE, pod_name(node)): node for node in nodes}
        self._clients: dict[str, tuple[str, Client]] = {}  # by node: uid of the pod, and who writes as it
        self.ready = asyncio.Event()
        for key in self._nodes:
            self.queue.add(key)

    def client(self, node: str) -> Client:
        """Requests of the virt-handler of a node. Raises NotYet until it is there."""
        if node not in self._clients:
            raise NotYet
        return self._clients[node][1]

    async def sync(self, key: Key) -> None:
        node = self._nodes.get(key)
        if node is None:
            return
        try:
            pod = self.cache.get(key) or await self._create(key, node)
            uid = pod["metadata"]["uid"]
            if node not in self._clients or self._clients[node][0] != uid:
                token = await self._token(pod)
                self._clients[node] = (uid, Client(self._connection, "virt-handler", token))
        except ApiError as error:
            if error.code not in _COMING:
                raise
            self.log.debug("%s: %s", key[1], error)
            raise NotYet from error
        if len(self._clients) == len(self._nodes):
            self.ready.set()

    async def _create(self, key: Key, node: str) -> Manifest:
        """Creates the pod on the node's network, so that virt-api finds virt-handler under the node's address."""
        container = {"name": "virt-handler", "image": self._image}
        spec = {
            "nodeName": node,
            "serviceAccountName": _ACCOUNT,
            "hostNetwork": True,
            "containers": [container],
            "tolerations": [{"operator": "Exists"}],
        }
        metadata = {"namespace": key[0], "name": key[1], "labels": {"kubevirt.io": "virt-handler"}}
        pod = {"apiVersion": POD.api_version, "kind": POD.kind, "metadata": metadata, "spec": spec}
        try:
            return await self._client.create(POD, NAMESPACE, pod)
        except ApiError as error:
            if error.code != 409:
                raise
            return await self._client.get(POD, *key)

    async def _token(self, pod: Manifest) -> str:
        bound = {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
        request = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": _YEAR, "boundObjectRef": bound},
        }
        path = SERVICE_ACCOUNT.path(NAMESPACE, _ACCOUNT, "token")
        return str((await self._client.request("POST", path, request))["status"]["token"])
