"""The module lease: one holder at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.session import Session
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.lease import release, take

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def lease(run: Run, namespace: str) -> Run:
    def one(holder: str, **options: Any) -> dict[str, Any]:
        return run("lease", namespace=namespace, name="turn", holder=holder, **options)

    return one


def test_lease_has_one_holder_at_a_time(lease: Run) -> None:
    assert lease("a", check=True) == {**lease("a", check=True), "changed": True, "holder": "a"}
    assert lease("a")["changed"]
    assert not lease("a")["changed"]
    refused = lease("b", wait_timeout=0)
    assert refused["failed"] and refused["holder"] == "a"
    assert "/turn: a still holds the Lease after 0 s" in refused["msg"]
    assert not lease("b", state="released")["changed"]
    assert lease("a", state="released", check=True)["changed"]
    assert lease("a", state="released")["changed"]
    assert not lease("a", state="released")["changed"]
    assert lease("b")["holder"] == "b"


def test_killed_holder_loses_the_lease(lease: Run) -> None:
    lease("killed", duration=2)
    began = time.monotonic()
    taken = lease("b")
    assert taken["changed"] and taken["holder"] == "b"
    assert time.monotonic() - began >= 2


def test_concurrent_holders_take_turns(cluster: Path, namespace: str) -> None:
    session = Session({"kubeconfig": str(cluster), "retry_timeout": 60})
    inside, most = 0, 0

    def turn(number: int) -> None:
        nonlocal inside, most
        held = take(session, namespace, "turns", f"run-{number}", 60, 600)
        assert held.holder == f"run-{number}"
        inside += 1
        most = max(most, inside)
        time.sleep(0.02)
        inside -= 1
        release(session, namespace, "turns", f"run-{number}")

    with ThreadPoolExecutor(max_workers=5) as pool:
        list(pool.map(turn, range(5)))
    assert most == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"holder": ""}, "holder: must not be empty; give each run a unique name"),
        (
            {"holder": "a", "duration": 0},
            "duration: expected 1 to 2592000 seconds, found 0; write a number between these",
        ),
    ],
)
def test_bad_input_is_one_line(lease: Run, options: dict[str, Any], message: str) -> None:
    assert lease(**options)["msg"] == message


def test_a_missing_right_is_named(lease: Run, user_with: Run) -> None:
    user = user_with({"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get"]})
    refused = lease("a", **user)
    assert refused["failed"]
    assert "leases" in refused["msg"] and "To permit the request, grant" in refused["msg"]
