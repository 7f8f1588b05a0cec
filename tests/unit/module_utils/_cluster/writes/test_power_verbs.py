"""Power verbs on VMs: lost answers, migrations, and VMs that cannot be seen, go away, or are changed meanwhile."""

from typing import Any

import pytest

from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes.power import PowerJob, power, power_job
from plugins.module_utils._resolver.change.power_steps import PowerRequest
from plugins.module_utils._resolver.change.step import REQUEST
from scripted_server import Manifest, Store, forbidden, listed, session_with, status

SUBRESOURCES = "/apis/subresources.kubevirt.io/v1/namespaces/shop/"
VMS = "/apis/kubevirt.io/v1/namespaces/{}/virtualmachines"
VMIS = "/apis/kubevirt.io/v1/namespaces/{}/virtualmachineinstances"


def job_for(name: str, state: str, namespace: str = "shop") -> PowerJob:
    return power_job(namespace, name, PowerRequest(state))


def powered(session: Any, jobs: list[PowerJob], task: Task) -> list[PowerJob]:
    power(session, jobs, task)
    return jobs


def verb(job: PowerJob) -> str:
    """The verb that was sent, or would be."""
    return job.goal.verb if REQUEST in job.done else ""


def run(cluster: Any, state: str, *names: str, **settings: Any) -> list[PowerJob]:
    """The jobs for VMs of the namespace shop, by default for one named a. The task waits unless it is said."""
    jobs = [job_for(name, state) for name in names or ("a",)]
    with session_with(cluster) as session:
        return powered(session, jobs, Task(**{"wait": True, **settings}))


class LostAnswers:
    """One running VM. answer: what a verb is answered with, None: the connection is cut. lost: it has no effect."""

    def __init__(self, answer: Any, lost: bool) -> None:
        self.answer = answer
        self.lost = lost
        self.strategy = "Always"
        self.uid: str | None = "1"
        self.verbs: list[str] = []

    def __call__(self, method: str, path: str, _query: dict[str, str]) -> tuple[int, Any] | None:
        if method == "PUT":
            verb = path.removeprefix(SUBRESOURCES)
            self.verbs.append(verb)
            if not self.lost:
                self.strategy, self.uid = ("Halted", None) if verb.endswith("stop") else ("Always", "2")
            answer: tuple[int, Any] | None = self.answer
            return answer
        if path.endswith("virtualmachineinstances/a"):
            if self.uid is None:
                return status(404, "not found", "NotFound")
            return 200, {"metadata": {"name": "a", "uid": self.uid}, "status": {"phase": "Running"}}
        return 200, {"metadata": {"name": "a"}, "spec": {"runStrategy": self.strategy}, "status": {}}


@pytest.mark.parametrize("answer", [None, status(504, "context deadline exceeded")])
@pytest.mark.parametrize(("state", "verb"), [("stopped", "stop"), ("restarted", "restart")])
@pytest.mark.parametrize("lost", [False, True])
def test_a_lost_answer(answer: Any, state: str, verb: str, lost: bool) -> None:
    cluster = LostAnswers(answer, lost)
    (result,) = run(cluster, state, wait=False)
    assert cluster.verbs == [f"virtualmachines/a/{verb}"]
    assert (result.changed, bool(result.failed)) == (not lost, lost)
    if lost:
        assert ("context deadline exceeded" if answer else "cannot reach the API server") in str(result.failed)


def test_verb_without_effect_is_sent_again() -> None:
    cluster = LostAnswers(None, lost=True)
    verbs = cluster.verbs

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        if method == "PUT" and len(verbs) == 1:
            cluster.lost, cluster.answer = False, (202, {})
        return cluster(method, path, query)

    with session_with(answer, retry_timeout=20) as session:
        result = powered(session, [job_for("a", "restarted")], Task(wait=False))[0]
    assert (verb(result), result.failed, len(verbs)) == ("restart", None, 2)


