"""Halted VMs of a namespace without instancetypes, and the server that has them."""

from typing import Any

from scripted_server import REVISIONS, VMIS, VMS, Manifest, Store

TYPES = "/apis/instancetype.kubevirt.io/v1beta1"


def vm(name: str, strategy: str = "Halted", memory: str = "2Gi", **spec: Any) -> Manifest:
    template = {"spec": {"domain": {"devices": {}, "memory": {"guest": memory}}}}
    metadata = {"name": name, "namespace": "shop", "uid": name, "generation": 1, "resourceVersion": "1"}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": metadata,
        "spec": {"runStrategy": strategy, "template": template, **spec},
        "status": {"printableStatus": "Stopped"},
    }


def store(*vms: Manifest, **lists: list[Manifest]) -> Store:
    sizes = {f"{TYPES}/virtualmachineclusterinstancetypes": []}
    return Store({VMS: list(vms), VMIS: [], REVISIONS: [], **sizes, **lists})
