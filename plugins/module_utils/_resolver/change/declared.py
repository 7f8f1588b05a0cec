"""An object as a task declares it, and what is known of its change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..api.finding import ERROR, WARNING, Finding
from ..api.keys import FIELD_MANAGER
from ..api.managed_fields import TakeOver, keep_managers
from ..api.manifest import Manifest
from ..api.matcher import ObjectKey
from ..declare import plan
from ..declare.plan import Plan
from ..secrets.redaction import redact
from .step import UNKNOWN_IN_CHECK_MODE, Job

if TYPE_CHECKING:
    from ..declare.answer import Deviation
    from ..guest.effect import GuestEffect
    from ..kubevirt.admission.mutate import AdmissionResult

NOT_PLANNED: Final = Plan(plan.NONE, {}, {}, {})

PLUG: Final = "plug"
APPLY: Final = "apply"
RELATED: Final = "related"
"""The step that writes what changes with an object."""


class Ownership(NamedTuple):
    """How a task deals with other field managers.

    manager: the task's own. force: take fields from others. take_over: whether to take over a manager's share.
    """

    manager: str = FIELD_MANAGER
    force: bool = False
    take_over: TakeOver = keep_managers


@dataclass(eq=False, repr=False)
class Declared:
    """An object as a task declares it.

    problem: why it cannot be declared at all, or None. options: the options that the manifest is made of.
    plan: what to write; what only the write needs is dropped after it.
    terminating: the object that has the name and is being deleted; it counts as absent. findings: about the
    object, until they are judged.
    retained: {kind, name} of what outlives a deleted object. effect: what the change does to the guest. restarts: the
    task will restart the guest, as foreseen.
    owners: the fields that other managers own after a takeover, by manager. related_changes: what changes with the
    object, such as claims that grow. facts: what its completion says in the result.
    answer: the object as the API server answered, if not as planned, until that is judged. deviations: where.
    of_change: the warnings that hold only if the object changes. admission: of a VM to be written, until its
    effect is known; VMs that are alike share it.
    """

    state: str
    manifest: Manifest
    problem: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    plan: Plan = NOT_PLANNED
    terminating: Manifest | None = None
    findings: list[Finding] = field(default_factory=list)
    retained: list[dict[str, str]] = field(default_factory=list)
    effect: GuestEffect | None = None
    restarts: bool = False
    owners: dict[str, list[str]] = field(default_factory=dict)
    related_changes: list[Any] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    answer: Manifest | None = None
    deviations: tuple[Deviation, ...] = ()
    of_change: list[str] = field(default_factory=list)
    admission: AdmissionResult | None = None

    @property
    def action(self) -> str:
        """NONE, CREATE, APPLY, DELETE or KEEP: what was done, or would be."""
        return self.plan.action

    @property
    def is_due(self) -> bool:
        """Whether something is to be written."""
        return self.action in plan.WRITES or bool(self.related_changes)

    @property
    def shown_change(self) -> tuple[Manifest, Manifest]:
        """The changed parts of the object before and after, without secrets."""
        return redact(self.plan.before, self.plan.after)


DeclareJob = Job[Declared]


def declare_job(
    key: ObjectKey,
    state: str,
    manifest: Manifest,
    problem: str | None = None,
    options: dict[str, Any] | None = None,
    label: str = "",
) -> DeclareJob:
    """The job for a declared object, which fails if that has a problem."""
    job = Job(key, Declared(state, manifest, problem, options or {}), label=label)
    job.failed = problem
    return job


def manifest_job(manifest: Manifest, state: str) -> DeclareJob:
    """The job for an object that is to be as its manifest declares it, or absent."""
    return declare_job(ObjectKey.of(manifest), state, manifest)


def refuse(job: DeclareJob, problem: str) -> None:
    """The object cannot be declared."""
    job.failed = job.goal.problem = problem


def stop_if_invalid(jobs: Sequence[DeclareJob]) -> bool:
    """Whether one of the objects cannot be declared at all. None is sent then, like an invalid option."""
    if not any(job.goal.problem for job in jobs):
        return False
    for job in jobs:
        # Nothing was compared with what is there.
        job.see(None)
        job.skip_reason = None if job.failed else "not sent because other entries are invalid"
    return True


def is_written(job: DeclareJob) -> bool:
    """Whether the task has written the object, rather than only restarted its guest."""
    return job.written and any(step in job.done for step in (PLUG, APPLY, RELATED))


def judge(job: DeclareJob, findings: Iterable[Finding], preflight: str, check_mode: bool) -> None:
    """Fails a job because of findings, or turns them into warnings, as the option `preflight` says."""
    found = list(findings)
    if check_mode:
        # An earlier task of the play might create a missing object.
        job.incomplete = job.incomplete or any(finding.missing for finding in found)
        found = [
            Finding(f"{finding.line}; {UNKNOWN_IN_CHECK_MODE}", WARNING) if finding.missing else finding
            for finding in found
        ]
    refused = [finding.line for finding in found if finding.severity == ERROR and preflight == "strict"]
    if refused:
        job.failed = "; ".join(refused)
        return
    for finding in found:
        job.warn(finding.line)
    job.goal.of_change += [finding.line for finding in found]
