"""Declaring objects of which some cannot be read, written or waited for: what becomes of the others."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from plugins.module_utils._cluster.reads import watch
from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes.declare import declare
from plugins.module_utils._resolver.api.finding import WARNING, Finding
from plugins.module_utils._resolver.api.manifest import Progress
from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.change.declare_steps import ANY_KIND, DeclaredKind, plan_object
from plugins.module_utils._resolver.change.declared import DeclareJob, declare_job
from plugins.module_utils._resolver.change.step import Facts, Step
from plugins.module_utils._resolver.declare import plan
from scripted_server import Exact, Manifest, Store, applied, forbidden, session_with, status

KIND = "VirtualMachineInstancetype"
PATH = "/apis/instancetype.kubevirt.io/v1beta1/namespaces/{}/virtualmachineinstancetypes"


def finding(check: Callable[[Sequence[DeclareJob]], Mapping[DeclareJob, list[Finding]]]) -> DeclaredKind:
    """A kind with findings."""

    def prepare(jobs: Sequence[DeclareJob], _facts: Facts) -> None:
        for job, findings in check(jobs).items():
            job.goal.findings = findings

    return DeclaredKind(checks=(Step("check", prepare=prepare),))


def manifest(name: str, namespace: str = "shop", guest: int = 1) -> Manifest:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": KIND,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"cpu": {"guest": guest}, "memory": {"guest": "2Gi"}},
    }


def entry(name: str, namespace: str = "shop", state: str = "present", **options: Any) -> DeclareJob:
    created = manifest(name, namespace)
    return declare_job(ObjectKey(KIND, namespace, name), state, created, **options)


def run(
    store: Any, *entries: DeclareJob, kind: DeclaredKind = ANY_KIND, concurrency: int = 1, **settings: Any
) -> list[DeclareJob]:
    with session_with(store) as session:
        return declare(session, kind, list(entries), Task(concurrency=concurrency, **settings))


def empty(*namespaces: str) -> Store:
    return Store({PATH.format(namespace): [] for namespace in namespaces})


def test_invalid_entry_stops_the_task() -> None:
    store = empty("shop")
    wrong, right = run(store, entry("a", problem="name: is wrong"), entry("b"))
    assert (wrong.failed, wrong.skip_reason) == ("name: is wrong", None)
    assert (right.failed, right.skip_reason) == (None, "not sent because other entries are invalid")
    assert store.asked == []


def test_unreadable_namespace_fails_only_its_entries() -> None:
    store = empty("shop", "lab")
    store.answers["GET", "/lab/virtualmachineinstancetypes"] = forbidden("x")
    first, second, other = run(store, entry("a", "lab"), entry("b", "lab"), entry("c"))
    for result in (first, second):
        assert 'resources: ["virtualmachineinstancetypes"], verbs: ["list"]' in str(result.failed)
        assert not result.changed
    assert (other.failed, other.goal.action, store.writes) == (
        None,
        plan.CREATE,
        [("PATCH", PATH.format("shop") + "/c")],
    )


def test_fail_fast_sends_nothing_after_preflight_refusal() -> None:
    picky = finding(lambda planned: {job: [Finding("too small")] for job in planned if job.key.name == "a"})
    store = empty("shop")
    refused, spared = run(store, entry("a"), entry("b"), kind=picky, fail_fast=True)
    assert refused.failed == "too small"
    assert spared.failed == "not sent because another object of the task failed and fail_fast is set"
    assert store.writes == []
    refused, sent = run(store, entry("a"), entry("b"), kind=picky)
    assert (refused.failed, sent.failed, len(store.writes)) == ("too small", None, 1)


def test_fail_fast_sends_nothing_after_a_failed_write() -> None:
    store = empty("shop")
    store.answers["PATCH", "/a"] = status(422, "no", "Invalid")
    settled: list[DeclareJob] = []
    patient = DeclaredKind(restart=(Step("settle", prepare=lambda jobs, _facts: settled.extend(jobs)),))
    results = run(store, entry("a"), entry("b"), kind=patient, fail_fast=True, wait=True)
    assert [result.failed for result in results] == [
        "no",
        "not sent because another object of the task failed and fail_fast is set",
    ]
    assert [result.changed for result in results] == [False, False]
    assert (settled, len(store.writes)) == ([], 1)


def test_fail_fast_stops_although_a_running_write_succeeds() -> None:
    store = empty("shop")
    store.answers["PATCH", "/a7"] = status(422, "no", "Invalid")

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        if method == "PATCH" and not path.endswith("/a7"):
            # The others end while the rest is being called off.
            time.sleep(0.002)
        return store(method, path, query)

    results = run(answer, *(entry(f"a{number}") for number in range(3000)), concurrency=16, fail_fast=True)
    assert results[7].failed == "no"
    assert len(store.writes) < 50
    assert sum(result.changed for result in results) == len(store.writes) - 1


def test_first_patch_counts_as_change_although_apply_fails() -> None:
    store = Store({PATH.format("shop"): [manifest("a", guest=2)]})
    kind = DeclaredKind(lambda job, how: plan_object(job, how)._replace(merge_patch={("spec", "cpu", "guest"): None}))

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        return status(422, "no", "Invalid") if "force" in query else store(method, path, query)

    (result,) = run(answer, entry("a"), kind=kind)
    assert (result.failed, result.changed, store.writes) == ("no", True, [("PATCH", PATH.format("shop") + "/a")])


def test_written_object_has_new_spec_and_old_status() -> None:
    """An answer as planned is not kept: the object before has most of it."""
    live = {**manifest("a", guest=2), "status": {"seen": True}}
    store = Store({PATH.format("shop"): [live]})
    answered = {"metadata": {"name": "a", "namespace": "shop", "generation": 2}}
    store.answers["PATCH", "/a"] = 200, answered
    store.answers["PATCH", "/b"] = 200, answered
    changed, created = run(store, entry("a"), entry("b"))
    assert changed.seen.live == {**live, **answered, "spec": manifest("a")["spec"]}
    assert created.seen.live == {**manifest("b"), **answered, "metadata": {**answered["metadata"], "name": "b"}}


def conflict(field: str, manager: str) -> tuple[int, Manifest]:
    cause = {"reason": "FieldManagerConflict", "field": field, "message": f'conflict with "{manager}" using v1'}
    return 409, {"reason": "Conflict", "message": "Apply failed", "details": {"causes": [cause]}}


@pytest.mark.parametrize(
    ("field", "manager", "taken"),
    [
        (".spec.cpu.guest", "virtshape", True),
        (".spec.runStrategy", "virt-api", True),
        (".spec.cpu.guest", "virt-api", False),
        (".spec.cpu.guest", "helm", False),
    ],
)
def test_conflicts_are_forced_for_own_fields_only(field: str, manager: str, taken: bool) -> None:
    forced: list[str] = []
    store = empty("shop")

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        if method == "PATCH":
            forced.append(query["force"])
            if query["force"] == "false":
                return conflict(field, manager)
        return store(method, path, query)

    (result,) = run(answer, entry("a"))
    assert forced == (["false", "true"] if taken else ["false"])
    assert (result.failed is None, result.changed) == (taken, taken)
    if not taken:
        assert f'"{manager}" owns spec.cpu.guest' in str(result.failed)


def test_conflict_without_causes_keeps_the_server_message() -> None:
    store = empty("shop")
    store.answers["PATCH", "/a"] = status(409, "object is being deleted", "Conflict")
    (result,) = run(store, entry("a"))
    assert result.failed == "object is being deleted"


def test_deletion_waits_for_dependents_which_may_fail() -> None:
    store = Store({PATH.format("shop"): [{**manifest("a"), "metadata": {**manifest("a")["metadata"], "uid": "1"}}]})
    requests: list[list[str]] = []

    def await_dependents(jobs: Sequence[DeclareJob], _seconds: float) -> dict[DeclareJob, str]:
        requests.append([job.key.name for job in jobs])
        return {job: "its guest still runs" for job in jobs if job.key.name == "a"}

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        if method == "DELETE":
            store.lists[PATH.format("shop")] = []
        return store(method, path, query)

    kind = DeclaredKind(gone=(Step("dependents", others=await_dependents),))
    result, never = run(answer, entry("a", state="absent"), entry("b", state="absent"), kind=kind, wait=True)
    assert (result.goal.action, result.written, result.failed) == (plan.DELETE, True, "its guest still runs")
    assert (never.goal.action, never.failed) == (plan.NONE, None)
    assert requests == [["a", "b"]]


def test_leftovers_delay_only_the_object_of_that_name() -> None:
    store = Store({PATH.format("shop"): [manifest("a", guest=2)]})
    requests: list[list[str]] = []

    def await_dependents(jobs: Sequence[DeclareJob], _seconds: float) -> dict[DeclareJob, str]:
        requests.append([job.key.name for job in jobs])
        return {job: "its revision is still there" for job in jobs if job.key.name == "b"}

    kind = DeclaredKind(cleared=(Step("dependents", others=await_dependents),))
    changed, late, recreated = run(store, entry("a"), entry("b"), entry("c"), kind=kind)
    assert (changed.written, late.written, recreated.written) == (True, False, True)
    assert late.failed == "its revision is still there"
    assert requests == [["b", "c"]]
    assert run(store, entry("d"), kind=kind, check_mode=True)[0].changed
    assert len(requests) == 1


def ending(name: str) -> Manifest:
    live = manifest(name)
    return {**live, "metadata": {**live["metadata"], "uid": "1", "deletionTimestamp": "2026-01-01T00:00:00Z"}}


@pytest.mark.parametrize("successor", [False, True])
def test_terminating_object_is_recreated_once_gone(successor: bool) -> None:
    store = Store({PATH.format("shop"): [ending("a")]})
    looks: list[int] = []

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        if method == "GET":
            looks.append(len(store.writes))
            if len(looks) == 2:
                new = {**manifest("a"), "metadata": {**manifest("a")["metadata"], "uid": "2"}}
                store.lists[PATH.format("shop")] = [new] if successor else []
        return store(method, path, query)

    (result,) = run(answer, entry("a"), wait_timeout=1)
    assert (result.goal.action, result.written, result.failed) == (plan.CREATE, True, None)
    assert looks[:2] == [0, 0]


def test_object_stuck_in_deletion_fails_without_write() -> None:
    store = Store({PATH.format("shop"): [ending("a")]})
    late, other = run(store, entry("a"), entry("b"), wait_timeout=0.2)
    assert "the deletion of the existing object" in str(late.failed)
    assert (late.changed, other.written) == (False, True)
    assert store.writes == [("PATCH", PATH.format("shop") + "/b")]


def test_check_mode_plans_terminating_objects_without_dry_run() -> None:
    store = Store({PATH.format("shop"): [ending("a")]})
    (result,) = run(store, entry("a"), check_mode=True)
    assert (result.goal.action, result.changed, store.writes) == (plan.CREATE, True, [])


def test_terminating_object_is_awaited_not_deleted_again() -> None:
    store = Store({PATH.format("shop"): [ending("a")]})
    (result,) = run(store, entry("a", state="absent"))
    assert (result.goal.action, result.changed, store.writes) == (plan.NONE, False, [])
    (late,) = run(store, entry("a", state="absent"), wait=True, wait_timeout=0.2)
    assert "the object to disappear" in str(late.failed)


def test_object_with_another_uid_counts_as_deleted() -> None:
    store = Store({PATH.format("shop"): [ending("a")]})

    def answer(method: str, path: str, query: dict[str, str]) -> tuple[int, Any] | None:
        if "watch" in query or (method == "GET" and store.asked):
            store.lists[PATH.format("shop")] = [{**manifest("a"), "metadata": {"name": "a", "uid": "2"}}]
        return store(method, path, query)

    (result,) = run(answer, entry("a", state="absent"), wait=True, wait_timeout=5)
    assert (result.goal.action, result.failed) == (plan.NONE, None)


def test_failed_deletion_is_not_awaited() -> None:
    store = Store({PATH.format("shop"): [manifest("a")]}, {("DELETE", "/a"): None})
    (result,) = run(store, entry("a", state="absent"), wait=True)
    assert str(result.failed).startswith("cannot reach the API server")
    assert (result.changed, store.asked[-1][0]) == (False, "DELETE")


def test_failure_from_before_the_write_does_not_count() -> None:
    live = manifest("a", guest=2)
    store = Store({PATH.format("shop"): [live]})
    broken = Progress(failed="it is broken")
    looks = DeclaredKind(probe=lambda _live, before: broken.with_grace() if before is not None else broken)
    (written,) = run(store, entry("a"), kind=looks, wait=True, wait_timeout=0.2)
    assert str(written.failed).startswith("not ready after ") and str(written.failed).endswith(": it is broken")
    other = DeclaredKind(probe=lambda _live, _before: broken)
    (result,) = run(store, entry("a"), kind=other, wait=True, wait_timeout=60)
    assert result.failed == "it is broken"


def test_waits_use_a_limited_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()

    def probe(_live: Manifest | None, _before: Manifest | None) -> Progress:
        threads.add(threading.current_thread())
        return Progress(done=True)

    monkeypatch.setattr(watch, "WATCHES", 2)
    spaces = [f"ns-{number}" for number in range(12)]
    results = run(
        empty(*spaces),
        *(entry("a", namespace) for namespace in spaces),
        kind=DeclaredKind(probe=probe),
        wait=True,
    )
    assert [result.failed for result in results] == [None] * 12
    assert len(threads) <= 2


def other(live: Manifest, guest: int, **metadata: Any) -> Exact:
    """An answer that is not as applied."""
    answer = applied(live, manifest("a"), "virtshape")
    return Exact({**answer, "spec": manifest("a", guest=guest)["spec"], "metadata": {**answer["metadata"], **metadata}})


@pytest.mark.parametrize("check_mode", [False, True])
def test_answer_decides_what_changed(check_mode: bool) -> None:
    live = dict(other(manifest("a"), 2))
    store = Store({PATH.format("shop"): [live]})
    warning = "VMs will drift"
    kind = finding(lambda planned: {result: [Finding(warning, WARNING)] for result in planned})
    store.answers["PATCH", "/a"] = 200, other(live, 2, resourceVersion="2")
    (same,) = run(store, entry("a"), kind=kind, check_mode=check_mode)
    assert (same.goal.action, same.changed, same.goal.shown_change) == (plan.NONE, False, ({}, {}))
    # A warning of the change is none of an object that stays as it is.
    assert same.warnings == [
        "spec.cpu.guest: declared 1, but an admission webhook or policy of the cluster makes it 2;"
        " declare that, or change what sets it"
    ]
    assert (same.goal.answer, len(store.writes), len(store.dry_runs)) == (None, not check_mode, check_mode)

    store.answers["PATCH", "/a"] = 200, other(live, 4)
    (changed,) = run(store, entry("a"), kind=kind, check_mode=check_mode)
    assert (changed.goal.action, changed.goal.shown_change[1]) == (plan.APPLY, {"spec": {"cpu": {"guest": 4}}})
    assert warning in changed.warnings and changed.seen.live is not None
    assert changed.seen.live["spec"]["cpu"]["guest"] == (2 if check_mode else 4)
