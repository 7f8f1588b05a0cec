"""The verbs that the local cluster does not have: migrate, with the watch that follows it, and soft reboot."""

from typing import Any

import pytest

from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes.power import PowerOutcome, power
from scripted_server import listed, session_with, status

SUBRESOURCES = "/apis/subresources.kubevirt.io/v1/namespaces/shop/"
# A migration that is over says nothing of the requested one.
EARLIER = {"migrationUid": "earlier", "completed": True}


class Cluster:
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


def run(cluster: Cluster, state: str, names: str = "a", **options: Any) -> list[PowerOutcome]:
    with session_with(cluster) as session:
        return power(
            session,
            [PowerOutcome("shop", name, state) for name in names],
            Task(**{"wait": True, **options}),
        )


def test_migration_is_requested_and_awaited() -> None:
    begun = {"migrationUid": "m", "targetNode": "n2"}
    cluster = Cluster(begun, {**begun, "completed": True})
    results = run(cluster, "migrated", "ab")
    assert sorted(cluster.verbs) == ["virtualmachines/a/migrate", "virtualmachines/b/migrate"]
    assert [(result.changed, result.failed, result.verb) for result in results] == [(True, None, "migrate")] * 2
    # For both together.
    assert cluster.watches == 1


def test_failed_migration_reports_its_reason() -> None:
    begun = {"migrationUid": "m", "targetNode": "n2"}
    cluster = Cluster(begun, {**begun, "completed": True, "failed": True, "failureReason": "no room on n2"})
    result = run(cluster, "migrated")[0]
    assert (result.changed, result.failed) == (True, "the migration failed: no room on n2")


def test_running_migration_is_awaited_not_requested() -> None:
    under_way = {"migrationUid": "m", "targetNode": "n2"}
    cluster = Cluster(under_way, {**under_way, "completed": True})
    cluster.verbs.append("asked for by another")
    result = run(cluster, "migrated")[0]
    assert (cluster.verbs, result.changed, result.failed) == (["asked for by another"], False, None)
    assert cluster.watches == 1


def test_a_soft_reboot_is_sent_each_time() -> None:
    cluster = Cluster()
    assert [run(cluster, "soft_rebooted")[0].changed for _time in range(2)] == [True, True]
    assert cluster.verbs == ["virtualmachineinstances/a/softreboot"] * 2
    # It knows no dry run.
    assert run(cluster, "soft_rebooted", check_mode=True)[0].verb == "softreboot"
    assert len(cluster.verbs) == 2


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("migrated", "VM is not running"),
        ("soft_rebooted", "VMI neither have the agent connected nor the ACPI feature enabled"),
    ],
)
def test_refusal_fails_with_the_servers_message(state: str, words: str) -> None:
    result = run(Cluster(answer=status(409, words, "Conflict")), state)[0]
    assert (result.changed, result.failed) == (False, words)


IN_FLIGHT = (
    'admission webhook "migration-create-validator.kubevirt.io" denied the request: in-flight migration detected. '
    "Active migration job (m) is currently already in progress for VMI a."
)


def test_pending_foreign_migration_is_awaited_until_timeout() -> None:
    refused = status(500, IN_FLIGHT, "InternalError")
    under_way = {"migrationUid": "m", "targetNode": "n2"}
    cluster = Cluster(under_way, {**under_way, "completed": True}, answer=refused)
    result = run(cluster, "migrated")[0]
    assert (cluster.verbs, result.changed, result.failed) == (["virtualmachines/a/migrate"], False, None)

    late = run(Cluster(answer=refused), "migrated", wait_timeout=0.2)[0]
    # Asked for once, though virt-api answers what the webhook refuses as an internal error.
    assert not late.changed and "waiting for the migration to begin" in str(late.failed)
