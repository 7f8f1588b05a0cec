"""The run and KubeVirt do with a running VM and its guest what check mode says of a change.

VMs get random changes, one after the other, each in check mode first. VIRTSHAPE_TEST_CHANGES is their rough number;
VIRTSHAPE_TEST_SEED draws others.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from modules_support import by_name, execute
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._cluster.reads.kubevirt import kubevirt
from plugins.module_utils._resolver.api import behaviour
from plugins.module_utils._resolver.api.kinds import KINDS
from plugins.module_utils._resolver.kubevirt.vm.vmi import guest_figures

Manifest = dict[str, Any]
Result = dict[str, Any]

VM, VMI, INSTANCETYPE, PREFERENCE = (
    KINDS[kind]
    for kind in ("VirtualMachine", "VirtualMachineInstance", "VirtualMachineInstancetype", "VirtualMachinePreference")
)
CHANGES = int(os.environ.get("VIRTSHAPE_TEST_CHANGES", "40"))
SEED = int(os.environ.get("VIRTSHAPE_TEST_SEED", "1"))
# VMs of a task, and the changes of each.
TOGETHER = 20
ROUNDS = min(5, -(-CHANGES // TOGETHER))
TYPES = {"small": (1, "1Gi"), "two": (2, "1Gi"), "large": (1, "3Gi"), "both": (2, "2Gi")}
PREFERENCES = {
    "cores": {"cpu": {"preferredCPUTopology": "cores"}},
    "sata": {"devices": {"preferredDiskBus": "sata"}},
    "e1000": {"devices": {"preferredInterfaceModel": "e1000"}},
}
FIGURES = ("sockets", "cores", "threads", "memory")
# These are equal in check mode, in the run and, as far as a guest tells it, in the cluster.
FORECAST = (
    "action",
    "changed",
    "failed",
    "msg",
    "needs",
    "restart_reason",
    "restart_required",
    "restarted",
    "guest_before",
    "guest_after",
    "changes",
    "warnings",
)


def drawn(random: Random, name: str, keeps_matchers: bool) -> Manifest:
    """The options of a VM. keeps_matchers: it has an instancetype and a preference, whatever is drawn."""

    def sometimes(chance: float) -> bool:
        return random.random() < chance

    entry: Manifest = {"name": name}
    spec: Manifest = {}
    if sometimes(0.7) or keeps_matchers:
        entry["instancetype"] = {"name": random.choice(list(TYPES)), "kind": INSTANCETYPE.kind}
    else:
        entry["cpu"] = {"sockets": random.randint(1, 3), "cores": random.choice([1, 1, 2]), "threads": 1}
        entry["memory"] = random.choice(["1Gi", "2Gi", "1536Mi"])
    if sometimes(0.4) or keeps_matchers:
        entry["preference"] = {"name": random.choice(list(PREFERENCES)), "kind": PREFERENCE.kind}
    entry["volumes"] = [{"name": "root", "container_disk": f"registry.example.com/disk:{random.choice('1112')}"}]
    if sometimes(0.3):
        hotplug = {"name": "data", "persistentVolumeClaim": {"claimName": "data", "hotpluggable": True}}
        spec["volumes"] = [hotplug]
        spec["domain"] = {"devices": {"disks": [{"name": "data", "disk": {"bus": "scsi"}}]}}
    if sometimes(0.5):
        lan = {"name": "lan", "multus": random.choice(["lan", "wan"])}
        entry["networks"] = [{}, lan] if sometimes(0.5) else [{}]
    if sometimes(0.2):
        entry["labels"] = {"tier": random.choice(["web", "db"])}
    if sometimes(0.2):
        entry["tolerations"] = [{"key": "a", "operator": "Exists"}]
    if sometimes(0.2):
        entry["node_selector"] = {"kubernetes.io/os": "linux"}
    if sometimes(0.2):
        entry["termination_grace_period"] = random.choice([0, 5])
    if sometimes(0.1):
        spec["hostname"] = random.choice(["one", "two"])
    if sometimes(0.1):
        entry["efi"] = {"secure_boot": False}
    if sometimes(0.1):
        entry["run_strategy"] = random.choice(["Always", "RerunOnFailure", "Manual", "Halted"])
    if sometimes(0.1):
        entry["cloud_init"] = {"user": random.choice(["one", "two"])}
    template: Manifest = {"spec": spec} if spec else {}
    if sometimes(0.2):
        template["metadata"] = {"labels": {"tier": "web"}}
    return {**entry, "template": template} if template else entry


def made(session: Session, namespace: str) -> None:
    """Makes what the VMs name."""
    claim = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Mi"}}}
    network = {"config": '{"cniVersion": "0.3.1", "type": "bridge"}'}
    sizes = {name: {"cpu": {"guest": cpu}, "memory": {"guest": memory}} for name, (cpu, memory) in TYPES.items()}
    objects = [
        *((INSTANCETYPE, name, size) for name, size in sizes.items()),
        *((PREFERENCE, name, spec) for name, spec in PREFERENCES.items()),
        (KINDS["PersistentVolumeClaim"], "data", claim),
        *((KINDS["NetworkAttachmentDefinition"], name, network) for name in ("lan", "wan")),
    ]
    for kind, name, spec in objects:
        metadata = {"name": name, "namespace": namespace}
        manifest = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}
        session.request("POST", kind.path(namespace), retry=True, body=manifest)


def test_predicted_impact_matches_the_cluster(session: Session, cluster: Path, namespace: str) -> None:
    made(session, namespace)
    random, differences, done = Random(SEED), [], 0
    # virt-controller would crash.
    keeps_matchers = kubevirt(session).release.has(behaviour.CRASHES_WITHOUT_MATCHER)
    while done < CHANGES:
        names = [f"vm-{done}-{number}" for number in range(TOGETHER)]
        fleet = Fleet(session, cluster, namespace)
        fleet.declare(
            [{**drawn(random, name, keeps_matchers), "run_strategy": "Always"} for name in names], restart="never"
        )
        for _round in range(ROUNDS):
            entries = [drawn(random, name, keeps_matchers) for name in names]
            differences += fleet.change(entries, random.choice(["never", "if_required"]))
            done += TOGETHER
        fleet.remove(names)
    assert not differences, "\n".join([f"{len(differences)} of {done} (seed {SEED}):", *differences])


def test_network_is_plugged_although_a_restart_is_pending(session: Session, cluster: Path, namespace: str) -> None:
    made(session, namespace)
    fleet = Fleet(session, cluster, namespace)
    web: Manifest = {"name": "web", "memory": "1Gi", "volumes": [{"name": "root", "container_disk": "example.com/a:1"}]}
    lan = {"name": "lan", "multus": "lan"}
    fleet.declare([{**web, "networks": [{}]}], restart="never")
    changed = {**web, "networks": [{}, lan], "template": {"spec": {"hostname": "one"}}}
    assert fleet.change([changed], "never") == []

    def has_lan(instance: Manifest) -> bool:
        return len(instance["spec"]["networks"]) == 2

    instance = fleet.awaited(VMI, "web", has_lan)
    assert has_lan(instance) and "hostname" not in instance["spec"]
    # Stopped, it keeps the condition.
    assert fleet.change([{**changed, "run_strategy": "Halted"}], "never") == []
    vm = fleet.awaited(VM, "web", lambda item: item["status"]["printableStatus"] == "Stopped")
    assert asks_for_restart(vm)
    result = fleet.declare([changed], restart="never")["web"]
    assert (result["changed"], result["restart_required"]) == (False, False)


class Fleet:
    """VMs of a task, and how they were declared before."""

    def __init__(self, session: Session, cluster: Path, namespace: str) -> None:
        self._session, self._cluster, self._namespace = session, cluster, namespace
        self._before: dict[str, Manifest] = {}
        # The guests of their next start.
        self._wanted: dict[str, Manifest] = {}

    def _run(self, *, check: bool = False, **options: Any) -> dict[str, Result]:
        shared = {"kubeconfig": str(self._cluster), "namespace": self._namespace}
        done = execute("virtual_machine", {**shared, **options}, check=check)
        assert "results" in done, done
        return by_name(done["results"])

    def declare(self, entries: list[Manifest], **options: Any) -> dict[str, Result]:
        done = self._run(virtual_machines=entries, wait=True, **options)
        self._before.update((entry["name"], entry) for entry in entries if not done[entry["name"]]["failed"])
        return done

    def _foreseen(self, result: Result) -> tuple[Manifest, Manifest]:
        """The guest of the next start, before and after a change."""
        before = self._wanted.get(result["name"]) or result.get("guest_before") or {}
        self._wanted[result["name"]] = after = result.get("guest_after") or before
        return before, after

    def remove(self, names: list[str]) -> None:
        self._run(virtual_machines=[{"name": name} for name in names], state="absent")

    def change(self, entries: list[Manifest], restart: str) -> list[str]:
        """The differences between the forecast, the run and the cluster."""
        instances = self._by_name(VMI)
        forecast = self._run(virtual_machines=entries, restart=restart, check=True)
        before = dict(self._before)
        done = self.declare(entries, restart=restart)
        matches = []
        for entry in entries:
            name = entry["name"]
            output = [
                f"{key}: {forecast[name].get(key)!r} in check mode, {done[name].get(key)!r} in the run"
                for key in FORECAST
                if forecast[name].get(key) != done[name].get(key)
            ]
            if not done[name]["failed"]:
                output += self._judged(done[name], instances.get(name), *self._foreseen(done[name]))
            if output:
                output += [f"before: {before.get(name)}", f"after: {entry}", f"restart: {restart}"]
                matches.append("\n  ".join([f"{name}: {done[name].get('needs')}", *output]))
        again = self._run(virtual_machines=entries, restart=restart, check=True)
        for name, result in again.items():
            if not done[name]["failed"] and (result["changed"] or result["restarted"]):
                matches.append(f"{name}: again: {result} after {done[name]}")
        return matches

    def _by_name(self, kind: Any) -> dict[str, Manifest]:
        objects = self._session.list(kind, self._namespace)
        return {item["metadata"]["name"]: item for item in objects}

    def _judged(self, result: Result, before: Manifest | None, pending: Manifest, foreseen: Manifest) -> Iterator[str]:
        """The differences between the cluster and the words of the run. pending: the effect that an earlier change
        foresaw."""
        name = result["name"]
        needs = result.get("needs", "nothing")
        announced = "does not ask for a restart" not in result.get("restart_reason", "")
        asks = result["restart_required"] and announced
        # The condition outlives a guest that was stopped.
        if before is None or result["run_strategy"] == "Halted":
            return
        # Before 1.8, the condition stays though a change is undone. KubeVirt may ask for what the guest has.
        has_all = needs == "nothing" and "restart_reason" in result
        may_ask = has_all or (kubevirt(self._session).release.has(behaviour.KEEPS_RESTART_CONDITION) and not asks)
        vm = self.awaited(VM, name, lambda one: _is_observed(one) and (may_ask or asks_for_restart(one) == asks))
        if asks_for_restart(vm) != asks and not may_ask:
            yield f"RestartRequired: {asks_for_restart(vm)}"
        reached = needs == "live_update" or result["restarted"]
        # KubeVirt may plug sockets, memory, networks and volumes although something else waits for a restart.
        partly = needs == "restart" and not reached
        was = guest_figures(before["spec"])
        # A pending change, too, once what it had waited for is taken back.
        allowed = [was, pending, foreseen] if partly else [foreseen if reached else was]

        def is_foreseen(one: Manifest) -> bool:
            has = guest_figures(one["spec"])
            return all(has.get(figure) in [one.get(figure) for one in allowed] for figure in FIGURES)

        now = self.awaited(VMI, name, is_foreseen)
        if (now["metadata"]["uid"] != before["metadata"]["uid"]) != result["restarted"]:
            yield f"restarted: {result['restarted']}"
        if not is_foreseen(now):
            yield f"guest: {guest_figures(now['spec'])}, foreseen {allowed}"
        if not partly and (now["spec"] != before["spec"]) != reached:
            yield f"the guest's spec: {now['spec']}, before {before['spec']}"

    def awaited(self, kind: Any, name: str, holds: Callable[[Manifest], bool]) -> Manifest:
        end = time.monotonic() + 20
        while True:
            result = self._session.get(kind, self._namespace, name)
            if (result is not None and holds(result)) or time.monotonic() > end:
                return result or {}
            time.sleep(0.1)


def _is_observed(one: Manifest) -> bool:
    status = one.get("status") or {}
    # observedGeneration is that of the guest's start.
    return bool(status.get("desiredGeneration") == one["metadata"]["generation"])


def asks_for_restart(one: Manifest) -> bool:
    conditions = (one.get("status") or {}).get("conditions") or ()
    return any(entry["type"] == "RestartRequired" and entry["status"] == "True" for entry in conditions)
