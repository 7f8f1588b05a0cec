"""Check mode asks the server by dry runs, and believes it; nothing is stored."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes.declare import declare
from plugins.module_utils._resolver.api.finding import Finding
from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.change.declare_steps import ANY_KIND, DeclaredKind, plan_object
from plugins.module_utils._resolver.change.declared import DeclareJob, declare_job
from plugins.module_utils._resolver.change.step import Act, Facts, Step
from plugins.module_utils._resolver.declare import plan
from scripted_server import Manifest, Store, session_with, status

Answer = Callable[[str, str, "dict[str, str]"], Any]

KIND = "VirtualMachineInstancetype"
PLACE = "/apis/instancetype.kubevirt.io/v1beta1/namespaces/shop/virtualmachineinstancetypes"
UNKNOWN = "check mode cannot tell whether an earlier task of the play creates it"


def finding(check: Callable[[Sequence[DeclareJob]], Mapping[DeclareJob, list[Finding]]]) -> DeclaredKind:
    """A kind with findings."""

    def prepare(jobs: Sequence[DeclareJob], _facts: Facts) -> None:
        for job, findings in check(jobs).items():
            job.goal.findings = findings

    return DeclaredKind(checks=(Step("check", prepare=prepare),))


def manifest(name: str) -> Manifest:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": KIND,
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}"},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}},
    }


def check(
    store: Answer, *names: str, state: str = "present", kind: DeclaredKind = ANY_KIND, **how: Any
) -> list[DeclareJob]:
    entries = [declare_job(ObjectKey(KIND, "shop", name), state, manifest(name)) for name in names]
    with session_with(store) as session:
        return declare(session, kind, entries, Task(check_mode=True, concurrency=1, **how))


def empty(**answers: Any) -> Store:
    return Store({PLACE: []}, {("PATCH", f"/{name}"): answer for name, answer in answers.items()})


def test_check_mode_sends_dry_runs_only() -> None:
    store = Store({PLACE: [manifest("there")]})
    created, applied = check(store, "new", "there")
    assert (created.goal.action, created.changed, applied.goal.action, applied.changed) == (
        plan.CREATE,
        True,
        plan.APPLY,
        True,
    )
    assert store.dry_runs == [("PATCH", f"{PLACE}/new"), ("PATCH", f"{PLACE}/there")]
    assert store.writes == []
    check(store, "new", server_dry_run=False)
    assert len(store.dry_runs) == 2


def test_a_deletion_is_a_dry_run_too() -> None:
    store = Store({PLACE: [manifest("there")]})
    (result,) = check(store, "there", state="absent")
    assert (result.goal.action, result.changed, result.failed) == (plan.DELETE, True, None)
    assert (store.dry_runs, store.writes) == ([("DELETE", f"{PLACE}/there")], [])


@pytest.mark.parametrize(
    "answer",
    [
        status(422, 'admission webhook "policy" denied the request: no', "Invalid"),
        status(403, 'admission webhook "policy" denied the request: no', "Forbidden"),
        status(403, "exceeded quota: no", "Forbidden"),
        status(400, "strict decoding error: no", "BadRequest"),
        status(404, "the server could not find the requested resource: no", "NotFound"),
    ],
)
def test_rejected_dry_run_is_never_reported_as_created(answer: Any) -> None:
    refused, fine = check(empty(bad=answer), "bad", "good")
    assert refused.failed is not None and (not refused.changed)
    assert "no" in refused.failed
    assert (fine.failed, fine.changed, fine.warnings) == (None, True, [])


def test_object_refused_by_dry_run_is_not_restarted() -> None:
    store = empty(bad=status(422, "no", "Invalid"))
    foreseen = Step("restart", lambda _job, _facts: Act(()))
    refused, fine = check(store, "bad", "good", kind=DeclaredKind(foreseen=(foreseen,)))
    assert (refused.failed is not None, refused.done, fine.done) == (True, [], ["apply", "restart"])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (status(404, 'namespaces "shop" not found', "NotFound"), UNKNOWN),
        (status(422, 'Failure to find instancetype: x.y "small" not found', "Invalid"), UNKNOWN),
        (status(400, 'admission webhook denied the request: persistentvolumeclaims "root" not found'), UNKNOWN),
        (
            status(403, 'x is forbidden: User "u" cannot patch resource "x" in API group "y"', "Forbidden"),
            'grant {apiGroups: ["y"], resources: ["x"], verbs: ["patch"]}',
        ),
        (status(400, 'admission webhook "audit" does not support dry run', "BadRequest"), "does not support dry run"),
    ],
)
def test_inconclusive_dry_run_is_a_warning(answer: Any, message: str) -> None:
    (result,) = check(empty(a=answer), "a")
    assert (result.failed, result.changed) == (None, True)
    (warning,) = result.warnings
    assert message in warning


def test_unreachable_server_fails_the_check() -> None:
    (result,) = check(empty(a=None), "a")
    assert str(result.failed).startswith("cannot reach the API server")


def test_check_mode_takes_over_fields_like_a_run() -> None:
    forced: list[tuple[str, str]] = []
    store = empty()

    def answer(method: str, path: str, query: dict[str, str]) -> Any:
        if method == "PATCH":
            forced.append((query["force"], query["dryRun"]))
            if query["force"] == "false":
                cause = {"field": ".spec.cpu", "message": 'conflict with "virtshape" using v1'}
                return 409, {"reason": "Conflict", "message": "Apply failed", "details": {"causes": [cause]}}
        return store(method, path, query)

    (result,) = check(answer, "a")
    assert (result.failed, forced) == (None, [("false", "All"), ("true", "All")])


def test_dry_run_sends_merge_patch_without_apply() -> None:
    store = Store({PLACE: [manifest("a")]})
    taken = DeclaredKind(
        lambda job, how: plan_object(job, how)._replace(merge_patch={("spec", "memory", "hugepages"): None})
    )
    content: list[dict[str, str]] = []

    def answer(method: str, path: str, query: dict[str, str]) -> Any:
        if method == "PATCH":
            content.append(query)
        return store(method, path, query)

    (result,) = check(answer, "a", kind=taken)
    assert (result.failed, len(content), "force" in content[0]) == (None, 1, False)


def test_missing_objects_are_warnings_in_check_mode_only() -> None:
    finds = finding(
        lambda planned: {
            result: [Finding(f"{result.key.name} is not there", missing=result.key.name == "gone")]
            for result in planned
        },
    )
    gone, wrong = check(empty(), "gone", "wrong", kind=finds)
    assert (gone.failed, gone.warnings) == (None, [f"gone is not there; {UNKNOWN}"])
    assert (wrong.failed, wrong.warnings) == ("wrong is not there", [])
    # The warning of the dry run about the same object is not repeated.
    for name, count in (("gone", 1), ("other", 2)):
        answer = status(400, f'admission webhook denied the request: datasources.cdi.kubevirt.io "{name}" not found')
        (gone,) = check(empty(gone=answer), "gone", kind=finds)
        assert (gone.failed, len(gone.warnings)) == (None, count)
    with session_with(empty()) as session:
        entry = declare_job(ObjectKey(KIND, "shop", "gone"), "present", manifest("gone"))
        (run,) = declare(session, finds, [entry], Task())
    assert (run.failed, run.warnings) == ("gone is not there", [])


def test_denial_that_may_follow_from_an_absent_object() -> None:
    denied = status(422, 'admission webhook "policy" denied the request: 0 is too little', "Invalid")
    schema = status(422, "spec.memory: Required value", "Invalid")
    lacks = finding(lambda planned: {result: [Finding("no object x", missing=True)] for result in planned})
    doubtful, wrong = check(empty(new=denied, wrong=schema), "new", "wrong", kind=lacks)
    assert (doubtful.failed, doubtful.changed) == (None, True)
    assert doubtful.warnings[1].startswith("the dry run was denied, perhaps because of what does not exist yet: ")
    assert "0 is too little" in doubtful.warnings[1]
    # A schema knows no other objects.
    assert wrong.failed is not None
