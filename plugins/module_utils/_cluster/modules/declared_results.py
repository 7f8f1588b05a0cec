"""The results of declared objects, and the task's message."""

from __future__ import annotations

from collections.abc import Callable

from ..._resolver.change.declared import DeclareJob
from ..._resolver.declare import plan
from .module import Result
from .results import counted_noun, diff_of, joined_counts, need_verb

Describe = Callable[[DeclareJob], Result]

_WORDS = {
    plan.CREATE: "created",
    plan.APPLY: "changed",
    plan.DELETE: "deleted",
    plan.NONE: "unchanged",
    plan.KEEP: "left unchanged",
}
_TAKEN_OVER = "taken over"
# Other entries are invalid, so nobody has looked at the object.
_NOT_SENT = "not sent"


def is_taken_over(job: DeclareJob) -> bool:
    """Whether only the ownership of the object's fields changes."""
    planned = job.goal.plan
    return bool(planned.action == plan.APPLY and planned.before == planned.after == {})


def counts(jobs: list[DeclareJob]) -> dict[str, int]:
    words = [_word(job) for job in jobs]
    return {word: words.count(word) for word in (*_WORDS.values(), _TAKEN_OVER, _NOT_SENT)}


def _word(job: DeclareJob) -> str:
    if job.skip_reason and job.goal.action == plan.NONE:
        return _NOT_SENT
    return _TAKEN_OVER if is_taken_over(job) else _WORDS[_reported_action(job)]


def _reported_action(job: DeclareJob) -> str:
    """The action of a job; a related change, such as a disk that grows, is a change of the object."""
    return plan.APPLY if job.goal.related_changes and job.goal.action == plan.NONE else job.goal.action


def message(nouns: str, jobs: list[DeclareJob], results: list[Result], check_mode: bool) -> str:
    """`3 virtual machines: 1 created, 2 unchanged; 1 needs a restart`."""
    would = "would be " if check_mode and any(job.changed for job in jobs) else ""
    done = joined_counts(counts(jobs))
    return counted_noun(len(jobs), nouns) + (f": {would}{done}" if done else "") + _restarts(results, check_mode)


def _restarts(results: list[Result], check_mode: bool) -> str:
    """The number of VMs that were restarted, and that need a restart."""
    restarted = sum(bool(result.get("restarted")) for result in results)
    waiting = sum(bool(result.get("restart_required") and not result.get("restarted")) for result in results)
    would = "would be " if check_mode else ""
    needs = need_verb(waiting, check_mode)
    parts = (restarted and f"; {restarted} {would}restarted", waiting and f"; {waiting} {needs} a restart")
    return "".join(part for part in parts if part)


def result_of(job: DeclareJob, describe: Describe = lambda _job: {}) -> Result:
    """An object as a module returns it. describe: facts of an object that exists."""
    key = job.key
    result: Result = {
        "name": key.name,
        # A refused object was not changed.
        "action": plan.NONE if job.failed and not job.written else job.goal.action,
        "changed": job.changed,
        "failed": bool(job.failed),
    }
    result.update({field: value for field, value in (("kind", key.kind), ("namespace", key.namespace)) if value})
    known = job.seen.live or job.before.live
    if known is not None:
        result["uid"] = known["metadata"].get("uid", "")
    if job.failed:
        result["msg"] = job.failed
    if is_taken_over(job):
        result["taken_over"] = True
    if job.goal.plan.taken_from:
        result["taken_over_from"] = list(job.goal.plan.taken_from)
        result["owned_by_others"] = job.goal.owners
    facts = {
        **job.goal.facts,
        "skip_reason": job.skip_reason,
        "retained": job.goal.retained,
        "warnings": job.warnings,
    }
    result.update({name: value for name, value in facts.items() if value})
    if job.seen.live is not None:
        result.update(describe(job))
    return result


def diff(job: DeclareJob) -> Result:
    title = f"{job.key.kind} {job.label}"
    return diff_of(title, *job.goal.shown_change, ("live", "declared"))


def generation(job: DeclareJob) -> Result:
    """The result's details of an instancetype or a preference that exists."""
    return {"generation": (job.seen.live or {})["metadata"].get("generation")}
