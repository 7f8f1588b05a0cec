"""ansible-rulebook gets each transition once, behind a proxy with faults, and over restarts."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config
from waiting import wait_until

from chaos_support import Faulty
from modules_support import execute
from rulebook_support import Rulebook

pytestmark = [pytest.mark.nightly("10,000 transitions"), pytest.mark.own_cluster]

GUESTS = 200
ROUNDS = 24
# A bound for a busy machine, no expectation.
PATIENCE = 600
FAULTS: list[dict[str, Any]] = [
    {"fault": "watch_cut", "after_events": 7, "rate": 0.2},
    {"fault": "watch_gone", "after_events": 11, "rate": 0.2},
    {"fault": "watch_gone", "rate": 0.1},
    {"fault": "watch_twice", "rate": 0.5},
    {"fault": "slow", "bytes_per_second": 1_000_000, "rate": 0.1},
    {"fault": "cut", "rate": 0.05},
    {"fault": "latency", "seconds": 0.05, "jitter": 0.2, "rate": 0.1},
]


class Changes:
    """Changes of VMs, each of which begins one state, past the proxy."""

    def __init__(self, faulty: Faulty, namespace: str) -> None:
        self._place = {"kubeconfig": faulty.path("kubeconfig"), "namespace": namespace}
        self.names = [f"vm-{number:03}" for number in range(GUESTS)]

    def size(self, memory: int) -> None:
        """Makes the instancetype, or makes all VMs drift from it."""
        size = {"cpu": {"guest": 1}, "memory": {"guest": f"{memory}Mi"}}
        assert execute("instancetype", {**self._place, "name": "small", **size})["changed"]

    def declare(self, **options: Any) -> None:
        """All VMs, running, with a change of the guest that needs a restart."""
        declared = {
            **self._place,
            "virtual_machines": [{"name": name} for name in self.names],
            "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
            "volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}],
            **options,
        }
        result = execute("virtual_machine", declared)
        assert not result.get("failed") and result["changed"], result["msg"]


@pytest.fixture
def changes(faulty: Faulty, tmp_path: Path) -> Iterator[Changes]:
    with config.new_client_from_config(faulty.path("kubeconfig")) as connection:
        client.CoreV1Api(connection).create_namespace({"metadata": {"name": "eda"}})
        yield Changes(faulty, "eda")
        client.CoreV1Api(connection).delete_namespace("eda")


def test_each_transition_is_acted_on_once(
    faulty: Faulty, changes: Changes, rulebook_programs: Path, tmp_path: Path
) -> None:
    source = {
        "kubeconfig": faulty.path(),
        "namespace": "eda",
        "state_directory": str(tmp_path / "state"),
        "delay": 0.2,
        "feedback": True,
    }
    rule = {"name": "Any", "condition": "event.transition is defined", "action": {"print_event": {}}}
    rules = {
        "name": "Print",
        "hosts": "all",
        "sources": [{"name": "vms", "virtshape.instancetypes.virtual_machines": source}],
        "rules": [rule],
    }
    rulebook, chosen, expected = Rulebook(rulebook_programs, tmp_path / "ours", [rules]), random.Random(1), 0

    def follow(*transitions: str) -> None:
        """Waits for a transition of each VM, with a restart in between."""
        nonlocal expected
        until = expected + chosen.randrange(GUESTS)
        wait_until(lambda: len(rulebook.events) > until, PATIENCE)
        if expected // GUESTS % 5 == 1:
            assert rulebook.stop() == 0
            rulebook.start()
        expected += GUESTS
        wait_until(lambda: len(rulebook.events) >= expected, PATIENCE)
        assert {event["transition"] for event in rulebook.events[-GUESTS:]} == {*transitions}

    changes.size(512)
    faulty.rules(*FAULTS)
    with rulebook.running():
        changes.declare()
        follow("running")
        for number in range(ROUNDS):
            changes.size(513 + number)
            follow("drifted")
            changes.declare(template={"spec": {("hostname", "subdomain")[number % 2]: f"h{number}"}})
            follow("restart_required")
        changes.declare(state="absent")
        follow("deleted")
    told = Counter(event["id"] for event in rulebook.events)
    assert len(told) == (2 * ROUNDS + 2) * GUESTS == 10_000
    assert set(told.values()) == {1}
    met = faulty.counts()["faults"]
    assert set(met) == {fault["fault"] for fault in FAULTS}
    print(met)
