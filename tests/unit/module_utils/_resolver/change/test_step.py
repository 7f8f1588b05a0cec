"""Jobs and steps, as the engine takes them."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.manifest import Progress
from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.change.step import VMI, Act, Job, Refuse, Seen, Step, state_until


def job(**fields: Any) -> Job[None]:
    result: Job[None] = Job(ObjectKey("VirtualMachine", "shop", "web"), None)
    for name, value in fields.items():
        setattr(result, name, value)
    return result


def test_new_job_goes_on_and_is_unchanged() -> None:
    new = job()
    assert (new.goes_on, new.changed, new.seen, new.label) == (True, False, Seen(), "shop/web")
    assert (new.failed, new.warnings, new.written, new.incomplete) == (None, [], False, False)


def test_equal_jobs_are_not_the_same() -> None:
    assert len({job(), job()}) == 2


@pytest.mark.parametrize("reason", ["failed", "skip_reason"])
def test_job_with_a_reason_goes_no_further(reason: str) -> None:
    assert job(**{reason: "it is"}).goes_on is False


@pytest.mark.parametrize(
    ("fields", "changed"),
    [
        ({"acted": True}, True),
        ({"acted": True, "failed": "later"}, False),
        ({"acted": True, "failed": "later", "written": True}, True),
        ({"written": True}, False),
    ],
)
def test_change_counts_though_a_later_step_failed(fields: dict[str, Any], changed: bool) -> None:
    assert job(**fields).changed is changed


def test_job_sees_the_vm_and_its_guest() -> None:
    both = job()
    both.see({"a": 1})
    both.see({"b": 1}, VMI)
    assert both.seen == Seen({"a": 1}, {"b": 1})


def test_warning_is_given_once() -> None:
    warned = job()
    for text in ("a", "b", "a"):
        warned.warn(text)
    assert warned.warnings == ["a", "b"]


def test_step_acts_if_it_has_something_to_do() -> None:
    def function(*_arguments: Any) -> Any:
        return None

    assert (Step("idle").acts, Step("idle").ends_with_wait) == (False, False)
    acts: list[dict[str, Any]] = [{name: function} for name in ("reads", "needs", "prepare", "decide")]
    assert all(Step("busy", **one).acts and not Step("busy", **one).ends_with_wait for one in acts)
    waits: list[dict[str, Any]] = [{name: function} for name in ("until", "others")]
    assert all(Step("wait", **one).ends_with_wait and not Step("wait", **one).acts for one in waits)


def test_step_for_some_of_its_jobs() -> None:
    step = Step("halt", takes=lambda job: job.written).only(lambda job: job.acted)
    takes = [step.takes(job(acted=acted, written=written)) for acted in (True, False) for written in (True, False)]
    assert takes == [True, False, False, False]


def test_what_steps_say_unless_told_otherwise() -> None:
    assert (Act(()).is_change, Act(()).may_be_found, Refuse("why").missing) == (True, False, False)
    step = Step("s")
    assert (step.takes(job()), step.stop([job()])) == (True, False)
    assert not any((step.pause, step.polls, step.metadata_only, step.afresh, step.waits, step.full_wait))


def test_state_of_an_object_that_must_exist() -> None:
    assert state_until(bool, {"a": 1}, "the pod") == Progress(done=True, pending="the pod")
    assert state_until(bool, {}, "the pod") == Progress(done=False, pending="the pod")
    assert state_until(bool, None, "the pod").failed == "the object was deleted while the task waited for it"
