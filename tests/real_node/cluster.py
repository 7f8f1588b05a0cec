"""A cluster with real nodes: the role's cluster, whose simulated nodes stay, and two nodes that run containers.

It lives in namespaces for network, mounts and processes, with which all of it ends.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kubernetes import client, config

from local_cluster import versions
from local_cluster.build import ProgramSet
from local_cluster.paths import FILES, Layout
from real_node.build import Parts
from real_node.images import QEMU, kubevirt_images
from real_node.node import KIND_LABEL, Node

Manifest = dict[str, Any]

VOLUMES = "volumes"
SIMULATED = [{"name": f"sim{number:02}", "cpu": "16", "memory": "64Gi"} for number in (1, 2)]
_KUBEVIRT = "kubevirt"
_HANDLER_CERTIFICATES = {
    "kubevirt-virt-handler-certs": "virt-handler-client",
    "kubevirt-virt-handler-server-certs": "virt-handler",
    "kubevirt-virt-handler-migration-client-certs": "virt-handler-client",
    "kubevirt-virt-handler-vsock-client-certs": "virt-handler-client",
}
"""The Secrets that virt-handler mounts → the certificate of the role that KubeVirt's operator would put there."""


class Cluster:
    """A running cluster; `folder` keeps all its state."""

    def __init__(self, folder: Path, parts: Parts, progress: Callable[[str], None]) -> None:
        self._folder, self._parts, self._progress = folder, parts, progress
        self.layout = Layout(folder / "cluster")
        self.nodes = [Node(number, folder / f"node{number}") for number in (1, 2)]
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def kubeconfig(self) -> Path:
        return self.layout.kubeconfig

    def start(self) -> None:
        """Start everything; returns when virt-handler takes guests on both nodes."""
        self._make_network()
        self._start_control_plane()
        config.load_kube_config(str(self.kubeconfig))
        self.core = client.CoreV1Api()
        self.objects = client.CustomObjectsApi()
        self._adjust_kubevirt()
        self._make_handler_secrets()
        (self._folder / VOLUMES).mkdir()
        for node in self.nodes:
            self._processes.append(node.start(self._parts, self.kubeconfig, self._folder / VOLUMES))
        for node in self.nodes:
            self._wait(f"kubelet of {node.name}", lambda node=node: self._is_ready(node), 120)
            self.core.patch_node(node.name, {"spec": {"taints": None}})
            self.core.create_namespaced_pod(_KUBEVIRT, self._handler(node))
        for node in self.nodes:
            self._wait(f"virt-handler of {node.name}", lambda node=node: self._is_schedulable(node), 180)

    def make_volume(self, name: str) -> str:
        """Make a PersistentVolume, a folder that is the same on both nodes, and return its name."""
        folder = self._folder / VOLUMES / name
        folder.mkdir()
        disk = folder / "disk.img"
        # A volume that is plugged has one; for others, virt-launcher would make it.
        with disk.open("wb") as file:
            file.truncate(60 << 20)
        for path in (folder, disk):
            os.chown(path, QEMU, QEMU)
        spec = {
            "capacity": {"storage": "64Mi"},
            "accessModes": ["ReadWriteMany"],
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": f"/opt/{VOLUMES}/{name}", "type": "Directory"},
        }
        self.core.create_persistent_volume({"metadata": {"name": name}, "spec": spec})
        return name

    def kill_guest(self, namespace: str, name: str) -> None:
        """End the QEMU of a guest as a crash would."""
        wanted = f"guest={namespace}_{name},"
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if wanted in (process / "cmdline").read_text().replace("\0", " "):
                    os.kill(int(process.name), signal.SIGKILL)

    def stop(self) -> None:
        """End what would outlive this process or keep its cgroups."""
        for process in self._processes:
            process.kill()
            process.wait()
        self._run(sys.executable, "-m", "local_cluster", "stop", "--dir", str(self.layout.root))

    def _make_network(self) -> None:
        self._run("ip", "link", "set", "lo", "up")
        self._run("ip", "link", "add", "nodes0", "type", "bridge")
        for node in self.nodes:
            self._run("ip", "address", "add", f"{node.address}/24", "dev", "nodes0")
        self._run("ip", "link", "set", "nodes0", "up")
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")

    def _start_control_plane(self) -> None:
        self._progress("starting the control plane")
        nodes = [{**node, "labels": {KIND_LABEL: "simulated"}} for node in SIMULATED]
        where = ["--name", "real", "--dir", str(self.layout.root)]
        self._run(sys.executable, "-m", "local_cluster", "start", *where, "--nodes", json.dumps(nodes))

    def _adjust_kubevirt(self) -> None:
        """Debian's containerd cannot mount images."""
        kubevirt = ("kubevirt.io", "v1", _KUBEVIRT, "kubevirts", _KUBEVIRT)
        developer = {"disabledFeatureGates": ["ImageVolume"]}
        change = {"configuration": {"developerConfiguration": developer}}
        self.objects.patch_namespaced_custom_object(*kubevirt, {"spec": change})

    def _make_handler_secrets(self) -> None:
        for name, certificate in _HANDLER_CERTIFICATES.items():
            files = {"tls.crt": f"{certificate}.crt", "tls.key": f"{certificate}.key"}
            data = {
                key: base64.b64encode((self.layout.pki / file).read_bytes()).decode() for key, file in files.items()
            }
            secret = {"metadata": {"name": name}, "type": "kubernetes.io/tls", "data": data}
            self.core.create_namespaced_secret(_KUBEVIRT, secret)

    def _handler(self, node: Node) -> Manifest:
        """virt-handler's pod as virt-operator makes it, in the network namespace of the cluster and without KVM."""
        release = versions.default_kubevirt()
        programs = ProgramSet(versions.default_kubernetes(), release)
        manifests = json.loads((programs.kubevirt() / "kubevirt.json").read_text())
        found = next(item for item in manifests if item["kind"] == "DaemonSet")
        template: Manifest = found["spec"]["template"]
        spec = template["spec"]
        container, labeller = spec["containers"][0], spec["initContainers"][0]
        container["image"], labeller["image"] = kubevirt_images(release)
        state = json.loads(self.layout.cluster.read_text())
        console = str(state["ports"]["node"])
        flags = container["args"]
        flags[flags.index("--console-server-port") + 1] = console
        flags += ["--listen", node.address]
        api = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": state["ports"]["control-plane"]}
        container["env"] += [{"name": name, "value": str(value)} for name, value in api.items()]
        # Whoever opens /dev/kvm may wait forever where virtual machines cannot nest.
        device = {"HYPERVISOR_DEVICE": "none", "PREFERRED_VIRTTYPE": "qemu"}
        labeller["env"] = [{"name": name, "value": value} for name, value in device.items()]
        for each in (container, labeller):
            each["imagePullPolicy"] = "Never"
            each["resources"] = {}
        spec.pop("priorityClassName")  # of a class that virt-operator would make
        spec |= {"nodeName": node.name, "hostNetwork": True, "restartPolicy": "Always"}
        metadata = {"name": f"virt-handler-{node.name}", "labels": template["metadata"]["labels"]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def _is_ready(self, node: Node) -> bool:
        with contextlib.suppress(client.ApiException):
            status = self.core.read_node(node.name).status
            return any(item.type == "Ready" and item.status == "True" for item in status.conditions or ())
        return False

    def _is_schedulable(self, node: Node) -> bool:
        labels = self.core.read_node(node.name).metadata.labels
        return labels.get("kubevirt.io/schedulable") == "true"

    def _wait(self, what: str, ready: Callable[[], bool], seconds: float) -> None:
        self._progress(f"waiting for {what}")
        deadline = time.monotonic() + seconds
        while not ready():
            dead = next((process for process in self._processes if process.poll() is not None), None)
            if dead or time.monotonic() > deadline:
                how = f"a node ended with {dead.returncode}" if dead else f"not within {seconds:.0f} s"
                raise RuntimeError(f"{what}: {how}; logs: {self._folder}")
            time.sleep(0.5)

    @staticmethod
    def _run(*command: str) -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment())
        if done.returncode:
            raise RuntimeError(f"{' '.join(command[:6])}: {done.stderr.strip() or done.stdout.strip()}")


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(FILES)}
