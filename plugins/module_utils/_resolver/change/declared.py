"""What a task declares of an object, and what is known of the change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..api.finding import Finding
from ..api.manifest import Manifest
from ..api.matcher import ObjectKey
from ..declare import plan
from ..declare.answer import Deviation
from ..declare.plan import Plan
from ..guest.effect import GuestEffect
from ..secrets.redaction import redact
from .step import Job

NOT_PLANNED: Final = Plan(plan.NONE, {}, {}, {})


@dataclass(eq=False)
class Declared:
    """What a task declares of an object.

    problem: why it cannot be declared at all, or None. options: the options that the manifest is made of.
    plan: what to write; what only the write needs is dropped after it. skip_reason: why the object was left unchanged.
    terminating: the object that has the name and is being deleted; it counts as absent.
    retained: {kind, name} of what outlives a deleted object. effect: what the change does to the guest.
    restart: the object needs a restart, or was restarted.
    owners: the fields that other managers own after a takeover, by manager. related_changes: what changes with the
    object, such as claims that grow. facts: what its completion says in the result.
    answer: the object as the API server answered, if not as planned, until that is judged. deviations: where.
    of_change: the warnings that hold only if the object changes.
    """

    state: str
    manifest: Manifest
    problem: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    plan: Plan = NOT_PLANNED
    skip_reason: str | None = None
    terminating: Manifest | None = None
    retained: list[dict[str, str]] = field(default_factory=list)
    effect: GuestEffect | None = None
    restart: bool = False
    owners: dict[str, list[str]] = field(default_factory=dict)
    related_changes: list[Any] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    answer: Manifest | None = None
    deviations: tuple[Deviation, ...] = ()
    of_change: list[str] = field(default_factory=list)

    @property
    def action(self) -> str:
        """NONE, CREATE, APPLY, DELETE or KEEP: what was done, or would be."""
        return self.plan.action

    @property
    def shown_change(self) -> tuple[Manifest, Manifest]:
        """The changed parts of the object before and after, without secrets."""
        return redact(self.plan.before, self.plan.after)


DeclareJob = Job[Declared]
Findings = Mapping[DeclareJob, list[Finding]]


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
