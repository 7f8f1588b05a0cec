"""Revisions of an instancetype that VMs have captured, and the server that lists them."""

from typing import Any

from plugins.module_utils._resolver.kubevirt.instancetype import revision_store
from scripted_server import REVISIONS, Manifest, listed, status

KUBEVIRT = "/apis/kubevirt.io/v1/namespaces/shop"
NO_SUCH_API = status(404, "the server could not find the requested resource", "NotFound")


def vm(generation: int, name: str = "db") -> Manifest:
    return {
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}"},
        "spec": {"instancetype": {"name": "big", "kind": "VirtualMachineInstancetype"}, "template": {"spec": {}}},
        "status": {
            "instancetypeRef": {
                "name": "big",
                "kind": "VirtualMachineInstancetype",
                "controllerRevisionRef": {"name": named(generation, name)},
            }
        },
    }


def named(generation: int, name: str = "db") -> str:
    return f"{name}-big-v1beta1-it-{generation}"


def kept(generation: int, name: str = "db") -> Manifest:
    spec = {"cpu": {"guest": generation}, "memory": {"guest": "1Gi"}}
    metadata = {"name": "big", "namespace": "shop", "uid": "it", "generation": generation}
    created = revision_store.controller_revision(
        vm(1, name), {"kind": "VirtualMachineInstancetype", "metadata": metadata, "spec": spec}
    )
    return {"apiVersion": "apps/v1", "kind": "ControllerRevision", **created}


class Server:
    """A server with answers to LISTs; asked: the paths in order. Writes are kept, too, and carried out on `objects`."""

    def __init__(self, **more: Any) -> None:
        self.lists: dict[str, Any] = {
            REVISIONS: [kept(generation) for generation in (1, 2, 3, 10)],
            f"{KUBEVIRT}/virtualmachines": [vm(10)],
        }
        self.asked: list[tuple[str, str]] = []
        for path, items in more.items():
            self.lists[path] = items

    def __call__(self, method: str, path: str, _query: dict[str, str]) -> tuple[int, Any]:
        self.asked.append((method, path))
        if method != "GET":
            return 200, {}
        collection, _slash, name = path.rpartition("/")
        if collection == REVISIONS:
            named = [item for item in self.lists[REVISIONS] if item["metadata"]["name"] == name]
            return (200, named[0]) if named else status(404, f"{name} not found", "NotFound")
        result = self.lists.get(path, NO_SUCH_API)
        return result if isinstance(result, tuple) else (200, listed(*result))
