"""A cluster on which a VM gets its instancetype by a workload."""

from collections.abc import Callable
from typing import Any

from scripted_server import Store

Run = Callable[..., dict[str, Any]]
Manifest = dict[str, Any]

VMS = "/apis/kubevirt.io/v1/namespaces/shop/virtualmachines"
SOURCES = "/apis/cdi.kubevirt.io/v1beta1/datasources"
TYPES = "/apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterinstancetypes"
PREFERENCES = "/apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterpreferences"
NAMESPACE = "/apis/instancetype.kubevirt.io/v1beta1/namespaces/shop"


def instancetype(name: str, vcpus: int, memory: str) -> Manifest:
    labels = {"instancetype.kubevirt.io/class": "general.purpose"}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"cpu": {"guest": vcpus}, "memory": {"guest": memory}},
    }


def data_source(namespace: str, name: str, preference: str) -> Manifest:
    labels = {"instancetype.kubevirt.io/default-preference": preference}
    return {"metadata": {"namespace": namespace, "name": name, "labels": labels}, "spec": {}}


def store(*live: Manifest, **lists: Any) -> Store:
    return Store(
        {
            VMS: list(live),
            SOURCES: [data_source("golden", "fedora", "fedora")],
            TYPES: [instancetype("u1.small", 1, "2Gi"), instancetype("u1.large", 2, "8Gi")],
            PREFERENCES: [{"metadata": {"name": "fedora"}, "spec": {}}, {"metadata": {"name": "rhel.9"}, "spec": {}}],
            f"{NAMESPACE}/virtualmachineinstancetypes": [],
            f"{NAMESPACE}/virtualmachinepreferences": [],
            **lists,
        }
    )


def named(name: str) -> Manifest:
    return {"name": name, "kind": "VirtualMachineClusterInstancetype"}


def declared(run: Run, cluster: Store, check: bool = False, **options: Any) -> Manifest:
    return run(
        "virtual_machine", cluster, check=check, **{"name": "web", "namespace": "shop", "preflight": "off", **options}
    )
