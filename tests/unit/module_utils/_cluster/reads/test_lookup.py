"""Objects for the resolver's questions: what is asked of the server how often, and what is said where it refuses."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kubevirt_failures import failure

from plugins.module_utils._cluster.client.errors import ApiError, ConnectionFailed
from plugins.module_utils._cluster.reads.lookup import ClusterLookup
from scripted_server import Store, forbidden, session_with, status

CLAIMS = "/api/v1/namespaces/{}/persistentvolumeclaims"
REVISIONS = "/apis/apps/v1/namespaces/{}/controllerrevisions"
ALL_INSTANCETYPES = "/apis/instancetype.kubevirt.io/v1beta1/virtualmachineclusterinstancetypes"
ALL_REVISIONS = "/apis/apps/v1/controllerrevisions"


def named(name: str, namespace: str = "shop") -> dict[str, dict[str, str]]:
    return {"metadata": {"name": name, "namespace": namespace}}


def test_the_fourth_single_read_is_a_list() -> None:
    store = Store({CLAIMS.format("shop"): [named(name) for name in "abcde"]})
    with session_with(store) as session:
        lookup = ClusterLookup(session)
        names = [lookup.get("PersistentVolumeClaim", "shop", name) for name in "abcdexa"]
        assert [item["metadata"]["name"] if isinstance(item, dict) else item for item in names] == [*"abcde", None, "a"]
        assert len(list(lookup.list("PersistentVolumeClaim", "shop"))) == 5
    assert [path.rpartition("/")[2] for _method, path in store.asked] == ["a", "b", "c", "persistentvolumeclaims"]


def test_threads_sharing_a_lookup_send_one_request() -> None:
    again = threading.Event()
    store = Store({ALL_INSTANCETYPES: [named("small", "")]})

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        message = store(method, path, query)
        if len(store.asked) > 1:
            again.set()
        # The first answer leaves the others time to ask, too.
        again.wait(0.5)
        return message

    with session_with(answer) as session, ThreadPoolExecutor(4) as pool:
        lookup = ClusterLookup(session)
        result = list(pool.map(lambda _number: lookup.get("VirtualMachineClusterInstancetype", "", "small"), range(4)))
    assert [isinstance(item, dict) for item in result] == [True] * 4
    assert store.asked == [("GET", ALL_INSTANCETYPES)]


def test_forbidden_read_is_a_problem_with_remedy() -> None:
    store = Store({}, {("GET", "/a"): forbidden("a"), ("GET", "/virtualmachines"): None})
    with session_with(store) as session:
        lookup = ClusterLookup(session)
        denied = failure(lookup.get, "PersistentVolumeClaim", "shop", "a")
        assert denied.code == 403
        assert denied.message.endswith(
            '{apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["get"]} in a Role of the namespace shop'
        )
        assert list(lookup.list("VirtualMachine", "shop")) == []
        cut = lookup.problem("VirtualMachine", "shop")
        assert cut is not None and (cut.code, cut.reason) == (503, "ServiceUnavailable")
        assert failure(lookup.get, "VirtualMachine", "shop", "a") == cut
        # Without the API the cluster has none, which is no problem.
        assert list(lookup.list("DataVolume", "shop")) == []
        assert lookup.problem("DataVolume", "shop") is None


def test_permitted_cluster_wide_list_serves_all_namespaces() -> None:
    store = Store({ALL_REVISIONS: [named("a"), named("b", "lab")]})
    with session_with(store) as session:
        lookup = ClusterLookup(session, all_namespaces=True, strict=True)
        assert [item["metadata"]["name"] for item in lookup.list("ControllerRevision", "lab")] == ["b"]
        assert lookup.get("ControllerRevision", "shop", "a") == {**named("a"), **kind()}
    assert (len(store.asked), lookup.problems) == (1, {})


def test_gathered_objects_need_no_request() -> None:
    store = Store({ALL_REVISIONS: [named("a"), named("b", "lab")]})
    places = [("ControllerRevision", "shop"), ("ControllerRevision", "lab")]
    with session_with(store) as session:
        wide, narrow = (ClusterLookup(session, all_namespaces=everywhere, strict=True) for everywhere in (True, False))
        wide.gather_lists(places)
        narrow.gather_lists(places)
        requests = sorted(path for _method, path in store.asked)
        assert requests == sorted([ALL_REVISIONS, REVISIONS.format("shop"), REVISIONS.format("lab")])
        assert wide.get("ControllerRevision", "lab", "b") == {**named("b", "lab"), **kind()}
        assert narrow.list("ControllerRevision", "shop") == []
    assert len(store.asked) == len(requests)


def kind() -> dict[str, str]:
    return {"apiVersion": "apps/v1", "kind": "ControllerRevision"}


def test_one_list_per_namespace_without_cluster_rights() -> None:
    store = Store({REVISIONS.format("shop"): [named("a")]})
    store.answers["GET", ALL_REVISIONS] = forbidden("controllerrevisions")
    store.answers["GET", "/lab/controllerrevisions"] = forbidden("controllerrevisions")
    with session_with(store) as session:
        lookup = ClusterLookup(session, all_namespaces=True, strict=True)
        assert len(lookup.list("ControllerRevision", "shop")) == 1
        assert lookup.list("ControllerRevision", "lab") == []
        problem = failure(lookup.get, "ControllerRevision", "lab", "b")
    assert lookup.problems == {"ControllerRevision": problem}


def test_other_errors_are_raised() -> None:
    store = Store({}, {("GET", ALL_REVISIONS): status(500, "no"), ("GET", "/virtualmachines"): None})
    with session_with(store) as session:
        lookup = ClusterLookup(session, all_namespaces=True, strict=True)
        with pytest.raises(ApiError, match="no"):
            lookup.get("ControllerRevision", "shop", "a")
        with pytest.raises(ConnectionFailed):
            lookup.get("VirtualMachine", "shop", "a")
