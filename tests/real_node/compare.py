"""Runs each scenario on a simulated node and on a real one, and keeps what its VMs went through."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kubernetes import client

from modules_support import execute
from real_node.cluster import Cluster
from real_node.images import GUEST
from real_node.node import KIND_LABEL
from real_node.observe import Observer
from real_node.told import EventSource, inventory

Manifest = dict[str, Any]

KINDS = ("simulated", "real")
_QUIET = {"simulated": 3.0, "real": 6.0}
"""Seconds without a change after which a step is over."""


@dataclass
class Stage:
    """Where a scenario runs: a namespace whose VMs choose nodes of one kind."""

    kind: str
    cluster: Cluster
    namespace: str
    seen: dict[str, Manifest] = field(default_factory=dict)

    def declare(self, *, name: str | None = "web", **options: Any) -> Manifest:
        """Run our `virtual_machine` for a small guest."""
        given = {
            "name": name,
            "memory": "256Mi",
            "node_selector": {KIND_LABEL: self.kind},
            "volumes": [{"name": "root", "container_disk": GUEST}],
            "cloud_init": {"user": "debian", "password": "for this test"},
            "networks": [{"name": "default"}],
            "termination_grace_period": 30,
            "wait": True,
            "wait_timeout": 400,
            **options,
        }
        return self.task("virtual_machine", **{name: value for name, value in given.items() if value is not None})

    def power(self, state: str, name: str = "web", **options: Any) -> Manifest:
        given = {"names": [name], "state": state, "wait": True, "wait_timeout": 400, **options}
        return self.task("virtual_machine_power", **given)

    def task(self, module: str, **options: Any) -> Manifest:
        where = {"kubeconfig": str(self.cluster.kubeconfig), "namespace": self.namespace}
        return execute(module, {**where, **options})

    def vmi(self, name: str = "web") -> Manifest:
        found: Manifest = self.cluster.objects.get_namespaced_custom_object(
            "kubevirt.io", "v1", self.namespace, "virtualmachineinstances", name
        )
        return found

    def make_claim(self, name: str) -> None:
        """Make a claim of 64Mi. A real node has no provisioner, so its volume is a folder of both nodes."""
        spec: Manifest = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "64Mi"}}}
        if self.kind == "real":
            volume = self.cluster.make_volume(f"{self.namespace}-{name}")
            spec |= {"storageClassName": "", "volumeName": volume}
        claim = {"metadata": {"name": name}, "spec": spec}
        self.cluster.core.create_namespaced_persistent_volume_claim(self.namespace, claim)

    def make_network(self, name: str) -> None:
        """Make a network whose bridge both real nodes share."""
        settings = {"cniVersion": "1.0.0", "name": name, "type": "bridge", "bridge": f"{name}0", "ipam": {}}
        network = {
            "apiVersion": "k8s.cni.cncf.io/v1",
            "kind": "NetworkAttachmentDefinition",
            "metadata": {"name": name},
            "spec": {"config": json.dumps(settings)},
        }
        self.cluster.objects.create_namespaced_custom_object(
            "k8s.cni.cncf.io", "v1", self.namespace, "network-attachment-definitions", network
        )

    def make_quota(self, memory: str) -> None:
        """Limit the memory that the pods of the namespace request."""
        quota = {"metadata": {"name": "small"}, "spec": {"hard": {"requests.memory": memory}}}
        self.cluster.core.create_namespaced_resource_quota(self.namespace, quota)

    def addresses(self) -> dict[str, bool]:
        """Whether the inventory has the address of each guest, and whether its SSH server answers there."""
        found = {}
        for host, variables in inventory(self.cluster.kubeconfig, self.namespace).items():
            address = variables.get("ansible_host", "")
            name = host.partition(".")[0]
            found[f"{name} has its VMI's address"] = address == self.vmi(name)["status"]["interfaces"][0]["ipAddress"]
            found[f"{name} answers there"] = _says_ssh(address)
        return found

    def crash(self) -> None:
        """End the guest's QEMU, or start a simulated guest that ends at each start."""
        before = self.vmi()["metadata"]["uid"]
        if self.kind == "real":
            self.cluster.kill_guest(self.namespace, "web")
        else:
            annotation = {"instancetypes.virtshape.io/simulated-guest": "crashes"}
            template = {"metadata": {"annotations": annotation}}
            self.declare(template=template, restart="if_required", wait=False)
            self.power("restarted", wait=False)
        self.until("another guest", lambda: bool(self.vmi()["metadata"]["uid"] != before))

    def until(self, what: str, true: Callable[[], bool], seconds: float = 400) -> None:
        """Wait for something that no module of ours waits for."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with contextlib.suppress(client.ApiException, KeyError):
                if true():
                    return
            time.sleep(0.5)
        raise TimeoutError(f"{what}: not within {seconds:.0f} s on the {self.kind} node")

    def condition(self, name: str, status: str = "True", vm: str = "web") -> Callable[[], bool]:
        def has() -> bool:
            conditions = self.vmi(vm)["status"].get("conditions", ())
            return any(item["type"] == name and item["status"] == status for item in conditions)

        return has


def _says_ssh(address: str) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((address, 22), timeout=10) as connection:
        return connection.recv(4) == b"SSH-"
    return False


Step = tuple[str, Callable[[Stage], Any]]


def compare(cluster: Cluster, wanted: list[str], progress: Callable[[str], None]) -> Manifest:
    """What was seen of each scenario: name → kind of node → step → `tracks`, `said`, `seconds`."""
    from real_node.scenarios import SCENARIOS

    found: Manifest = {}
    for name, steps in SCENARIOS.items():
        if wanted and name not in wanted:
            continue
        found[name] = {}
        for kind in KINDS:
            progress(f"{name}, {kind}")
            found[name][kind] = _run(Stage(kind, cluster, f"{name}-{kind}"), steps, progress)
    return found


def _run(stage: Stage, steps: list[Step], progress: Callable[[str], None]) -> dict[str, Manifest]:
    stage.cluster.core.create_namespace({"metadata": {"name": stage.namespace}})
    observer, events = Observer(stage.namespace), EventSource(stage.cluster.kubeconfig, stage.namespace)
    try:
        for name, act in steps:
            began = time.monotonic()
            try:
                said = act(stage)
            except (TimeoutError, client.ApiException) as error:
                said = {"failed": True, "msg": str(error), "last": True}
            took = time.monotonic() - began
            observer.quiet(_QUIET[stage.kind], 60)
            tracks = {**observer.take(), "events": events.take()}
            stage.seen[name] = {"said": said, "seconds": round(took, 1), "tracks": tracks}
            failed = f": {said['msg']}" if isinstance(said, dict) and said.get("failed") else ""
            progress(f"  {name} took {took:.1f} s{failed}")
            if failed and "last" in said:
                break
    finally:
        observer.stop()
        events.stop()
        with contextlib.suppress(client.ApiException):
            stage.cluster.core.delete_namespace(stage.namespace)
    return stage.seen
