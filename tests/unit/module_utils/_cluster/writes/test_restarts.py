"""The VMs of a task that restart, the moment, and the messages about the others."""

import threading
from collections import Counter
from typing import Any

import pytest

from plugins.module_utils._cluster.reads.lookup import ClusterLookup
from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes.engine import run
from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.change import guest_steps
from plugins.module_utils._resolver.change.declared import APPLY, NOT_PLANNED, DeclareJob, declare_job
from plugins.module_utils._resolver.change.step import REQUEST, Seen
from plugins.module_utils._resolver.change.vm_restart_steps import restart_steps
from plugins.module_utils._resolver.change.vm_restarts import may_restart, waits_for_restart
from plugins.module_utils._resolver.declare import plan
from plugins.module_utils._resolver.guest.effect import LIVE, NOTHING, RESTART, GuestEffect
from scripted_server import Manifest, listed, session_with

REQUIRED = {"type": "RestartRequired", "status": "True"}
# The guests that run have fewer cores.
TEMPLATE: Manifest = {"spec": {"domain": {"devices": {}, "cpu": {"cores": 4}}}}


class Cluster:
    """VMs in namespaces, by the end of their names: `r` needs a restart once virt-controller has looked, `l` does not,
    `n` is never looked at."""

    def __init__(self, *labels: str) -> None:
        self.labels = labels
        self.looked = False
        self.asked: Counter[str] = Counter()
        self.restarted: list[str] = []

    def vm(self, label: str) -> Manifest:
        namespace, name = label.split("/")
        looked = self.looked and not name.endswith("n")
        waits = looked and name.endswith("r") and label not in self.restarted
        status = {
            "created": True,
            "ready": True,
            "printableStatus": "Running",
            "desiredGeneration": 2 if looked else 1,
            "conditions": [REQUIRED] if waits else [],
        }
        metadata = {"name": name, "namespace": namespace, "uid": name, "generation": 2}
        return {"metadata": metadata, "spec": {"runStrategy": "Always", "template": TEMPLATE}, "status": status}

    def instance(self, label: str) -> Manifest:
        uid = "new" if label in self.restarted else "old"
        namespace, name = label.split("/")
        metadata = {"name": name, "namespace": namespace, "uid": uid}
        spec = TEMPLATE["spec"] if uid == "new" else {"domain": {"devices": {}}}
        return {"metadata": metadata, "spec": spec, "status": {"phase": "Running"}}

    def __call__(self, method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        parts = path.split("/namespaces/")[1].split("/")
        namespace, plural, name = parts[0], parts[1], parts[2] if len(parts) > 2 else ""
        if method == "PUT":
            self.asked[f"{namespace} {parts[3]}"] += 1
            self.restarted.append(f"{namespace}/{name}")
            return 202, {}
        make = self.instance if plural == "virtualmachineinstances" else self.vm
        mine = [label for label in self.labels if label.startswith(f"{namespace}/")]
        if query.get("watch"):
            self.asked[f"{namespace} watch"] += 1
            self.looked = True
            return 200, [{"type": "MODIFIED", "object": make(label)} for label in mine]
        return (200, make(f"{namespace}/{name}")) if name else (200, listed(*(make(label) for label in mine)))


def unchanged(cluster: Cluster, label: str = "shop/a-r") -> DeclareJob:
    key = ObjectKey("VirtualMachine", *label.split("/"))
    job = declare_job(key, "present", {})
    job.seen = Seen(cluster.vm(label))
    return job


def changed(cluster: Cluster, label: str, needs: str) -> DeclareJob:
    result = unchanged(cluster, label)
    result.goal.plan = NOT_PLANNED._replace(action=plan.APPLY)
    result.goal.effect, result.written = GuestEffect(needs, requested=needs == RESTART), True
    result.done.append(APPLY)
    return result


def settle(cluster: Cluster, results: list[DeclareJob], wanted: bool = True, seconds: float = 60) -> None:
    with session_with(cluster) as session:
        steps = restart_steps(session.field_manager, permitted=wanted, waits=True)
        task = Task(wait=True, wait_timeout=seconds)
        run(session, results, steps, task, facts=ClusterLookup(session))


def test_one_watch_per_namespace_shows_which_vms_restart() -> None:
    labels = ("shop/a-r", "shop/b-r", "shop/c-l", "lab/d-r")
    cluster = Cluster(*labels)
    # The forecast does not count any more.
    results = [changed(cluster, label, needs) for label, needs in zip(labels, (RESTART, LIVE, LIVE, RESTART))]
    settle(cluster, results)
    assert [REQUEST in result.done for result in results] == [True, True, False, True]
    assert [result.failed for result in results] == [None] * 4
    assert sorted(cluster.restarted) == ["lab/d-r", "shop/a-r", "shop/b-r"]
    # One watch waits until KubeVirt has looked, another until the VMs run again; the first list may show both.
    watches = [cluster.asked[f"{namespace} watch"] for namespace in ("shop", "lab")]
    assert any(watches) and max(watches) <= 3, cluster.asked
    assert not any(waits_for_restart(result) for result in results)


def test_restart_without_condition_needs_permission() -> None:
    cluster = Cluster("shop/a-l")
    result = changed(cluster, "shop/a-l", RESTART)
    result.goal.effect = GuestEffect(RESTART)
    assert waits_for_restart(result)
    settle(cluster, [result], wanted=False)
    assert (waits_for_restart(result), cluster.restarted) == (True, [])
    settle(cluster, [result])
    assert (REQUEST in result.done, result.failed, cluster.restarted) == (True, None, ["shop/a-l"])
    assert not waits_for_restart(result)


class Capturing(Cluster):
    """KubeVirt reports the generation as observed when it has captured a revision, and compares the VM later."""

    def vm(self, label: str) -> Manifest:
        vm = super().vm(label)
        vm["status"]["desiredGeneration"] = 2
        return vm


@pytest.mark.parametrize("wanted", [True, False])
def test_expected_condition_is_awaited_after_a_capture(wanted: bool) -> None:
    cluster = Capturing("shop/a-r")
    result = changed(cluster, "shop/a-r", RESTART)
    settle(cluster, [result], wanted)
    assert (REQUEST in result.done, result.failed, waits_for_restart(result)) == (wanted, None, not wanted)


@pytest.mark.parametrize("seconds", [60, 0.1])
def test_missing_restart_condition_causes_no_restart(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest_steps, "_COMPARED", 0.5)
    cluster = Cluster("shop/a-l")
    result = changed(cluster, "shop/a-l", RESTART)
    settle(cluster, [result], seconds=seconds)
    assert (REQUEST in result.done, result.failed, waits_for_restart(result)) == (False, None, False)


def test_condition_outlives_a_guest_that_was_stopped() -> None:
    cluster = Cluster("shop/a-r")
    cluster.looked = True
    result = changed(cluster, "shop/a-r", NOTHING)
    assert waits_for_restart(result)
    (result.seen.live or {})["spec"]["runStrategy"] = "Halted"
    assert not waits_for_restart(result)


def test_planned_restart_leaves_none_pending() -> None:
    planned = changed(Cluster("shop/a-r"), "shop/a-r", RESTART)
    planned.written = False
    planned.done.append(REQUEST)
    assert not waits_for_restart(planned)


def test_unchanged_vm_with_recent_change_is_awaited() -> None:
    labels = ("shop/a-r", "shop/b-l")
    cluster = Cluster(*labels)
    results = [unchanged(cluster, label) for label in labels]
    settle(cluster, results)
    assert [(REQUEST in result.done, result.failed) for result in results] == [(True, None), (False, None)]


def test_guest_that_could_not_restart_keeps_running() -> None:
    cluster = Cluster("shop/a-r")
    cluster.looked = True
    result = unchanged(cluster)
    lost = {"type": "Failure", "status": "True", "reason": "FailedFindInstancetype"}
    (result.seen.live or {})["status"]["conditions"].append(lost)
    assert waits_for_restart(result) and not may_restart(result)
    settle(cluster, [result])
    assert (REQUEST in result.done, cluster.restarted) == (False, [])


class Late(Cluster):
    """The new guests appear while somebody watches."""

    def __init__(self, *labels: str) -> None:
        super().__init__(*labels)
        self.up = False

    def instance(self, label: str) -> Manifest:
        created = super().instance(label)
        created["metadata"]["uid"] = "new" if self.up else "old"
        return created

    def __call__(self, method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if method == "GET" and "/virtualmachineinstances/" in path:
            self.asked["single guests"] += 1
        self.up = self.up or bool(self.restarted and query.get("watch"))
        return super().__call__(method, path, query)


def test_new_guests_are_watched_for_together() -> None:
    labels = [f"shop/{number}-r" for number in range(6)]
    cluster = Late(*labels)
    results = [changed(cluster, label, RESTART) for label in labels]
    settle(cluster, results)
    assert [(REQUEST in result.done, result.failed) for result in results] == [(True, None)] * 6
    assert cluster.asked["single guests"] == 0


def test_restart_has_its_own_time_to_wait() -> None:
    cluster = Late("shop/a-r", "shop/b-n")
    results = [changed(cluster, label, RESTART) for label in ("shop/a-r", "shop/b-n")]
    settle(cluster, results, seconds=2)
    assert [(REQUEST in result.done, bool(result.failed)) for result in results] == [(True, False), (False, True)]


def test_generations_are_bumped_concurrently() -> None:
    met = threading.Barrier(2, timeout=20)

    class Meeting(Cluster):
        def __call__(self, method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
            if "/controllerrevisions/" in path:
                met.wait()
                return 404, {"reason": "NotFound", "message": "not found"}
            return super().__call__(method, path, query)

    cluster = Meeting("shop/a-r", "shop/b-r")
    settle(cluster, [changed(cluster, label, RESTART) for label in ("shop/a-r", "shop/b-r")])
    assert not met.broken and len(cluster.restarted) == 2


def test_change_unseen_by_controller_fails_without_restart() -> None:
    cluster = Cluster("shop/a-n")
    results = [changed(cluster, "shop/a-n", RESTART)]
    settle(cluster, results, seconds=0.2)
    assert (REQUEST in results[0].done, cluster.restarted) == (False, [])
    assert "virt-controller to look at the change" in str(results[0].failed)


def test_change_unseen_by_guest_needs_no_request() -> None:
    cluster = Cluster("shop/a-r")
    settle(cluster, [changed(cluster, "shop/a-r", NOTHING)])
    assert cluster.asked == {}


def test_restart_pending_from_earlier_run_is_done() -> None:
    cluster = Cluster("shop/a-r")
    cluster.looked = True
    result = unchanged(cluster)
    assert waits_for_restart(result) and may_restart(result)
    settle(cluster, [result])
    assert (REQUEST in result.done, result.changed, cluster.restarted) == (True, True, ["shop/a-r"])


def test_predicted_impact_counts_before_the_write() -> None:
    cluster = Cluster("shop/a-l")
    for needs, waits in ((RESTART, True), (LIVE, False), (NOTHING, False)):
        planned = changed(cluster, "shop/a-l", needs)
        planned.written = False
        assert (waits_for_restart(planned), may_restart(planned)) == (waits, waits)
    halted = changed(cluster, "shop/a-l", RESTART)
    halted.see({**cluster.vm("shop/a-l"), "spec": {"runStrategy": "Halted"}})
    assert not may_restart(halted)


class Replacing(Cluster):
    """Somebody else's restart: the old guest has gone by the first look at it (`gone`), else by our own request."""

    def __init__(self, gone: bool) -> None:
        super().__init__("shop/a-r")
        self.looked = True
        self.gone = gone

    def __call__(self, method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if self.gone and path.endswith("virtualmachineinstances/a-r"):
            self.gone = False
            self.restarted.append("shop/a-r")
            return 404, {"reason": "NotFound", "message": "not found"}
        answer = super().__call__(method, path, query)
        if method == "PUT":
            return 409, {"reason": "Conflict", "message": "unable to complete request: stop/start already underway"}
        return answer


@pytest.mark.parametrize(("gone", "requests"), [(True, 0), (False, 1)])
def test_guest_restarted_meanwhile_is_not_restarted_again(gone: bool, requests: int) -> None:
    cluster = Replacing(gone)
    result = unchanged(cluster)
    settle(cluster, [result])
    assert (result.failed, REQUEST in result.done, cluster.asked["shop restart"]) == (None, False, requests)


class Stopped(Cluster):
    """Somebody stops the guest of a VM that does not start by itself, after the first look at it."""

    def __init__(self) -> None:
        super().__init__("shop/a-r")
        self.looked = True

    def vm(self, label: str) -> Manifest:
        return {**super().vm(label), "spec": {"runStrategy": "Manual", "template": TEMPLATE}}

    def __call__(self, method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if path.endswith("virtualmachineinstances/a-r"):
            self.asked["guest"] += 1
            if self.asked["guest"] > 1:
                return 404, {"reason": "NotFound", "message": "not found"}
        return super().__call__(method, path, query)


def test_stopped_guest_is_neither_restarted_nor_awaited() -> None:
    cluster = Stopped()
    result = unchanged(cluster)
    settle(cluster, [result])
    assert (result.failed, REQUEST in result.done, cluster.restarted) == (None, False, [])
