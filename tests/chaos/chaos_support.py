"""A cluster whose API server can be made to misbehave, and a namespace on it with VMs to declare."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kubernetes import client

from local_cluster.faults import FaultControl
from local_cluster.paths import Layout
from modules_support import Task

Manifest = dict[str, Any]

# A machine that is busy takes its time: these are bounds, no expectations.
TIMEOUT = 240
VMS = "kubevirt.io", "v1"
WRITES = ["POST", "PUT", "PATCH", "DELETE"]


class Faulty:
    """A local cluster with a fault proxy. directory: its state directory."""

    def __init__(self, launch: Callable[..., dict[str, Any]], directory: Path) -> None:
        self._launch, self._directory = launch, directory

    def path(self, name: str = "kubeconfig-faults") -> str:
        return str(self._directory / name)

    def rules(self, *rules: Manifest, seed: int | None = 1) -> None:
        """Replaces the rules and counts from nothing."""
        switch = self._switch()
        switch.set(rules, seed)
        switch.clear_counts()

    def clear_counts(self) -> None:
        self._switch().clear_counts()

    def counts(self) -> Manifest:
        result: Manifest = self._switch().show()["counts"]
        return result

    def _switch(self) -> FaultControl:
        settings = json.loads((self._directory / "run" / "fault-proxy.json").read_text())
        return FaultControl(Layout(self._directory), settings["port"])

    def kill(self, process: str, number: signal.Signals) -> None:
        """Sends a signal to a process, such as `control-plane` or `virt-api`."""
        status = self._launch("status", "--dir", str(self._directory))
        os.kill(status["processes"][process], number)

    def start(self) -> None:
        """Starts what does not run."""
        self._launch("start", "--faults", "--dir", str(self._directory), *self._named())

    def _named(self) -> list[str]:
        return ["--name", self._launch("status", "--dir", str(self._directory))["name"]]


class Shop:
    """A namespace. Requests that only judge the run bypass the proxy."""

    def __init__(self, faulty: Faulty, namespace: str, vms: client.CustomObjectsApi, apps: client.AppsV1Api) -> None:
        self.faulty, self.namespace = faulty, namespace
        self._vms, self._apps = vms, apps
        # Through the proxy, in this process.
        self.run = Task(faulty.path(), namespace)

    def options(self, kubeconfig: str = "kubeconfig-faults", **options: Any) -> Manifest:
        return {"kubeconfig": self.faulty.path(kubeconfig), "namespace": self.namespace, **options}

    def begin(self, module: str, **options: Any) -> subprocess.Popen[str]:
        """A module in a process of its own, which prints its result."""
        code = (
            "import json, sys; from modules_support import execute; print(json.dumps(execute(*json.load(sys.stdin))))"
        )
        path = os.pathsep.join(item for item in sys.path if item)
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            text=True,
        )
        assert process.stdin is not None
        json.dump([module, self.options(**options)], process.stdin)
        process.stdin.close()
        process.stdin = None
        return process

    def size(self, memory: str = "1Gi") -> None:
        """Makes the instancetype, or changes it."""
        size = {"cpu": {"guest": 1}, "memory": {"guest": memory}}
        assert self.run("instancetype", kubeconfig=self.faulty.path("kubeconfig"), name="small", **size)["changed"]

    def declare(self, names: list[str], label: str = "1", **options: Any) -> Manifest:
        """The result of declaring these VMs, halted but for every fourth; waits for them."""
        return self.run("virtual_machine", **self.declaration(names, label, **options))

    def declaration(self, names: list[str], label: str = "1", **options: Any) -> Manifest:
        entries = [
            {"name": name, "run_strategy": "Halted" if number % 4 else "Always"} for number, name in enumerate(names)
        ]
        return {
            "virtual_machines": entries,
            "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
            "volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}],
            "labels": {"round": label},
            "wait": True,
            "wait_timeout": TIMEOUT,
            **options,
        }

    def remove(self, names: list[str], **options: Any) -> Manifest:
        entries = [{"name": name} for name in names]
        waits = {"wait": True, "wait_timeout": TIMEOUT}
        return self.run("virtual_machine", virtual_machines=entries, state="absent", **{**waits, **options})

    def vms(self) -> dict[str, Manifest]:
        """The existing objects by name."""
        result = self._vms.list_namespaced_custom_object(*VMS, self.namespace, "virtualmachines")["items"]
        return {item["metadata"]["name"]: item for item in result}

    def labels(self) -> dict[str, str]:
        return {name: vm["metadata"]["labels"]["round"] for name, vm in self.vms().items()}

    def annotate(self, name: str, value: str) -> None:
        """Writes to a VM as somebody else."""
        body = {"metadata": {"annotations": {"example.com/note": value}}}
        self._vms.patch_namespaced_custom_object(*VMS, self.namespace, "virtualmachines", name, body)

    def revisions(self) -> list[str]:
        """The VMs that have captured the instancetype, one for each ControllerRevision."""
        kind = "instancetype.kubevirt.io/object-kind"
        result = self._apps.list_namespaced_controller_revision(self.namespace, label_selector=kind).items
        return sorted(item.metadata.owner_references[0].name for item in result)

    def judge(self, names: list[str], label: str) -> None:
        """Just these VMs are there, just so, each with one revision, and nothing is left to do."""
        assert self.labels() == dict.fromkeys(names, label)
        assert self.revisions() == sorted(names)
        self.faulty.rules()
        again = self.declare(names, label)
        assert not again["changed"], again
        assert self.faulty.counts()["writes"] == 0


def names(count: int) -> list[str]:
    return [f"vm-{number:04}" for number in range(count)]


def failures(result: Manifest) -> dict[str, str]:
    return {item["name"]: item["msg"] for item in result["results"] if item["failed"]}


def finished(process: subprocess.Popen[str]) -> Manifest:
    """The result of a module that was begun."""
    output, errors = process.communicate(timeout=2 * TIMEOUT)
    assert process.returncode == 0, errors
    result: Manifest = json.loads(output)
    return result
