"""The engine: which steps jobs take, what is sent, what check mode sends instead, and how waits end."""

from collections.abc import Callable
from typing import Any

import pytest

from plugins.module_utils._cluster.reads.lookup import ClusterLookup
from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes.engine import look, run
from plugins.module_utils._resolver.api.manifest import Progress, name_of
from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.api.write import merge_patch
from plugins.module_utils._resolver.change.step import VM, VMI, Act, Decision, Facts, Job, Refuse, Step
from scripted_server import Store, forbidden, listed, session_with, status

VMS = "/apis/kubevirt.io/v1/namespaces/{}/virtualmachines"
VMIS = "/apis/kubevirt.io/v1/namespaces/{}/virtualmachineinstances"

StringJob = Job[str]


def job(name: str, goal: str = "", namespace: str = "shop") -> StringJob:
    return Job(ObjectKey("VirtualMachine", namespace, name), goal)


def vm(name: str, namespace: str = "shop", **status_fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {}, "status": status_fields}


def store(*names: str) -> Store:
    return Store({VMS.format("shop"): [vm(name) for name in names], VMIS.format("shop"): []})


def patching(act: Callable[[Act], Act] = lambda act: act) -> Step:
    """A step that labels the VM; the goal `refuse` refuses it, `skip` does nothing."""

    def decide(one: StringJob, _facts: Facts) -> Decision:
        write = merge_patch(one.key.path, {"metadata": {"labels": {"step": "done"}}})
        return {"refuse": Refuse("no"), "skip": None}.get(one.goal, act(Act((write,), (write,))))

    return Step("patch", decide)


def taken(cluster: Any, jobs: list[StringJob], *steps: Step, **settings: Any) -> list[StringJob]:
    with session_with(cluster) as session:
        run(session, jobs, steps, Task(**{"wait": True, "wait_timeout": 20, **settings}))
    return jobs


def test_jobs_take_steps_until_they_fail() -> None:
    cluster = store("a", "b", "c")
    cluster.answers[("PATCH", "/a")] = cluster.answers[("PATCH", "/c")] = (200, {})
    seen: list[str] = []
    last = Step("last", lambda one, _facts: seen.append(one.key.name))
    a, b, c = taken(cluster, [job("a"), job("b", "refuse"), job("c", "skip")], patching(), last)
    assert [(one.done, one.written, one.changed, one.failed) for one in (a, b, c)] == [
        (["patch"], True, True, None),
        ([], False, False, "no"),
        ([], False, False, None),
    ]
    assert seen == ["a", "c"]
    assert cluster.writes == [("PATCH", f"{VMS.format('shop')}/a")]


def test_check_mode_sends_dry_runs_without_waiting() -> None:
    queries: list[dict[str, str]] = []

    def answer(_method: str, _path: str, query: dict[str, str]) -> tuple[int, Any]:
        queries.append(query)
        return 200, {}

    waits = Step("wait", until=lambda _one: pytest.fail("check mode waits"))
    a, b = taken(answer, [job("a"), job("b", "refuse")], patching(), waits, check_mode=True)
    assert [query.get("dryRun") for query in queries] == ["All"]
    assert (a.done, a.written, a.changed) == (["patch"], False, True)
    assert (b.failed, b.changed) == (None, False)
    assert b.warnings == ["no; check mode cannot tell whether an earlier task of the play changes that"]
    queries.clear()
    (c,) = taken(answer, [job("c")], patching(), check_mode=True, server_dry_run=False)
    assert (queries, c.done) == ([], ["patch"])


@pytest.mark.parametrize("check_mode", [False, True])
def test_refusal_that_means_no_failure(check_mode: bool) -> None:
    cluster = store("a")
    cluster.answers[("PATCH", "/a")] = status(409, "under way", "Conflict")
    tolerant = patching(lambda act: act._replace(on_error=lambda refusal: None if refusal.code == 409 else "other"))
    (a,) = taken(cluster, [job("a")], tolerant, check_mode=check_mode)
    assert (a.failed, a.done, a.changed) == (None, [], False)


def test_answer_without_the_change_fails() -> None:
    cluster = store("a")
    cluster.answers[("PATCH", "/a")] = (200, vm("a"))
    (a,) = taken(cluster, [job("a")], patching(lambda act: act._replace(undone=lambda _answer: "metadata.labels.step")))
    assert (a.written, a.done) == (False, [])
    assert str(a.failed).startswith("metadata.labels.step: ") and "does not let the object have it" in str(a.failed)


def test_writes_that_are_no_change_do_not_count() -> None:
    cluster = store("a")
    cluster.answers[("PATCH", "/a")] = (200, {})
    (a,) = taken(cluster, [job("a")], patching(lambda act: act._replace(is_change=False)))
    assert (a.done, a.written, a.changed) == (["patch"], False, False)


