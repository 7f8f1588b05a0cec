"""Power verbs on VMs that cannot be seen, go away, or are changed by somebody else meanwhile."""

from typing import Any

import pytest

from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes.power import PowerOutcome, power
from scripted_server import Manifest, Store, forbidden, listed, session_with, status

VMS = "/apis/kubevirt.io/v1/namespaces/{}/virtualmachines"
VMIS = "/apis/kubevirt.io/v1/namespaces/{}/virtualmachineinstances"


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


def run(cluster: Any, state: str, *names: str, **settings: Any) -> list[PowerOutcome]:
    entries = [PowerOutcome("shop", name, state) for name in names]
    with session_with(cluster) as session:
        return power(session, entries, Task(**{"wait": True, **settings}))


def test_missing_vm_does_not_fail_others() -> None:
    cluster = store([vm("a")], [guest("a")])
    cluster.answers[("PUT", "/stop")] = (202, {})
    gone, there = run(cluster, "stopped", "gone", "a", wait=False)
    assert (gone.failed, gone.verb) == ("the virtual machine does not exist", "")
    assert (there.failed, there.verb) == (None, "stop")


def test_unreadable_namespace_fails_only_its_vms() -> None:
    cluster = store([vm("a")], [guest("a")])
    entries = [PowerOutcome("lab", name, "stopped") for name in "xy"] + [PowerOutcome("shop", "a", "started")]
    cluster.answers[("GET", "/lab/virtualmachines")] = forbidden("virtualmachines")
    cluster.answers[("GET", "/lab/virtualmachineinstances")] = (200, listed())
    with session_with(cluster) as session:
        results = power(session, entries, Task(wait=False))
    for result in results[:2]:
        assert 'grant {apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], verbs: ["list"]}' in str(
            result.failed
        )
    assert (results[2].failed, cluster.writes) == (None, [])


def test_check_mode_skips_impossible_dry_runs() -> None:
    stopping = store([vm("a", "Halted")], [guest("a")])
    (early,) = run(stopping, "started", "a", check_mode=True)
    assert (early.verb, early.failed, stopping.writes) == ("start", None, [])
    running = store([vm("a")], [guest("a")])
    (reboot,) = run(running, "soft_rebooted", "a", check_mode=True)
    assert (reboot.verb, reboot.failed, running.writes) == ("softreboot", None, [])


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
    (result,) = run(cluster, "started", "a", wait_timeout=60)
    assert (result.verb, result.failed, cluster.verbs) == ("start", None, ["start"])


def test_vm_deleted_while_stopping_fails() -> None:
    cluster = Stopping(None, None)
    (result,) = run(cluster, "started", "a", wait_timeout=60)
    assert (result.failed, cluster.verbs) == ("the VM was deleted", [])


def test_concurrent_power_change_fails() -> None:
    cluster = Stopping(vm("a", "Halted"), guest("a", "2"))
    (result,) = run(cluster, "started", "a", wait_timeout=60)
    assert (result.failed, cluster.verbs) == ("another client changed the VM at the same time; run the task again", [])


@pytest.mark.parametrize("afterwards", ["old", "gone"])
def test_restart_waits_for_the_new_guest(afterwards: str) -> None:
    cluster = store([vm("a")], [guest("a")])
    cluster.answers[("PUT", "/restart")] = (202, {})

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        if cluster.writes and afterwards == "gone" and path.endswith("virtualmachineinstances/a"):
            return status(404, "not found", "NotFound")
        return cluster(method, path, query)

    (result,) = run(answer, "restarted", "a", wait_timeout=0.3)
    assert (result.verb, result.changed) == ("restart", True)
    assert str(result.failed).startswith("not ready after ") and "waiting for the new VMI" in str(result.failed)


def test_stopped_vms_need_no_watch() -> None:
    names = "abcdef"
    cluster = store([vm(name, "Halted", printableStatus="Stopped") for name in names], [])
    assert [(item.verb, item.failed) for item in run(cluster, "stopped", *names)] == [("", None)] * 6
    assert len(cluster.asked) == 2


def test_stop_waits_until_the_guest_is_gone() -> None:
    cluster = store([vm("a", "Halted", printableStatus="Stopped")], [guest("a", deletionTimestamp="now")])
    (result,) = run(cluster, "stopped", "a", wait_timeout=0.3)
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

        (result,) = run(answer, "stopped", "a", wait=False)
        assert (result.verb, result.changed) == ("", False)
        assert "cannot reach the API server" in str(result.failed)


def test_soft_reboot_is_never_sent_again() -> None:
    cluster = store([vm("a")], [guest("a")])
    cluster.answers[("PUT", "/softreboot")] = None
    with session_with(cluster, retry_timeout=20) as session:
        (result,) = power(session, [PowerOutcome("shop", "a", "soft_rebooted")], Task(wait=False))
    assert "cannot reach the API server" in str(result.failed)
    assert [method for method, _path in cluster.writes] == ["PUT"]
