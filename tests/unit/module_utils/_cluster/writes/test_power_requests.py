"""A verb whose answer is lost is not sent again; a look tells whether it was taken up."""

from typing import Any

import pytest

from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes.power import PowerOutcome, power
from scripted_server import session_with, status

SUBRESOURCES = "/apis/subresources.kubevirt.io/v1/namespaces/shop"


class Cluster:
    """One running VM. answer: what a verb is answered with, None: the connection is cut. lost: it has no effect."""

    def __init__(self, answer: Any, lost: bool) -> None:
        self.answer = answer
        self.lost = lost
        self.strategy = "Always"
        self.uid: str | None = "1"
        self.verbs: list[str] = []

    def __call__(self, method: str, path: str, _query: dict[str, str]) -> tuple[int, Any] | None:
        if method == "PUT":
            verb = path[len(SUBRESOURCES) + 1 :]
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
    cluster = Cluster(answer, lost)
    with session_with(cluster) as session:
        result = power(session, [PowerOutcome("shop", "a", state)], Task(wait=False))[0]
    assert cluster.verbs == [f"virtualmachines/a/{verb}"]
    assert (result.changed, bool(result.failed)) == (not lost, lost)
    if lost:
        assert ("context deadline exceeded" if answer else "cannot reach the API server") in str(result.failed)


def test_verb_without_effect_is_sent_again() -> None:
    cluster = Cluster(None, lost=True)
    verbs = cluster.verbs

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        if method == "PUT" and len(verbs) == 1:
            cluster.lost, cluster.answer = False, (202, {})
        return cluster(method, path, query)

    with session_with(answer, retry_timeout=20) as session:
        result = power(session, [PowerOutcome("shop", "a", "restarted")], Task(wait=False))[0]
    assert (result.verb, result.failed, len(verbs)) == ("restart", None, 2)


def test_fail_fast_stops_after_the_first_failure() -> None:
    cluster = Cluster(status(409, "VM is busy", "Conflict"), lost=True)
    entries = [PowerOutcome("shop", "a", "stopped"), PowerOutcome("shop", "a", "paused")]
    with session_with(cluster) as session:
        results = power(session, entries, Task(wait=False, fail_fast=True, concurrency=1))
    assert [result.failed for result in results] == [
        "VM is busy",
        "not sent because another virtual machine of the task failed and fail_fast is set",
    ]
    assert cluster.verbs == ["virtualmachines/a/stop"]


def test_stopping_vm_is_not_started_without_wait() -> None:
    cluster = Cluster((202, {}), lost=True)
    cluster.strategy = "Halted"
    with session_with(cluster) as session:
        result = power(session, [PowerOutcome("shop", "a", "started")], Task(wait=False))[0]
    assert (result.failed, cluster.verbs) == ("the VM is still stopping; set wait, or run the task again later", [])