def test_wait_ends_with_the_object_and_its_failure() -> None:
    cluster = store("a", "b")

    def until(one: StringJob) -> Any:
        if one.goal == "skip":
            return None
        return lambda live: Progress(done=one.goal == "good", failed=None if one.goal == "good" else "broken")

    jobs = [job("a", "good"), job("b", "bad"), job("c", "skip")]
    after = Step("wait", until=until, after_wait=lambda _one, failure: f"late: {failure}")
    a, b, c = taken(cluster, jobs, after)
    assert [(one.failed, one.waited) for one in (a, b, c)] == [
        (None, ["wait"]),
        ("late: broken", ["wait"]),
        (None, []),
    ]
    assert a.seen.live is not None and a.seen.live["metadata"] == vm("a")["metadata"]


def test_polled_step_is_taken_again_until_done() -> None:
    cluster = store("a")
    looks: list[str] = []

    def decide(one: StringJob, _facts: Facts) -> None:
        looks.append(one.key.name)
        if len(looks) == 3:
            cluster.lists[VMS.format("shop")] = [vm("a", ready=True)]

    step = Step(
        "poll",
        decide,
        reads=lambda _one: (VM, VMI),
        until=lambda _one: lambda live: Progress(bool(live and live["status"].get("ready")), pending="it to be ready"),
        polls=True,
    )
    (a,) = taken(cluster, [job("a")], step)
    assert (a.failed, a.waited, len(looks)) == (None, ["poll"], 4)
    cluster.lists[VMS.format("shop")] = [vm("a")]
    (late,) = taken(cluster, [job("a")], step, wait_timeout=0.3)
    assert late.failed == "it to be ready"


def test_unreadable_namespace_fails_only_its_jobs() -> None:
    cluster = store("a")
    cluster.answers[("GET", "/lab/virtualmachines/x")] = forbidden("virtualmachines")
    cluster.answers[("GET", "/lab/virtualmachineinstances/x")] = (200, listed())
    jobs = [job("x", namespace="lab"), job("a")]
    with session_with(cluster) as session:
        look(session, jobs)
    assert jobs[0].failed is not None and jobs[1].failed is None
    live = jobs[1].seen.live
    assert live is not None and live["metadata"] == vm("a")["metadata"]


def several(*paths: str) -> Step:
    """A step of several acts, each with one write below the VM."""
    return Step("several", lambda one, _facts: [_act(f"{one.key.path}{path}") for path in paths])


def _act(path: str) -> Act:
    write = merge_patch(path, {})
    return Act((write,), (write,), on_error=lambda refusal: f"{path.rpartition('/')[2]}: {refusal}")


@pytest.mark.parametrize("check_mode", [False, True])
def test_acts_of_a_step_end_with_a_failure(check_mode: bool) -> None:
    cluster = store("a", "b")
    for name, answer in (("one", (200, {})), ("two", status(422, "no", "Invalid"))):
        cluster.answers[("PATCH", f"/a/{name}")] = answer
    (a,) = taken(cluster, [job("a")], several("/one", "/two", "/three"), check_mode=check_mode)
    assert (a.failed, a.done, a.changed) == ("two: no", [], not check_mode)
    sent = cluster.dry_runs if check_mode else cluster.writes
    assert [path.rpartition("/")[2] for _method, path in sent] == ["one", "two"]


def test_dry_run_that_cannot_tell_ends_the_acts() -> None:
    cluster = store("a")
    cluster.answers[("PATCH", "/a/one")] = status(400, 'admission webhook "x" does not support dry run', "BadRequest")
    (a,) = taken(cluster, [job("a")], several("/one", "/two"), check_mode=True)
    assert (a.failed, a.done, len(a.warnings), len(cluster.dry_runs)) == (None, ["several"], 1, 1)


@pytest.mark.parametrize(("conflicts", "gone", "end"), [(2, False, "done"), (9, False, "failed"), (9, True, "nothing")])
def test_conflict_is_decided_again_by_the_present_object(conflicts: int, gone: bool, end: str) -> None:
    bodies: list[Any] = []

    def answer(method: str, _path: str, _query: dict[str, str]) -> tuple[int, Any]:
        if method == "GET":
            return status(404, "not found", "NotFound") if gone else (200, vm("a", look=len(bodies)))
        bodies.append(method)
        return status(409, "conflict", "Conflict") if len(bodies) <= conflicts else (200, {})

    def again(act: Act) -> Act:
        return act._replace(again=lambda live: None if live is None else again(act))

    (a,) = taken(answer, [job("a")], patching(again))
    assert (a.failed, a.done, len(bodies)) == {
        "done": (None, ["patch"], 3),
        "failed": ("conflict", [], 5),
        "nothing": (None, ["patch"], 1),
    }[end]


def test_another_write_may_follow_a_refusal() -> None:
    cluster = store("a")
    cluster.answers[("PATCH", "/a")] = status(409, "no", "Conflict")
    cluster.answers[("PATCH", "/b")] = (200, {})
    other = merge_patch(job("b").key.path, {})
    (a,) = taken(cluster, [job("a")], patching(lambda act: act._replace(instead=lambda _refusal: other)))
    assert (a.failed, a.done) == (None, ["patch"])
    assert cluster.writes == [("PATCH", f"{VMS.format('shop')}/{name}") for name in "ab"]