def test_fail_fast_stops_after_the_first_failure() -> None:
    cluster = LostAnswers(status(409, "VM is busy", "Conflict"), lost=True)
    entries = [job_for("a", "stopped"), job_for("a", "paused")]
    with session_with(cluster) as session:
        results = powered(session, entries, Task(wait=False, fail_fast=True, concurrency=1))
    assert [result.failed for result in results] == [
        "VM is busy",
        "not sent because another virtual machine of the task failed and fail_fast is set",
    ]
    assert cluster.verbs == ["virtualmachines/a/stop"]


def test_stopping_vm_is_not_started_without_wait() -> None:
    cluster = LostAnswers((202, {}), lost=True)
    cluster.strategy = "Halted"
    (result,) = run(cluster, "started", wait=False)
    assert (result.failed, cluster.verbs) == ("the VM is still stopping; set wait, or run the task again later", [])


# A migration that is over says nothing of the requested one.
EARLIER = {"migrationUid": "earlier", "completed": True}


class Migrating:
    """Running VMs, on which a verb is answered with `answer`, and the states of a migration that are watched then."""

    def __init__(self, *states: dict[str, Any], answer: tuple[int, Any] = (202, {})) -> None:
        self.states = states
        self.answer = answer
        self.verbs: list[str] = []
        self.watches = 0

    def instance(self, name: str, state: dict[str, Any]) -> dict[str, Any]:
        result = {"phase": "Running", "nodeName": "n1", "migrationState": state}
        return {"metadata": {"name": name, "namespace": "shop", "uid": name}, "status": result}

    def __call__(self, method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if method == "PUT":
            self.verbs.append(path.removeprefix(SUBRESOURCES))
            return self.answer
        state = self.states[0] if self.verbs and self.states else EARLIER
        machines = path.partition("/virtualmachineinstances")[1] != ""
        if query.get("watch"):
            self.watches += 1
            events = [{"type": "MODIFIED", "object": self.instance(n, item)} for item in self.states for n in "ab"]
            return 200, events
        if path.endswith(("/a", "/b")):
            return 200, self._one(path[-1], machines, state)
        return 200, listed(*(self._one(name, machines, state) for name in "ab"))

    def _one(self, name: str, machines: bool, state: dict[str, Any]) -> dict[str, Any]:
        vm = {"metadata": {"name": name, "namespace": "shop"}, "spec": {"runStrategy": "Always"}, "status": {}}
        return self.instance(name, state) if machines else vm


def test_migration_is_requested_and_awaited() -> None:
    begun = {"migrationUid": "m", "targetNode": "n2"}
    cluster = Migrating(begun, {**begun, "completed": True})
    results = run(cluster, "migrated", "a", "b")
    assert sorted(cluster.verbs) == ["virtualmachines/a/migrate", "virtualmachines/b/migrate"]
    assert [(result.changed, result.failed, verb(result)) for result in results] == [(True, None, "migrate")] * 2
    # For both together.
    assert cluster.watches == 1


def test_failed_migration_reports_its_reason() -> None:
    begun = {"migrationUid": "m", "targetNode": "n2"}
    cluster = Migrating(begun, {**begun, "completed": True, "failed": True, "failureReason": "no room on n2"})
    result = run(cluster, "migrated")[0]
    assert (result.changed, result.failed) == (True, "the migration failed: no room on n2")


def test_running_migration_is_awaited_not_requested() -> None:
    under_way = {"migrationUid": "m", "targetNode": "n2"}
    cluster = Migrating(under_way, {**under_way, "completed": True})
    cluster.verbs.append("asked for by another")
    result = run(cluster, "migrated")[0]
    assert (cluster.verbs, result.changed, result.failed) == (["asked for by another"], False, None)
    assert cluster.watches == 1


def test_a_soft_reboot_is_sent_each_time() -> None:
    cluster = Migrating()
    assert [run(cluster, "soft_rebooted")[0].changed for _time in range(2)] == [True, True]
    assert cluster.verbs == ["virtualmachineinstances/a/softreboot"] * 2
    # It knows no dry run.
    assert verb(run(cluster, "soft_rebooted", check_mode=True)[0]) == "softreboot"
    assert len(cluster.verbs) == 2


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("migrated", "VM is not running"),
        ("soft_rebooted", "VMI neither have the agent connected nor the ACPI feature enabled"),
    ],
)
def test_refusal_fails_with_the_servers_message(state: str, words: str) -> None:
    result = run(Migrating(answer=status(409, words, "Conflict")), state)[0]
    assert (result.changed, result.failed) == (False, words)


