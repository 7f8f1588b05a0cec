"""Taking and giving back a Lease that others take, give back or delete at the same moment."""

from typing import Any
from unittest import mock

import pytest

from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._rollout.cluster import lease
from plugins.module_utils._rollout.cluster.lease import LeaseOutcome, acquire, release
from scripted_server import session_with, status

CONFLICT = status(409, "the object has been modified", "Conflict")
NOT_FOUND = status(404, 'leases.coordination.k8s.io "turn" not found', "NotFound")


class Cluster:
    """One Lease. holders: who has it at each look, None where there is none. refusals: the answers to writes, in order;
    those after them succeed. renewed: when it was, after the first write."""

    def __init__(self, *holders: str | None, refusals: tuple[Any, ...] = (), renewed: str = "") -> None:
        self.renewed = renewed
        self.holders = list(holders)
        self.refusals = list(refusals)
        self.writes: list[str] = []

    def __call__(self, method: str, _path: str, _query: dict[str, str]) -> tuple[int, Any] | None:
        if method == "GET":
            holder = self.holders.pop(0)
            if holder is None:
                return NOT_FOUND
            version = str(len(self.holders))
            spec = {"holderIdentity": holder, "leaseDurationSeconds": 600}
            if self.writes:
                spec["renewTime"] = self.renewed
            return 200, {"metadata": {"name": "turn", "resourceVersion": version}, "spec": spec}
        self.writes.append(method)
        answer: tuple[int, Any] | None = self.refusals.pop(0) if self.refusals else (200, {})
        return answer

    def acquire(self, seconds: float = 0) -> LeaseOutcome:
        with session_with(self) as session:
            return acquire(session, "shop", "turn", "me", 60, seconds)

    def release(self) -> LeaseOutcome:
        with session_with(self) as session:
            return release(session, "shop", "turn", "me")


def test_take_creates_missing_and_updates_free_lease() -> None:
    for first, method in ((None, "POST"), ("", "PUT")):
        cluster = Cluster(first)
        held = cluster.acquire()
        assert (held.changed, held.holder, cluster.writes) == (True, "me", [method])


def test_faster_holder_keeps_the_lease() -> None:
    for first in (None, ""):
        cluster = Cluster(first, "other", refusals=(CONFLICT,))
        held = cluster.acquire()
        assert (held.changed, held.holder, len(cluster.writes)) == (False, "other", 1)


def test_lease_deleted_meanwhile_is_created_again() -> None:
    cluster = Cluster("", None, refusals=(NOT_FOUND,))
    assert (cluster.acquire().changed, cluster.writes) == (True, ["PUT", "POST"])


def test_take_recognizes_its_write_after_lost_response(monkeypatch: Any) -> None:
    monkeypatch.setattr(lease, "_spec", lambda holder, duration: {"holderIdentity": holder, "renewTime": "now"})
    for first in ("", "me"):
        cluster = Cluster(first, "me", refusals=(CONFLICT,), renewed="now")
        assert (cluster.acquire().changed, cluster.writes) == (first == "", ["PUT"])


def test_release_with_lost_response_is_a_change(monkeypatch: Any) -> None:
    monkeypatch.setattr(lease, "_spec", lambda holder, duration: {"holderIdentity": holder, "renewTime": "now"})
    for renewed, changed in (("now", True), ("earlier", False)):
        cluster = Cluster("me", "", refusals=(CONFLICT,), renewed=renewed)
        assert (cluster.release(), cluster.writes) == (LeaseOutcome(changed, ""), ["PUT"])


def test_metadata_and_other_fields_stay() -> None:
    labels = {"labels": {"team": "web"}, "annotations": {"why": "upgrade"}}
    metadata = {"name": "turn", "namespace": "shop", "resourceVersion": "7", "uid": "one", **labels}
    live = {"metadata": metadata, "spec": {"holderIdentity": "me", "leaseTransitions": 3}}
    with session_with(lambda *_asked: (200, live)) as session:
        for write in (
            lambda: acquire(session, "shop", "turn", "me", 60, 0),
            lambda: release(session, "shop", "turn", "me"),
        ):
            with mock.patch.object(session, "request", wraps=session.request) as request:
                write()
            written = request.call_args.kwargs["body"]
            assert (written["metadata"], written["spec"]["leaseTransitions"]) == (metadata, 3)


def test_renewal_conflicting_with_another_write_is_retried() -> None:
    cluster = Cluster("me", "me", refusals=(CONFLICT,))
    assert (cluster.acquire().changed, cluster.writes) == (False, ["PUT", "PUT"])


def test_missing_namespace_is_reported_as_an_error() -> None:
    cluster = Cluster(None, refusals=(status(404, 'namespaces "shop" not found', "NotFound"),))
    with pytest.raises(ApiError, match='namespaces "shop" not found'):
        cluster.acquire()


def test_release_leaves_leases_of_other_holders() -> None:
    cluster = Cluster("me", "me", refusals=(CONFLICT,))
    assert (cluster.release(), cluster.writes) == (LeaseOutcome(True, ""), ["PUT", "PUT"])
    expired = Cluster("me", "other", refusals=(CONFLICT,))
    assert (expired.release(), expired.writes) == (LeaseOutcome(False, "other"), ["PUT"])
    assert (Cluster(None).release(), Cluster("other").release()) == (
        LeaseOutcome(False, ""),
        LeaseOutcome(False, "other"),
    )
