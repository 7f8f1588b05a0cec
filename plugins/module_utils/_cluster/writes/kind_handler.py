"""Declared objects, outcomes, and the hooks in which kinds differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..._resolver.api import managed_fields
from ..._resolver.api.errors import FieldError
from ..._resolver.api.finding import Finding
from ..._resolver.api.keys import FIELD_MANAGER
from ..._resolver.api.manifest import Manifest, Progress
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.redaction import redact
from ..._resolver.change.step import Outcome
from ..._resolver.declare import plan
from ..._resolver.declare.answer import Answered, Deviation, answered
from ..._resolver.declare.plan import Plan
from ..._resolver.guest.effect import GuestEffect
from ..client.session import Session
from ..task import Task
from .plan_writes import send_plan


@dataclass(frozen=True)
class DeclaredObject:
    """One object of a task.

    label: the name of the object in messages. problem: why it cannot be declared at all, or None. options: the options
    that the manifest is made of.
    """

    label: str
    key: ObjectKey
    state: str
    manifest: Manifest
    problem: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


NOT_PLANNED: Final = Plan(plan.NONE, {}, {}, {})


@dataclass(eq=False)
class DeclareOutcome(Outcome):
    """The outcome for one declared object, which fails if that has a problem.

    planned: what to write; what only the write needs is dropped after it. skip_reason: why the object was left
    unchanged. live: the object as last seen.
    live_before: the object before. terminating: the object that is being deleted, which counts as absent.
    retained: {kind, name} of what outlives a deleted object. effect: what the change does to the guest.
    restart: the object needs a restart, or was restarted. retried: its controller was made to try again.
    owners: the fields that other managers own after a takeover, by manager. related_changes: what changes with the
    object, such as claims that grow. facts: what its completion says in the result.
    answer: the object as the API server answered, if not as planned, until `revise`. deviations: where. of_change: the
    warnings that hold only if the object changes.
    """

    declared: DeclaredObject
    planned: Plan = NOT_PLANNED
    skip_reason: str | None = None
    live: Manifest | None = None
    live_before: Manifest | None = None
    terminating: Manifest | None = None
    retained: list[dict[str, str]] = field(default_factory=list)
    effect: GuestEffect | None = None
    restart: bool = False
    retried: bool = False
    owners: dict[str, list[str]] = field(default_factory=dict)
    related_changes: list[Any] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    answer: Manifest | None = None
    deviations: tuple[Deviation, ...] = ()
    of_change: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.failed = self.declared.problem

    @property
    def action(self) -> str:
        """NONE, CREATE, APPLY, DELETE or KEEP: what was done, or would be."""
        return self.planned.action

    @property
    def shown_change(self) -> tuple[Manifest, Manifest]:
        """The changed parts of the object before and after, without secrets."""
        return redact(self.planned.before, self.planned.after)

    def refuse(self, problem: str) -> None:
        """The object cannot be declared."""
        self.declared = replace(self.declared, problem=problem)
        self.failed = problem

    @property
    def changed(self) -> bool:
        """Whether the object was, or would be, changed. True also if it was written but did not become ready."""
        return self.written or (
            self.failed is None and (self.action in plan.WRITES or self.restart or bool(self.related_changes))
        )


Findings = Mapping[DeclareOutcome, list[Finding]]


class KindHandler:
    """Hooks for the kinds of objects; a kind overrides those that it needs. Lists in and out have the same order.

    manager: the field manager of the declared fields.
    """

    manager = FIELD_MANAGER

    def see_others(self, objects: list[Manifest]) -> None:
        """Notes what is needed of other objects, which were listed with the declared ones of a namespace."""

    def complete(self, outcomes: list[DeclareOutcome], check_mode: bool) -> None:
        """Completes the objects that are to be present by what the cluster has. May raise TaskFailed."""

    def plan(self, outcome: DeclareOutcome, task: Task) -> Plan:
        """Plans the write for a declared object. If it sets a `skip_reason`, the object stays unchanged.

        Raises FieldError if the live object cannot be parsed.
        """
        declared, live = outcome.declared, outcome.live
        if declared.state == "absent":
            return plan.absent(declared.manifest, live)
        owned = managed_fields.applied_fields(live, self.manager) if live is not None else None
        return plan.present(declared.manifest, live, owned, self.manager, task.force_conflicts, task.take_over)

    def check(self, planned: list[DeclareOutcome]) -> Findings:
        """Findings about objects to be written or deleted."""
        return {}

    def predict_effects(self, planned: list[DeclareOutcome], check_mode: bool) -> None:
        """Sets the effects of planned changes, whether the task will restart the objects, and what outlives deleted
        ones; and adds warnings."""

    def write(self, session: Session, outcome: DeclareOutcome, task: Task) -> None:
        """Carries out the plan of an outcome; as dry runs, if the session sends such. May raise RequestFailed."""
        if outcome.action not in plan.WRITES:
            return
        key, step, before, written = outcome.declared.key, outcome.planned, outcome.live_before, outcome.written
        answer = None
        for answer in send_plan(session, key, step, before, task.force_conflicts):
            if not session.is_dry_run:
                outcome.live, outcome.written = answer, True
        if answer is None or answer is before:
            return
        turned = self._answered(outcome, answer)
        outcome.planned, outcome.deviations = turned.plan, turned.deviations
        if turned.plan is not step or turned.deviations:
            # Only the effect of a change needs it.
            outcome.answer = answer if turned.plan.action == plan.APPLY else {}
        if session.is_dry_run:
            return
        outcome.live, outcome.written = turned.live, written or turned.plan.action != plan.NONE
        if step.taken_from:
            outcome.owners = _owners(answer, session.field_manager)

    def _answered(self, outcome: DeclareOutcome, answer: Manifest) -> Answered:
        """The plan of an outcome as it turned out, by the answer to the apply or to its dry run."""
        step = outcome.planned
        try:
            rest = self.rest(outcome.declared.manifest, answer)
            return answered(step, outcome.live_before, answer, rest, self.manager)
        except FieldError:
            # The cluster's KubeVirt is newer than this collection.
            return Answered(step, answer)

    def rest(self, manifest: Manifest, live: Manifest) -> Plan:
        """The plan for what a declaration still lacks in an object after the write."""
        return plan.present(manifest, live, managed_fields.applied_fields(live, self.manager), self.manager)

    def revise(self, outcomes: list[DeclareOutcome], check_mode: bool) -> None:
        """Sets effects anew for outcomes whose answer is not as planned."""

    def restart(self, outcomes: list[DeclareOutcome], deadline: float) -> None:
        """Restarts the objects that need it after the writes, until a deadline, and makes the controllers of unchanged
        objects try again.
        """

    def probe(self, live: Manifest | None, before: Manifest | None) -> Progress:
        """The state of a declared object. before: the object before a write that its controller may not have seen."""
        return Progress(done=True)

    def await_dependents(
        self, namespace: str | None, objects: list[Manifest], timeout: float, *, created: bool
    ) -> dict[str, str]:
        """Waits for the dependents of objects that were deleted in a namespace. created: the objects are to be created,
        and objects with their names were deleted earlier. Returns the failures by object name.
        """
        return {}


def _owners(live: Manifest, own: str) -> dict[str, list[str]]:
    """The fields of an object that other managers own, by manager."""
    owners: dict[str, list[str]] = {}
    for manager, fields in managed_fields.fields_of_others(live, own):
        owners.setdefault(manager, []).extend(sorted(".".join(path) for path in fields))
    return owners
