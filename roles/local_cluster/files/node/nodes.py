"""The Node objects, as kubelet and virt-handler write them, and their heartbeat."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, Final

from node.api.client import STRATEGIC_PATCH, ApiError, Client
from node.api.clock import now, precise_now
from node.api.resources import LEASE, NODE
from node.config import NodeConfig

log = logging.getLogger(__name__)

Manifest = dict[str, Any]

HEARTBEAT: Final = 20.0  # seconds; Kubernetes gives up a node after 40
_RUNTIME: Final = "simulated://1.0"  # by which nodes of an earlier run are known
_LEASES: Final = "kube-node-lease"
_DEVICES: Final = ("kvm", "tun", "vhost-net", "sev", "vhost-vsock")
_CPU_MODELS: Final = ("Nehalem", "Westmere", "SandyBridge", "IvyBridge", "Haswell", "Broadwell", "Skylake-Server")
# A guest with the model of its host can move to nodes with the second label.
_CPU_MODEL_USES: Final = ("cpu-model", "cpu-model-migration")
_MACHINES: Final = ("q35", "pc-q35-9.2", "pc-q35-rhel9.6.0")
_FEATURES: Final = ("aes", "avx", "avx2", "vmx", "pcid", "invtsc", "rdtscp")
_HYPERV: Final = ("base", "frequencies", "ipi", "reenlightenment", "reset", "runtime", "synic", "synictimer", "time")
_TSC_FREQUENCY: Final = "2400000000"
_HEALTHY: Final = {"MemoryPressure": "False", "DiskPressure": "False", "PIDPressure": "False", "Ready": "True"}


def manifest(node: NodeConfig) -> Manifest:
    """The Node with the labels that kubelet and virt-handler's node labeller give."""
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "kubernetes.io/hostname": node.name,
        "kubevirt.io/schedulable": "true",
        "cpumanager": "false",
        "cpu-vendor.node.kubevirt.io/Intel": "true",
        "host-model-cpu.node.kubevirt.io/Skylake-Server": "true",
        "cpu-timer.node.kubevirt.io/tsc-frequency": _TSC_FREQUENCY,
        "cpu-timer.node.kubevirt.io/tsc-scalable": "true",
        # virt-controller would add it within a minute, for which a first Windows guest would wait.
        f"scheduling.node.kubevirt.io/tsc-frequency-{_TSC_FREQUENCY}": "true",
        **{f"{use}.node.kubevirt.io/{name}": "true" for use in _CPU_MODEL_USES for name in _CPU_MODELS},
        **{f"cpu-feature.node.kubevirt.io/{name}": "true" for name in _FEATURES},
        **{f"machine-type.node.kubevirt.io/{name}": "true" for name in _MACHINES},
        **{f"hyperv.node.kubevirt.io/{name}": "true" for name in _HYPERV},
        **node.labels,
    }
    return {
        "apiVersion": NODE.api_version,
        "kind": NODE.kind,
        "metadata": {"name": node.name, "labels": labels, "annotations": {"kubevirt.io/heartbeat": now()}},
        "spec": {"taints": node.taints} if node.taints else {},
    }


def status(node: NodeConfig, version: str) -> Manifest:
    """The status as kubelet writes it. version: of Kubernetes."""
    room = {
        "cpu": node.cpu,
        "memory": node.memory,
        "pods": node.pods,
        "ephemeral-storage": "100Ti",
        **{f"devices.kubevirt.io/{name}": "1k" for name in _DEVICES},
        **node.devices,
    }
    return {
        "capacity": room,
        "allocatable": room,
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": node.name}],
        "conditions": conditions(),
        "nodeInfo": {
            "architecture": "amd64",
            "operatingSystem": "linux",
            "kubeletVersion": version,
            "kubeProxyVersion": version,
            "containerRuntimeVersion": _RUNTIME,
            "kernelVersion": "6.12.0",
            "osImage": "local cluster",
            "machineID": node.name,
            "systemUUID": node.name,
            "bootID": node.name,
        },
    }


def conditions() -> list[Manifest]:
    """The conditions of a healthy node."""
    common = {"lastHeartbeatTime": now(), "reason": "NodeSimulated", "message": "the node is simulated"}
    return [{"type": kind, "status": value, **common} for kind, value in _HEALTHY.items()]


class Nodes:
    """Creates the Node objects and keeps their leases."""

    def __init__(self, client: Client, nodes: Iterable[NodeConfig]) -> None:
        self._client = client
        self._nodes = tuple(nodes)

    async def create(self) -> None:
        """Brings the Node objects to what is configured, whatever an earlier run has left."""
        version = str((await self._client.request("GET", "/version"))["gitVersion"])
        names = {node.name for node in self._nodes}
        for node in (await self._client.list(NODE))["items"]:
            runtime = ((node.get("status") or {}).get("nodeInfo") or {}).get("containerRuntimeVersion")
            if runtime == _RUNTIME and node["metadata"]["name"] not in names:
                await self._client.delete(NODE, "", node["metadata"]["name"])
        await asyncio.gather(*(self._create(node, version) for node in self._nodes))

    async def _create(self, node: NodeConfig, version: str) -> None:
        desired = manifest(node)
        try:
            await self._client.create(NODE, "", desired)
        except ApiError as error:
            if error.code != 409:
                raise
            await self._client.patch(NODE, "", node.name, {"metadata": desired["metadata"]})
        # Admission taints a new node as not ready, which Kubernetes' controller of nodes would take back.
        await self._client.patch(NODE, "", node.name, {"spec": {"taints": node.taints or None}})
        # A change of what was there before: resources that are not configured any more go.
        stored = await self._client.get(NODE, "", node.name)
        for place in ("capacity", "allocatable"):
            (stored.get("status") or {}).pop(place, None)
        stored["status"] = {**(stored.get("status") or {}), **status(node, version)}
        stored["metadata"].pop("resourceVersion", None)
        await self._client.update(NODE, stored, "status")

    async def run(self) -> None:
        """Says from time to time that the nodes live, until cancelled."""
        while True:
            for node in self._nodes:
                try:
                    await self._beat(node.name)
                except ApiError as error:
                    log.warning("heartbeat of %s: %s", node.name, error)
            await asyncio.sleep(HEARTBEAT)

    async def _beat(self, name: str) -> None:
        beat = {"annotations": {"kubevirt.io/heartbeat": now()}, "labels": {"kubevirt.io/schedulable": "true"}}
        await self._client.patch(NODE, "", name, {"metadata": beat})
        await self._client.patch(NODE, "", name, {"status": {"conditions": conditions()}}, STRATEGIC_PATCH, "status")
        spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": precise_now()}
        try:
            await self._client.patch(LEASE, _LEASES, name, {"spec": spec})
        except ApiError as error:
            if error.code != 404:
                raise
            lease = {"apiVersion": LEASE.api_version, "kind": LEASE.kind, "metadata": {"name": name}, "spec": spec}
            await self._client.create(LEASE, _LEASES, lease)
