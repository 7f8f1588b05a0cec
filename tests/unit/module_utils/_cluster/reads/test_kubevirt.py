"""The cluster's KubeVirt as it is read, and the assumption if it cannot be read."""

from typing import Any

import pytest

from plugins.module_utils._cluster.reads.kubevirt import kubevirt
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt
from scripted_server import KUBEVIRT, KUBEVIRTS, Store, forbidden, listed, session_with

Answer = tuple[int, Any]

VERSION = "/apis/subresources.kubevirt.io/v1/version"
ASSUMED = "cannot read the configuration of the cluster's KubeVirt, so the task assumes the defaults"


def read(store: Store) -> KubeVirt:
    with session_with(store) as session:
        result = kubevirt(session)
        assert kubevirt(session) is result  # one read for a task
    assert store.asked.count(("GET", KUBEVIRTS)) == 1
    return result


def cluster(version: str = "v1.9.0", status: dict[str, Any] | None = None, **configuration: Any) -> Store:
    message = {"observedKubeVirtVersion": version, **(status or {})}
    return Store({KUBEVIRTS: [{**KUBEVIRT, "spec": {"configuration": configuration}, "status": message}]})


NAMED = {"metadata": {"name": "kubevirt"}}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (forbidden("kubevirts"), "kubevirts is forbidden"),
        ((200, listed()), "the cluster has no KubeVirt object"),
        ((200, listed({**NAMED, "spec": ["x"], "status": {}})), "the object is malformed"),
        (
            (200, listed({**NAMED, "spec": {"configuration": {"developerConfiguration": 5}}})),
            "the object is malformed",
        ),
    ],
)
def test_virt_api_gives_release_without_kubevirt_object(answer: Answer, why: str) -> None:
    store = Store({}, {("GET", KUBEVIRTS): answer, ("GET", VERSION): (200, {"gitVersion": "v1.5.3"})})
    result = read(store)
    assert (result.release.version, result.architecture) == ((1, 5, 3), "amd64")
    assert not result.live_updates  # the default of that release
    assert ASSUMED in result.assumption and why in result.assumption and "release" not in result.assumption


def test_newest_release_is_assumed_without_any_source() -> None:
    result = read(Store({}, {("GET", KUBEVIRTS): forbidden("kubevirts"), ("GET", VERSION): forbidden("version")}))
    assert (result.release, result.live_updates) == (NEWEST, True)
    assert "the cluster does not report its KubeVirt release, so the task assumes 1.9" in result.assumption
    assert ASSUMED in result.assumption


def test_an_unreachable_server_is_tried_once() -> None:
    store = Store({}, {("GET", KUBEVIRTS): None})
    assert "cannot reach the API server" in read(store).assumption
    assert ("GET", VERSION) not in store.asked


def test_an_older_release_counts_as_the_oldest() -> None:
    result = read(cluster("v1.3.1"))
    assert result.release.version == (1, 4, 0)
    assert (
        result.assumption
        == "the cluster runs KubeVirt v1.3.1, a release older than this collection supports, so the task assumes 1.4"
    )


@pytest.mark.parametrize(
    ("version", "strategy", "gates", "live"),
    [
        ("v1.9.0", None, [], True),
        ("v1.9.0", "Stage", [], False),
        ("v1.6.6", None, [], True),
        ("v1.5.3", None, [], False),
        ("v1.5.3", "LiveUpdate", [], True),
        ("v1.4.1", "LiveUpdate", [], False),
        ("v1.4.1", "LiveUpdate", ["VMLiveUpdateFeatures"], True),
        ("v1.4.1", None, ["VMLiveUpdateFeatures"], False),
    ],
)
def test_live_updates_depend_on_strategy_and_gates(
    version: str, strategy: str | None, gates: list[str], live: bool
) -> None:
    rollout = {"vmRolloutStrategy": strategy} if strategy else {}
    assert read(cluster(version, developerConfiguration={"featureGates": gates}, **rollout)).live_updates is live