IN_FLIGHT = (
    'admission webhook "migration-create-validator.kubevirt.io" denied the request: in-flight migration detected. '
    "Active migration job (m) is currently already in progress for VMI a."
)


def test_pending_foreign_migration_is_awaited_until_timeout() -> None:
    refused = status(500, IN_FLIGHT, "InternalError")
    under_way = {"migrationUid": "m", "targetNode": "n2"}
    cluster = Migrating(under_way, {**under_way, "completed": True}, answer=refused)
    result = run(cluster, "migrated")[0]
    assert (cluster.verbs, result.changed, result.failed) == (["virtualmachines/a/migrate"], False, None)

    late = run(Migrating(answer=refused), "migrated", wait_timeout=0.2)[0]
    # Asked for once, though virt-api answers what the webhook refuses as an internal error.
    assert not late.changed and "waiting for the migration to begin" in str(late.failed)


def vm(name: str, strategy: str = "Always", namespace: str = "shop", **state: Any) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {
        "metadata": metadata,
        "spec": {"runStrategy": strategy},
        "status": {"printableStatus": "Running", "ready": True, **state},
    }


def guest(name: str, uid: str = "1", **metadata: Any) -> Manifest:
    return {"metadata": {"name": name, "namespace": "shop", "uid": uid, **metadata}, "status": {"phase": "Running"}}


def store(vms: list[Manifest], instances: list[Manifest]) -> Store:
    return Store({VMS.format("shop"): vms, VMIS.format("shop"): instances})


def test_missing_vm_does_not_fail_others() -> None:
    cluster = store([vm("a")], [guest("a")])
    cluster.answers[("PUT", "/stop")] = (202, {})
    gone, there = run(cluster, "stopped", "gone", "a", wait=False)
    assert (gone.failed, verb(gone)) == ("the virtual machine does not exist", "")
    assert (there.failed, verb(there)) == (None, "stop")


def test_unreadable_namespace_fails_only_its_vms() -> None:
    cluster = store([vm("a")], [guest("a")])
    entries = [job_for(name, "stopped", "lab") for name in "xy"] + [job_for("a", "started")]
    cluster.answers[("GET", "/lab/virtualmachines")] = forbidden("virtualmachines")
    cluster.answers[("GET", "/lab/virtualmachineinstances")] = (200, listed())
    with session_with(cluster) as session:
        results = powered(session, entries, Task(wait=False))
    for result in results[:2]:
        assert 'grant {apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], verbs: ["list"]}' in str(
            result.failed
        )
    assert (results[2].failed, cluster.writes) == (None, [])


def test_check_mode_skips_impossible_dry_runs() -> None:
    stopping = store([vm("a", "Halted")], [guest("a")])
    (early,) = run(stopping, "started", check_mode=True)
    assert (verb(early), early.failed, stopping.writes) == ("start", None, [])
    running = store([vm("a")], [guest("a")])
    (reboot,) = run(running, "soft_rebooted", check_mode=True)
    assert (verb(reboot), reboot.failed, running.writes) == ("softreboot", None, [])


