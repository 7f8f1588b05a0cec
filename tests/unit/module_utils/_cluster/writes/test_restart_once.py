"""No guest is restarted twice for the same refresh, whatever the cluster answers."""

import copy
import threading
from collections import Counter
from typing import Any

import pytest

from plugins.module_utils._cluster.reads.lookup import ClusterLookup
from plugins.module_utils._cluster.reads.revisions import inspect
from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes import engine, waits
from plugins.module_utils._cluster.writes.revisions import change
from plugins.module_utils._resolver.api.matcher import MATCHER_FIELDS, ObjectKey
from plugins.module_utils._resolver.change.declared import DeclareJob, declare_job
from plugins.module_utils._resolver.change.revision_change import refresh
from plugins.module_utils._resolver.change.revision_steps import (
    RevisionJob,
    is_changed,
    is_restarted,
    needs,
    needs_restart_still,
)
from plugins.module_utils._resolver.change.step import REQUEST, Seen
from plugins.module_utils._resolver.change.vm_restart_steps import restart_steps
from plugins.module_utils._resolver.kubevirt.cluster import Cluster
from plugins.module_utils._resolver.kubevirt.instancetype import revision_store
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.kubevirt.vm import vmi
from scripted_server import Manifest, listed, session_with, status

ASKED = "a non-live-updatable field was changed in the template spec"


