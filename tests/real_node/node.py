"""A node: Debian with containerd and kubelet, in namespaces of its own beside the network namespace of the cluster."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from real_node.build import HERE, Parts
from real_node.images import PAUSE

KIND_LABEL = "virtshape.dev/node"
"""The label by which VMs choose real or simulated nodes."""
NAMESPACES = ("--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child")
_CNI = "/usr/lib/cni"


@dataclass(frozen=True)
class Node:
    """A node of a cluster. number: 1 for the first, of which name and addresses follow."""

    number: int
    folder: Path

    @property
    def name(self) -> str:
        return f"real{self.number:02}"

    @property
    def address(self) -> str:
        return f"10.99.0.{self.number}"

    @property
    def cgroup(self) -> str:
        return f"virtshape-{self.name}"

    def start(self, parts: Parts, kubeconfig: Path, volumes: Path) -> subprocess.Popen[bytes]:
        """Start the node. The process ends with it, and it with the process."""
        own = self.folder / "node"
        own.mkdir(parents=True)
        self.make_cgroups()
        (own / "kubeconfig").write_text(kubeconfig.read_text())
        (own / "kubelet.yaml").write_text(yaml.safe_dump(self._kubelet()))
        (own / "pods.conflist").write_text(json.dumps(self._pods()))
        (own / "containerd.toml").write_text(_CONTAINERD)
        environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "NODE_NAME": self.name,
            "NODE_ADDRESS": self.address,
            "NODE_LABELS": f"{KIND_LABEL}=real",
            "NODE_STATE": str(self.folder),
            "NODE_ROOT": str(parts.root),
            "NODE_PROGRAMS": str(parts.programs),
            "NODE_MULTUS": str(parts.multus),
            "NODE_IMAGES": str(parts.images),
            "NODE_VOLUMES": str(volumes),
        }
        with (self.folder / "node.log").open("wb") as log:
            command = ["unshare", *NAMESPACES, "sh", str(HERE / "node.sh")]
            return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def make_cgroups(self) -> None:
        """Make the cgroup of all that kubelet runs."""
        for hierarchy in _hierarchies():
            folder = hierarchy / self.cgroup
            folder.mkdir(exist_ok=True)
            known = hierarchy / "cgroup.controllers"
            controllers = known.read_text().split() if known.exists() else []
            if controllers:
                (hierarchy / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in controllers))
            for name in ("cpuset.cpus", "cpuset.mems"):
                # Empty in a new cgroup of version 1, which then takes no process.
                if hierarchy.name == "cpuset":
                    (folder / name).write_text((hierarchy / name).read_text())

    def remove_cgroups(self) -> None:
        """Remove it, and those below it, once their processes have ended."""
        deadline = time.monotonic() + 20
        for hierarchy in _hierarchies():
            for folder, _folders, _files in os.walk(hierarchy / self.cgroup, topdown=False):
                while True:
                    try:
                        Path(folder).rmdir()
                        break
                    except OSError:
                        if time.monotonic() > deadline:
                            raise
                        time.sleep(0.1)

    def _kubelet(self) -> dict[str, Any]:
        never = {f"{signal}.available": "0%" for signal in ("memory", "nodefs", "imagefs")}
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": self.address,
            "healthzBindAddress": self.address,
            "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
            "authorization": {"mode": "AlwaysAllow"},
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{self.cgroup}",
            "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
            "enforceNodeAllocatable": ["none"],
            "evictionHard": never,
            "failCgroupV1": False,
            "failSwapOn": False,
            "imageGCHighThresholdPercent": 100,
            "makeIPTablesUtilChains": False,
            "registerNode": True,
        }

    def _pods(self) -> dict[str, Any]:
        """The networks of the pods: that of all, and those that Multus adds.

        The nodes are in one network namespace, which leads from one bridge to the other.
        """
        addresses = {"type": "host-local", "subnet": f"10.88.{self.number}.0/24", "routes": [{"dst": "0.0.0.0/0"}]}
        bridge = {"type": "bridge", "bridge": f"pods{self.number}", "isGateway": True, "ipam": addresses}
        pods = {"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge, {"type": "portmap"}]}
        multus = {"type": "multus", "kubeconfig": "/opt/node/kubeconfig", "binDir": _CNI, "delegates": [pods]}
        return {"cniVersion": "1.0.0", "name": "multus", "plugins": [multus]}


def _hierarchies() -> list[Path]:
    """The one hierarchy of cgroups of version 2, or those of version 1."""
    root = Path("/sys/fs/cgroup")
    if (root / "cgroup.controllers").exists():
        return [root]
    return [folder for folder in sorted(root.iterdir()) if (folder / "cgroup.procs").exists()]


_CRI = 'plugins."io.containerd.grpc.v1.cri"'
_CONTAINERD = f"""version = 2
[{_CRI}]
sandbox_image = "{PAUSE}"
restrict_oom_score_adj = true
[{_CRI}.containerd]
snapshotter = "overlayfs"
[{_CRI}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[{_CRI}.cni]
bin_dir = "{_CNI}"
conf_dir = "/etc/cni/net.d"
"""