class Stopping:
    """A halted VM whose guest ends during the wait. later: the VM after that, None for a deleted one; instance: its
    guest then. A verb makes it run."""

    def __init__(self, later: Manifest | None, instance: Manifest | None) -> None:
        self.later, self.instance = later, instance
        self.ended = False
        self.verbs: list[str] = []

    def __call__(self, method: str, path: str, query: dict[str, str]) -> tuple[int, Any]:
        if method != "GET":
            self.verbs.append(path.rpartition("/")[2])
            return 202, {}
        if self.verbs:
            self.later, self.instance = vm("a"), guest("a", "2")
        if query.get("watch") and not self.verbs:
            self.ended = True
            stopped = vm("a", "Halted", printableStatus="Stopped")
            return 200, [{"type": "MODIFIED", "object": stopped}]
        item = (self.later if self.ended else vm("a", "Halted")) if "/virtualmachines" in path else None
        if "/virtualmachineinstances" in path:
            item = self.instance if self.ended else guest("a")
        if path.endswith("/a"):
            return (200, item) if item is not None else status(404, "not found", "NotFound")
        return 200, {"metadata": {"resourceVersion": "1"}, "items": [item] if item is not None else []}


def test_stopping_vm_is_started_after_it_stopped() -> None:
    cluster = Stopping(vm("a", "Halted", printableStatus="Stopped"), None)
    (result,) = run(cluster, "started", wait_timeout=60)
    assert (verb(result), result.failed, cluster.verbs) == ("start", None, ["start"])


def test_vm_deleted_while_stopping_fails() -> None:
    cluster = Stopping(None, None)
    (result,) = run(cluster, "started", wait_timeout=60)
    assert (result.failed, cluster.verbs) == ("the VM was deleted", [])


def test_concurrent_power_change_fails() -> None:
    cluster = Stopping(vm("a", "Halted"), guest("a", "2"))
    (result,) = run(cluster, "started", wait_timeout=60)
    assert (result.failed, cluster.verbs) == ("another client changed the VM at the same time; run the task again", [])


@pytest.mark.parametrize("afterwards", ["old", "gone"])
def test_restart_waits_for_the_new_guest(afterwards: str) -> None:
    cluster = store([vm("a")], [guest("a")])
    cluster.answers[("PUT", "/restart")] = (202, {})

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        if cluster.writes and afterwards == "gone" and path.endswith("virtualmachineinstances/a"):
            return status(404, "not found", "NotFound")
        return cluster(method, path, query)

    (result,) = run(answer, "restarted", wait_timeout=0.3)
    assert (verb(result), result.changed) == ("restart", True)
    assert str(result.failed).startswith("not ready after ") and "waiting for the new VMI" in str(result.failed)


def test_stopped_vms_need_no_watch() -> None:
    names = "abcdef"
    cluster = store([vm(name, "Halted", printableStatus="Stopped") for name in names], [])
    assert [(verb(item), item.failed) for item in run(cluster, "stopped", *names)] == [("", None)] * 6
    assert len(cluster.asked) == 2


def test_stop_waits_until_the_guest_is_gone() -> None:
    cluster = store([vm("a", "Halted", printableStatus="Stopped")], [guest("a", deletionTimestamp="now")])
    (result,) = run(cluster, "stopped", wait_timeout=0.3)
    assert str(result.failed).startswith("not ready after ") and "the old VMI to disappear" in str(result.failed)


def test_lost_response_of_unreadable_vm_is_a_failure() -> None:
    for then in (status(404, "not found", "NotFound"), forbidden("virtualmachines")):
        cluster = store([vm("a")], [guest("a")])
        cluster.answers[("PUT", "/stop")] = None

        def answer(
            method: str, path: str, query: dict[str, str], cluster: Store = cluster, then: Any = then
        ) -> tuple[int, Any] | None:
            refusal: tuple[int, Any] = then
            return refusal if cluster.writes and path.endswith("virtualmachines/a") else cluster(method, path, query)

        (result,) = run(answer, "stopped", wait=False)
        assert (verb(result), result.changed) == ("", False)
        assert "cannot reach the API server" in str(result.failed)


def test_soft_reboot_is_never_sent_again() -> None:
    cluster = store([vm("a")], [guest("a")])
    cluster.answers[("PUT", "/softreboot")] = None
    with session_with(cluster, retry_timeout=20) as session:
        (result,) = powered(session, [job_for("a", "soft_rebooted")], Task(wait=False))
    assert "cannot reach the API server" in str(result.failed)
    assert [method for method, _path in cluster.writes] == ["PUT"]
