"""A Lease of the cluster has one holder at a time."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plugins.module_utils._cluster.client.concurrency import display
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._rollout.cluster.lease import acquire, release


@pytest.fixture
def session(cluster: Path) -> Session:
    return Session({"kubeconfig": str(cluster), "retry_timeout": 60})


def test_lease_has_one_holder_at_a_time(session: Session, namespace: str) -> None:
    assert acquire(session, namespace, "turn", "a", 300, 0).changed
    assert not acquire(session, namespace, "turn", "a", 300, 0).changed
    assert acquire(session, namespace, "turn", "b", 300, 0).holder == "a"
    assert not release(session, namespace, "turn", "b").changed
    assert release(session, namespace, "turn", "a").changed
    assert not release(session, namespace, "turn", "a").changed
    assert acquire(session, namespace, "turn", "b", 300, 0).holder == "b"


def test_killed_holder_loses_the_lease(session: Session, namespace: str) -> None:
    acquire(session, namespace, "turn", "killed", 2, 0)
    taken = acquire(session, namespace, "turn", "b", 300, 60)
    assert (taken.changed, taken.holder) == (True, "b") and taken.waited >= 2


def test_concurrent_holders_take_turns(session: Session, namespace: str) -> None:
    inside, most = 0, 0

    def turn(number: int) -> None:
        nonlocal inside, most
        held = acquire(session, namespace, "turns", f"run-{number}", 60, 600)
        assert held.holder == f"run-{number}"
        inside += 1
        most = max(most, inside)
        time.sleep(0.02)
        inside -= 1
        release(session, namespace, "turns", f"run-{number}")

    with ThreadPoolExecutor(max_workers=5) as pool:
        list(pool.map(turn, range(5)))
    assert most == 1


def test_a_wait_says_at_once_whom_for(session: Session, namespace: str) -> None:
    acquire(session, namespace, "turn", "dead", 2, 0)
    lines: list[str] = []
    token = display.set(lines.append)
    try:
        taken = acquire(session, namespace, "turn", "b", 300, 60)
    finally:
        display.reset(token)
    (line,) = lines
    assert line.startswith(f"Lease {namespace}/turn: dead has held it since 20")
    assert line.endswith(f"take the Lease over: kubectl delete lease turn --namespace {namespace}")
    assert taken.holder == "b"