def test_answer_says_whether_the_step_is_done() -> None:
    cluster = store("a")
    answers: list[Any] = []
    cluster.answers[("PATCH", "/a")] = (200, {"spec": 1})
    unchanged = patching(lambda act: act._replace(answered=lambda answer: answers.append(answer) is not None))
    (a,) = taken(cluster, [job("a")], unchanged)
    assert (a.failed, a.done, a.written, len(answers)) == (None, [], False, 1)


def test_read_that_fails_may_mean_no_failure() -> None:
    cluster = store("a")
    cluster.answers[("GET", "/virtualmachineinstances/a")] = forbidden("virtualmachineinstances")
    told: list[str] = []
    step = Step("look", reads=lambda _one: (VMI,), unread=lambda _one, failure: told.append(failure))
    (a,) = taken(cluster, [job("a")], step)
    assert (a.failed, len(told)) == (None, 1)


def test_fail_fast_stops_later_steps() -> None:
    cluster = store("a", "b")
    cluster.answers[("PATCH", "/a")] = status(422, "no", "Invalid")
    a, b = taken(cluster, [job("b", "skip"), job("a")], patching(), several(""), fail_fast=True)[::-1]
    assert (a.failed, b.failed) == ("no", "not sent because another object of the task failed and fail_fast is set")


def test_jobs_are_prepared_and_awaited_together() -> None:
    together: list[int] = []
    step = Step(
        "all",
        prepare=lambda jobs, _facts: together.append(len(jobs)),
        until=lambda _one: lambda _live: Progress(done=True),
        metadata_only=True,
        others=lambda jobs, _seconds: {one: "its disk is there" for one in jobs if one.key.name == "b"},
    )
    a, b = taken(store("a", "b"), [job("a"), job("b")], step)
    assert (together, a.failed, b.failed, a.seen.live) == ([2], None, "its disk is there", None)
    taken(store(), [], step)
    assert together == [2]


def test_run_may_end_before_a_step() -> None:
    last: list[str] = []
    ends = Step("ends", stop=lambda jobs: any(one.failed for one in jobs))
    _a, b = taken(store("a", "b"), [job("a"), job("b", "refuse")], patching(), ends._replace(decide=noting(last)))
    assert (last, b.failed) == ([], "no")
    taken(store("a"), [job("a", "skip")], patching(), ends._replace(decide=noting(last)))
    assert last == ["a"]


def noting(names: list[str]) -> Callable[[StringJob, Facts], None]:
    return lambda one, _facts: names.append(one.key.name)


def test_job_that_does_not_take_a_step_goes_on() -> None:
    first: list[str] = []
    last: list[str] = []
    some = Step("some", noting(first)).only(lambda one: one.key.name != "b").only(lambda one: one.key.name != "c")
    left = [job(name) for name in "abcd"]
    left[3].skip_reason = "it belongs to somebody else"
    taken(store(), left, some, Step("all", noting(last)))
    assert (first, last) == (["a"], ["a", "b", "c"])


def test_other_listed_objects_are_shown_to_the_step() -> None:
    others: list[str] = []
    see = Step("see", reads=lambda _one: (VM,), listed=lambda items: others.extend(map(name_of, items)))
    a, _b = taken(store("a", "b", "c"), [job("a"), job("b")], see)
    assert (others, name_of(a.seen.live or {})) == (["c"], "a")


def test_failure_of_a_step_says_which() -> None:
    a, b = taken(store("a", "b"), [job("a", "refuse"), job("b", "skip")], patching()._replace(problem="the patch: "))
    assert (a.failed, b.failed) == ("the patch: no", None)


@pytest.mark.parametrize("afresh", [False, True])
def test_shared_facts_are_read_once_unless_outdated(afresh: bool) -> None:
    cluster = store("a")
    facts: list[Any] = []

    def look_up(_one: StringJob, known: Facts) -> None:
        known.get("VirtualMachine", "shop", "a")
        facts.append(known)

    with session_with(cluster) as session:
        steps = [Step("one", look_up), Step("two", look_up)._replace(afresh=afresh), Step("three", look_up)]
        run(session, [job("a")], steps, Task(), facts=ClusterLookup(session))
    assert [facts[1] is facts[0], facts[2] is facts[1]] == [not afresh, True]
    assert len(cluster.asked) == 1 + afresh


def test_step_may_wait_for_as_long_again() -> None:
    late = Step("late", until=lambda _one: lambda _live: Progress(pending="it"), after_wait=lambda _one, _failure: None)
    seconds: list[float] = []
    left = Step("left", others=lambda _jobs, left: seconds.append(left) or {})  # type: ignore[func-returns-value]
    for wait in (True, False):
        again = (left, left._replace(full_wait=True, waits=True))
        taken(store("a"), [job("a")], late._replace(waits=True), *again, wait=wait, wait_timeout=0.3)
    used_up, *full = seconds
    assert used_up < 0.1 and len(full) == 2 and min(full) > 0.2
