"""VMs of a namespace, and the server that lists them."""

from typing import Any

from scripted_server import Store

Manifest = dict[str, Any]

TYPES = "/apis/instancetype.kubevirt.io/v1beta1"
KUBEVIRT = "/apis/kubevirt.io/v1/namespaces/shop"
KIND = "VirtualMachineInstancetype"
SMALL = {
    "metadata": {"name": "small", "namespace": "shop", "uid": "s", "generation": 1},
    "spec": {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}},
}


def vm(name: str, matcher: dict[str, str] | None = None, *, revision: str = "") -> Manifest:
    status: Manifest = {"conditions": []}
    spec: Manifest = {"runStrategy": "Halted", "template": {"spec": {"domain": {"devices": {}}}}}
    if matcher:
        spec["instancetype"] = matcher
        captured = {"controllerRevisionRef": {"name": revision}} if revision else {}
        status["instancetypeRef"] = {**matcher, **captured}
    else:
        spec["template"]["spec"]["domain"]["memory"] = {"guest": "2Gi"}
    metadata = {"name": name, "namespace": "shop", "uid": name, "generation": 1}
    return {"kind": "VirtualMachine", "metadata": metadata, "spec": spec, "status": status}


def sized(name: str, kind: str = KIND) -> dict[str, str]:
    return {"name": name, "kind": kind}


def store(*vms: Manifest) -> Store:
    return Store(
        {
            f"{KUBEVIRT}/virtualmachines": list(vms),
            f"{KUBEVIRT}/virtualmachineinstances": [],
            f"{TYPES}/namespaces/shop/virtualmachineinstancetypes": [SMALL],
            "/apis/apps/v1/namespaces/shop/controllerrevisions": [],
        }
    )
