"""The API server's warnings as those of a task."""

from plugins.module_utils._cluster.client.sender import _keep_warnings
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._cluster.modules.results import group_warnings, server_warnings
from scripted_server import VMS, Store, session_with

DENIED = "Validation failed for ValidatingAdmissionPolicy 'limit' with binding 'limit': spec.cpu: too large (limit a)"


def kept(*warnings: tuple[str, str]) -> Session:
    """A session that has got warnings: (header, object)."""
    with session_with(Store({VMS: []})) as session:
        for text, label in warnings:
            namespace, _slash, name = label.partition("/")
            path = f"/apis/kubevirt.io/v1/namespaces/{namespace}/virtualmachines/{name}"
            _keep_warnings([f'299 - "{text}"'], path, session.warnings)
        return session


def test_equal_warnings_name_their_objects_once() -> None:
    sessions = [kept(("old", "shop/a"), ("old", "shop/a"), ("other", "shop/a")), kept(("old", "shop/b"))]
    assert server_warnings(sessions) == ["shop/a, shop/b: old", "shop/a: other"]


def test_objects_with_one_name_are_named_once() -> None:
    assert group_warnings([("shop/a", "old"), ("shop/a", "old"), ("shop/b", "old")]) == ["shop/a, shop/b: old"]


def test_words_of_checks_are_not_repeated() -> None:
    session = kept((DENIED, "shop/a"))
    assert server_warnings([session], ["shop/a: spec.cpu: too large (limit a)"]) == []
    assert server_warnings([session], ["shop/a: spec.cpu: too small"]) == [f"shop/a: {DENIED}"]


def test_different_warnings_are_bounded() -> None:
    session = kept(*((f"number {number}", f"shop/{number}") for number in range(150)))
    texts = server_warnings([session])
    assert len(texts) == 101
    assert texts[-1].endswith("and 45 more: the API server gives more different warnings than are shown")


def test_headers_of_all_answers_count() -> None:
    """Refusals and dry runs have them too."""
    store = Store({VMS: []})
    with session_with(lambda method, path, query: (*store(method, path, query), {"Warning": '299 - "old"'})) as session:
        session.dry_run_session().request("PATCH", f"{VMS}/web", body={})
        session.request("GET", VMS)
        assert session.warnings == {"old": {"shop/web": None, "shop/virtualmachines": None}}
