"""Rights to clone: few questions, and a right to one source counts."""

from plugins.module_utils._boot_sources.cluster.clone_rights import CloneRights
from plugins.module_utils._boot_sources.source import CloneRight
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from scripted_server import Store, session_with, status


def _right(name: str) -> CloneRight:
    return CloneRight(("shop", "default"), "golden", name, snapshot=False)


def test_right_to_a_namespace_takes_one_question() -> None:
    store = Store({}, {("POST", "/subjectaccessreviews"): (201, {"status": {"allowed": True}})})
    with session_with(store) as session:
        rights = CloneRights(session)
        rights.gather(_right(str(number)) for number in range(100))
        assert not rights.refused(_right("7"))
    assert len(store.asked) == 1


def test_missing_right_is_asked_for_each_source() -> None:
    store = Store({}, {("POST", "/subjectaccessreviews"): (201, {"status": {"allowed": False}})})
    with session_with(store) as session:
        rights = CloneRights(session)
        rights.gather(map(_right, "ab"))
        # Two alternatives for all sources, and for each.
        assert len(store.asked) == 6
        assert rights.refused(_right("a")) and rights.refused(_right("b"))
    assert len(store.asked) == 6


def test_one_question_permits_all_sources() -> None:
    """A pair of namespaces takes one question, whatever the kinds and names of the sources."""
    templates = [
        {"metadata": {"name": name}, "spec": {"sourceRef": {"kind": "DataSource", "namespace": "golden", "name": name}}}
        for name in "ab"
    ]
    templates.append({"metadata": {"name": "c"}, "spec": {"source": {"pvc": {"namespace": "golden", "name": "c"}}}})
    vm = {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"dataVolumeTemplates": templates, "template": {"spec": {}}},
    }
    target = {"source": {"pvc": {"namespace": "golden", "name": "c"}}}
    kind = {"apiVersion": "cdi.kubevirt.io/v1beta1", "kind": "DataSource"}
    sources = [{**kind, "metadata": {"name": name, "namespace": "golden"}, "spec": target} for name in "ab"]
    store = Store({}, {("POST", "/subjectaccessreviews"): (201, {"status": {"allowed": True}})})
    with session_with(store) as session:
        rights = CloneRights(session)
        rights.gather_of([(vm, None), (vm, vm)], Objects(sources))
        assert len(store.asked) == 1
        assert not rights.refused(_right("a"))
    assert len(store.asked) == 1


def test_unanswered_question_refuses_nothing() -> None:
    store = Store({}, {("POST", "/subjectaccessreviews"): status(403, "no", "Forbidden")})
    with session_with(store) as session:
        assert not CloneRights(session).refused(_right("a"))
    assert len(store.asked) == 1
