"""An API in memory and its caches, for tests of the node's parts."""

import asyncio
import copy
import functools
from collections.abc import Callable, Coroutine
from typing import Any, cast

from node.api.client import ApiError, Client
from node.api.informer import Informer, key_of
from node.api.resources import Resource

Manifest = dict[str, Any]


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test whose body awaits, and for no longer than ten seconds."""

    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        asyncio.run(asyncio.wait_for(test(**fixtures), 10))

    return run


class Api:
    """Stores objects by path. It knows only merge patches, which suffice for the lists of status here, too."""

    def __init__(self) -> None:
        self.objects: dict[str, Manifest] = {}
        self.written: list[Manifest] = []
        self._version = 100
        self._caches: list[Informer] = []

    @property
    def client(self) -> Client:
        return cast(Client, self)

    def cache(self, kind: Resource, *objects: Manifest) -> Informer:
        """A cache of a kind that follows what is written."""
        informer = Informer(self.client, kind)
        self._caches.append(informer)
        for entry in objects:
            self._store(kind, entry)
        return informer

    def add(self, kind: Resource, entry: Manifest) -> None:
        self._store(kind, entry)

    async def get(self, kind: Resource, namespace: str, name: str) -> Manifest:
        return copy.deepcopy(self._found(kind.path(namespace, name)))

    async def create(self, kind: Resource, namespace: str, body: Manifest) -> Manifest:
        body = copy.deepcopy(body)
        if kind.namespaced:
            body["metadata"]["namespace"] = namespace
        body["metadata"].setdefault("uid", f"uid-{self._version}")
        if kind.path(namespace, body["metadata"].get("name", "")) in self.objects:
            raise ApiError(409, {"message": "exists"})
        return self._store(kind, body)

    async def update(self, kind: Resource, body: Manifest, _subresource: str = "") -> Manifest:
        self._found(kind.path(*key_of(body)))
        return self._store(kind, copy.deepcopy(body))

    async def patch(
        self, kind: Resource, namespace: str, name: str, body: Any, _type: str = "", subresource: str = ""
    ) -> Manifest:
        return self._store(kind, _merged(self._found(kind.path(namespace, name)), body))

    async def delete(self, kind: Resource, namespace: str, name: str, options: Manifest | None = None) -> Manifest:
        del self.objects[kind.path(namespace, name)]
        return {}

    def _found(self, path: str) -> Manifest:
        if path not in self.objects:
            raise ApiError(404, {"message": f"{path} not found"})
        return self.objects[path]

    def _store(self, kind: Resource, entry: Manifest) -> Manifest:
        self._version += 1
        stored = {"apiVersion": kind.api_version, "kind": kind.kind, **entry}
        stored["metadata"] = {"uid": "uid", **stored["metadata"], "resourceVersion": str(self._version)}
        self.objects[kind.path(*key_of(stored))] = stored
        self.written.append(stored)
        for informer in self._caches:
            if informer.resource == kind:
                informer.observe(copy.deepcopy(stored))
        return copy.deepcopy(stored)


def _merged(old: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    result = dict(old) if isinstance(old, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = _merged(result.get(name), value)
    return result


def named(name: str, namespace: str = "ns", **metadata: Any) -> Manifest:
    return {"namespace": namespace, "name": name, "uid": f"uid-of-{name}", **metadata}


def pod(name: str = "p", **spec: Any) -> Manifest:
    """A pod on node01 with one container."""
    whole = {"nodeName": "node01", "containers": [{"name": "main", "image": "quay.io/x/y:1"}], **spec}
    return {"metadata": named(name), "spec": whole, "status": {"phase": "Pending"}}


def launcher(name: str, vmi: Manifest) -> Manifest:
    """A virt-launcher pod of a VMI."""
    result = pod(name)
    result["metadata"]["labels"] = {"kubevirt.io": "virt-launcher", "kubevirt.io/created-by": vmi["metadata"]["uid"]}
    result["metadata"]["annotations"] = {"kubevirt.io/domain": vmi["metadata"]["name"]}
    return result


def vmi(phase: str = "Scheduled", devices: Manifest | None = None, **spec: Any) -> Manifest:
    domain = {"cpu": {"cores": 1, "sockets": 2, "threads": 1}, "memory": {"guest": "2Gi"}, "devices": devices or {}}
    status = {"phase": phase, "nodeName": "node01"}
    return {"metadata": named("vm"), "spec": {"domain": domain, **spec}, "status": status}
