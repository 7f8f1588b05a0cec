"""Nodes, launcher pods and VMs of the namespace shop, and the lists from which placement is computed."""

from collections.abc import Callable
from typing import Any

from scripted_server import KUBEVIRT, KUBEVIRTS, Store

Manifest = dict[str, Any]
Run = Callable[..., dict[str, Any]]

TYPES = "/apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterinstancetypes"
VMS = "/apis/kubevirt.io/v1/namespaces/shop/virtualmachines"
VMIS = "/apis/kubevirt.io/v1/namespaces/shop/virtualmachineinstances"
SPACE = "/api/v1/namespaces/shop"
SMALL: Manifest = {
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "small"},
    "spec": {"cpu": {"guest": 1}, "memory": {"guest": "4Gi"}},
}
_LABELS = {
    "kubevirt.io/schedulable": "true",
    "kubernetes.io/arch": "amd64",
    "machine-type.node.kubevirt.io/q35": "true",
    "cpu-vendor.node.kubevirt.io/Intel": "true",
}
_DEVICES = {f"devices.kubevirt.io/{name}": "1k" for name in ("kvm", "tun", "vhost-net")}


def node(name: str = "x", **allocatable: str) -> Manifest:
    """A Node with 8 CPUs and 10Gi, unless `allocatable` says otherwise."""
    amounts = {"cpu": "8", "memory": "10Gi", "ephemeral-storage": "100G", "pods": "110", **_DEVICES, **allocatable}
    labels = {**_LABELS, "kubernetes.io/hostname": name}
    return {"metadata": {"name": name, "labels": labels}, "status": {"allocatable": amounts}}


def vm(name: str, **spec: Any) -> Manifest:
    """A VM with the instancetype `small`."""
    spec = {"instancetype": {"name": "small"}, "template": {"spec": {"domain": {"devices": {}}}}, **spec}
    return {"kind": "VirtualMachine", "metadata": {"name": name, "namespace": "shop", "uid": name}, "spec": spec}


def launcher(name: str, where: str = "x", **requests: str) -> Manifest:
    """The running launcher pod of a VM, which requests 5Gi. where: its node."""
    labels = {"kubevirt.io": "virt-launcher", "kubevirt.io/created-by": f"uid-{name}", "vmi.kubevirt.io/id": name}
    container = {"name": "compute", "resources": {"requests": {"memory": "5Gi", **requests}}}
    metadata = {"name": f"virt-launcher-{name}", "namespace": "shop", "labels": labels}
    return {"metadata": metadata, "spec": {"nodeName": where, "containers": [container]}}


def placement_lists(*nodes: Manifest, pods: list[Manifest] | None = None) -> dict[str, list[Manifest]]:
    """The lists of a cluster from which placement is computed, by path."""
    empty = ("/api/v1/persistentvolumeclaims", "/api/v1/persistentvolumes", "/apis/storage.k8s.io/v1/storageclasses")
    return {
        "/api/v1/nodes": list(nodes),
        "/api/v1/pods": pods or [],
        "/api/v1/namespaces": [{"metadata": {"name": "shop"}}],
        **{path: [] for path in empty},
    }


def store(
    *vms: Manifest,
    nodes: str = "",
    pods: list[Manifest] | None = None,
    quotas: list[Manifest] | None = None,
    limits: list[Manifest] | None = None,
) -> Store:
    """A cluster with VMs in the namespace shop. nodes: their names, a letter each."""
    return Store(
        {
            VMS: list(vms),
            TYPES: [SMALL],
            KUBEVIRTS: [KUBEVIRT],
            f"{SPACE}/resourcequotas": quotas or [],
            f"{SPACE}/limitranges": limits or [],
            f"{SPACE}/pods": pods or [],
            VMIS: [],
            "/api/v1/resourcequotas": quotas or [],
            **placement_lists(*map(node, nodes), pods=pods),
        }
    )


def check_result(run: Run, cluster: Any, check: str, **options: Any) -> Manifest:
    """The result of capacity_info with one check. Each VM has the check's answer beside its name."""
    result = run("capacity_info", cluster, checks=[check], **options)
    for item in result.get("virtual_machines", []):
        assert (item["evaluated"], item["fits"]) == (item[check]["evaluated"], item[check]["fits"])
        item.update(item.pop(check))
    return result