class RestartingVM:
    """A running VM of an instancetype that was changed, on a cluster that asks for a restart from then on and for ever.

    As KubeVirt does from 1.7 on, it keeps the start revision of a generation. forbidden: what is answered with `code`,
    `status` or `vm`. refused: whether KubeVirt does not accept the VM any more once it is refreshed.
    """

    def __init__(self, *forbidden: str, refused: bool = False) -> None:
        self.forbidden, self.refused, self.code = forbidden, refused, 403
        self.asked: Counter[str] = Counter()
        self.restarts = 0
        self._lock = threading.Lock()
        self.vm: Manifest = {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "metadata": {"name": "db", "namespace": "shop", "uid": "vm", "generation": 1, "resourceVersion": "1"},
            "spec": {
                "runStrategy": "Always",
                "instancetype": {"name": "size", "kind": "VirtualMachineInstancetype"},
                "template": {"spec": {"domain": {"devices": {}}}},
            },
            "status": {"created": True, "ready": True, "printableStatus": "Running", "desiredGeneration": 1},
        }
        self.size = _size(1, 4)
        self.kept = {"old": self._revision(_size(1, 4))}
        self._refer("old")
        self.started: dict[str, Manifest] = {}
        self.instance = self._start()
        self.size = _size(2, 8)
        self.kept["new"] = self._revision(self.size)

    def _revision(self, size: Manifest) -> Manifest:
        created = revision_store.controller_revision(self.vm, size)
        return {"apiVersion": "apps/v1", "kind": "ControllerRevision", **created}

    def _refer(self, which: str) -> None:
        reference = {"name": self.kept[which]["metadata"]["name"]}
        kind = self.vm["spec"]["instancetype"]["kind"]
        self.vm["status"]["instancetypeRef"] = {"name": "size", "kind": kind, "controllerRevisionRef": reference}

    def _start(self) -> Manifest:
        name = f"revision-start-vm-vm-{self.vm['metadata']['generation']}"
        if name not in self.started:
            spec = copy.deepcopy(self.vm["spec"])
            spec["instancetype"]["revisionName"] = self.vm["status"]["instancetypeRef"]["controllerRevisionRef"]["name"]
            metadata = {"name": name, "namespace": "shop"}
            self.started = {name: {"kind": "ControllerRevision", "metadata": metadata, "data": {"spec": spec}}}
        built = vmi.build(self.vm, Cluster(Objects([*self.kept.values(), self.size])))
        return {
            "metadata": {"name": "db", "namespace": "shop", "uid": f"guest-{self.restarts}"},
            "spec": built.spec,
            "status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": "True"}],
                "virtualMachineRevisionName": name,
            },
        }

    def __call__(self, method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        with self._lock:
            self.asked[f"{method} {path.rsplit('/', 1)[1]}{' dry' if query.get('dryRun') else ''}"] += 1
            if method == "PUT" and path.endswith("/restart"):
                self.restarts += 1
                self.instance = self._start()
                return 202, {}
            if method == "PATCH":
                return self._patched(path, query)
            return self._read(path, query)

    def _patched(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        part = "status" if path.endswith("/status") else "vm"
        if part in self.forbidden:
            return status(self.code, f"{part} is forbidden", "Forbidden")
        refreshed = "conditions" in self.vm["status"]
        if query.get("dryRun"):
            return status(422, "gate X is off", "Invalid") if part == "vm" and self.refused else (200, self.vm)
        if part == "vm":
            self.vm["metadata"]["generation"] += 1
            self.vm["status"]["desiredGeneration"] = self.vm["metadata"]["generation"]
        if self.refused and refreshed:
            self._refer("old")
        elif part == "status" or "status" in self.forbidden:
            self._refer("new")
            self.vm["status"]["conditions"] = [{"type": "RestartRequired", "status": "True", "message": ASKED}]
        return 200, self.vm

    def _read(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        collections = {
            "virtualmachines": [self.vm],
            "virtualmachineinstances": [self.instance],
            "controllerrevisions": [*self.kept.values(), *self.started.values()],
            "virtualmachineinstancetypes": [self.size],
        }
        plural = next((entry for entry in collections if entry in path.split("/")), "")
        items = collections.get(plural, [])
        if query.get("watch"):
            return 200, [{"type": "MODIFIED", "object": item} for item in items]
        if not path.endswith(f"/{plural}"):
            result = [item for item in items if item["metadata"]["name"] == path.rsplit("/", 1)[1]]
            return (200, result[0]) if result else status(404, "not found", "NotFound")
        return 200, listed(*items)


def _size(generation: int, sockets: int, guest: int = 1) -> Manifest:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "size", "namespace": "shop", "uid": "size", "generation": generation},
        "spec": {"cpu": {"guest": guest, "maxSockets": sockets}, "memory": {"guest": "2Gi"}},
    }


class Busy(RestartingVM):
    """A cluster that neither plugs the change nor asks for a restart. under_way: the guest's condition, if any."""

    def __init__(self, under_way: str | None = None) -> None:
        super().__init__()
        self.instance["spec"]["domain"]["cpu"]["maxSockets"] = 4
        self.instance["status"]["conditions"].append({"type": "LiveMigratable", "status": "True"})
        self.size = _size(2, 4, guest=2)
        self.kept["new"] = self._revision(self.size)
        if under_way:
            self.instance["status"]["conditions"].append({"type": under_way, "status": "True"})

    def _patched(self, path: str, query: dict[str, str]) -> tuple[int, Any]:
        answer = super()._patched(path, query)
        self.vm["status"].pop("conditions", None)
        return answer


def run(cluster: RestartingVM, restart: str = "if_required", check: bool = False, seconds: float = 20) -> RevisionJob:
    with session_with(cluster) as session:
        inspected = inspect(session, "shop")
        settings = Task(check_mode=check, wait_timeout=seconds, concurrency=2)
        results = change(session, inspected, lambda item: refresh(item, MATCHER_FIELDS), restart, settings)
    return results[0]


@pytest.mark.parametrize("forbidden", [(), ("vm",)])
def test_guest_restarts_once_although_condition_remains(forbidden: tuple[str, ...]) -> None:
    cluster = RestartingVM(*forbidden)
    first = run(cluster)
    assert (first.failed, is_restarted(first), cluster.restarts) == (None, True, 1)
    assert first.seen.live is not None and first.seen.live["status"]["conditions"]
    assert not needs_restart_still(first)
    assert any(ASKED in warning and "does not restart the guest again" in warning for warning in first.warnings)
    for restart in ("if_required", "always", "never"):
        again = run(cluster, restart)
        assert (again.failed, is_changed(again), is_restarted(again), cluster.restarts) == (None, False, False, 1), (
            restart
        )
        assert (again.goal.guest_current, needs_restart_still(again)) == (True, False)
        assert any("already matches the virtual machine" in warning for warning in again.warnings)


@pytest.mark.parametrize("restart", ["never", "if_required"])
def test_forbidden_generation_bump_warns_once(restart: str) -> None:
    result = run(RestartingVM("vm"), restart)
    reset = [warning for warning in result.warnings if warning.startswith("cannot reset the condition RestartRequired")]
    assert (result.failed, len(reset)) == (None, 1)
    assert "vm is forbidden" in reset[0]


def declare(cluster: RestartingVM) -> DeclareJob:
    """The outcome of a task that declares the VM as it is, and may restart it."""
    result = declare_job(ObjectKey("VirtualMachine", "shop", "db"), "present", {})
    result.seen = Seen(cluster.vm)
    with session_with(cluster) as session:
        steps = restart_steps(session.field_manager, permitted=True, waits=True)
        engine.run(session, [result], steps, Task(wait=True), facts=ClusterLookup(session))
    return result


@pytest.mark.parametrize(("code", "failed"), [(403, None), (422, "the restart failed: vm is forbidden")])
def test_declared_vm_whose_generation_cannot_be_bumped(code: int, failed: str | None) -> None:
    cluster = RestartingVM("vm")
    run(cluster, "never")
    cluster.code = code
    result = declare(cluster)
    assert (REQUEST in result.done, result.failed, cluster.restarts) == (failed is None, failed, failed is None)
    denied = any(item.startswith("cannot reset the condition RestartRequired") for item in result.warnings)
    assert denied is (failed is None)


def test_generation_is_bumped_before_the_status_patch() -> None:
    cluster = RestartingVM()
    run(cluster, "never")
    # Set and removed, so that the guest's next start is judged by a revision of its own.
    assert (cluster.vm["metadata"]["generation"], cluster.asked["PATCH db"]) == (3, 2)
    assert is_restarted(run(cluster))
    assert (cluster.restarts, cluster.instance["status"]["virtualMachineRevisionName"]) == (1, "revision-start-vm-vm-3")


def test_next_run_makes_the_missing_restart() -> None:
    cluster = RestartingVM()
    result = run(cluster, "never")
    assert (is_restarted(result), needs(result), needs_restart_still(result)) == (False, "restart", True)
    assert cluster.restarts == 0
    assert is_restarted(run(cluster, check=True)) and cluster.restarts == 0
    assert is_restarted(run(cluster)) and cluster.restarts == 1
    assert not is_changed(run(cluster)) and cluster.restarts == 1


def test_next_run_makes_a_restart_without_condition() -> None:
    cluster = RestartingVM()
    run(cluster, "never")
    del cluster.vm["status"]["conditions"]
    done = run(cluster)
    assert (is_restarted(done), done.warnings, cluster.restarts) == (True, [], 1)
    assert not is_changed(run(cluster)) and cluster.restarts == 1


class Rival(RestartingVM):
    """Somebody else restarts the VM: at the moment of our request, or (`early`) just before it."""

    def __init__(self, early: bool) -> None:
        super().__init__()
        self.early, self.looks = early, 0

    def __call__(self, method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        self.looks += method == "GET" and path.endswith("virtualmachineinstances/db")
        # The second look at the guest is the one before the request.
        if self.early and self.looks == 2 and not self.restarts:
            self.restarts += 1
            self.instance = self._start()
        answer = super().__call__(method, path, query)
        if method == "PUT":
            return status(409, "unable to complete request: stop/start already underway", "Conflict")
        return answer


@pytest.mark.parametrize("early", [False, True])
def test_foreign_restart_is_awaited_not_reported(early: bool) -> None:
    cluster = Rival(early)
    run(cluster, "never")
    cluster.asked.clear()
    cluster.looks = 0
    result = run(cluster)
    assert (result.failed, is_restarted(result), is_changed(result), cluster.restarts) == (None, False, False, 1)
    assert result.goal.guest_current and not needs_restart_still(result)
    assert cluster.asked["PUT restart"] == (0 if early else 1)


def test_vm_that_could_not_start_gets_revision_back() -> None:
    cluster = RestartingVM(refused=True)
    result = run(cluster)
    assert (cluster.restarts, is_restarted(result), is_changed(result)) == (0, False, False)
    assert "could not start the VM after the change" in str(result.failed) and "gate X is off" in str(result.failed)
    assert "the task restored the previous revisions" in str(result.failed)
    reference = cluster.vm["status"]["instancetypeRef"]["controllerRevisionRef"]["name"]
    assert reference == cluster.kept["old"]["metadata"]["name"]


def test_declared_vm_does_not_restart_guest_again() -> None:
    cluster = RestartingVM()
    run(cluster)
    result = declare(cluster)
    assert (REQUEST in result.done, result.failed, cluster.restarts) == (False, None, 1)
    assert any("does not restart the guest again" in warning for warning in result.warnings)


def test_declared_vm_restarts_guest_left_by_refresh() -> None:
    cluster = RestartingVM()
    run(cluster, "never")
    result = declare(cluster)
    assert (REQUEST in result.done, result.failed, cluster.restarts) == (True, None, 1)


def test_late_live_update_fails_unless_restart_is_never() -> None:
    """A task that may restart should have given the guest the change; for others KubeVirt decides when."""
    never, cluster = Busy(), Busy()
    result = run(never, restart="never", seconds=0.5)
    assert (result.failed, is_changed(result), never.restarts) == (None, True, 0)
    assert result.warnings == ["the guest does not have the change yet, and KubeVirt does not ask for a restart"]
    permitted = run(cluster, seconds=0.5)
    assert (permitted.failed, cluster.restarts) == (result.warnings[0], 0)


def test_live_update_behind_an_earlier_update_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a live migration ends the earlier one, so the task does not wait where it must not restart either."""
    permitted = run(Busy("HotVCPUChange"), seconds=0.5)
    assert "has not completed an earlier live update (HotVCPUChange)" in str(permitted.failed)
    monkeypatch.setattr(waits.Backoff, "pause", lambda *_: pytest.fail("the task waits"))
    result = run(Busy("HotVCPUChange"), restart="never")
    assert (result.failed, is_changed(result), result.warnings) == (None, True, [str(permitted.failed)])


def test_live_update_of_another_field_is_not_awaited() -> None:
    result = run(Busy("HotMemoryChange"), restart="never", seconds=0.5)
    assert result.warnings == ["the guest does not have the change yet, and KubeVirt does not ask for a restart"]
