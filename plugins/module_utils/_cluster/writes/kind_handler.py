"""Declared objects, outcomes, and the hooks in which kinds differ."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from ..._resolver.api import managed_fields as ownership
from ..._resolver.api.finding import Finding
from ..._resolver.api.managed_fields import Field
from ..._resolver.api.manifest import Manifest, Progress
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.redaction import redact
from ..._resolver.declare import plan
from ..._resolver.declare.plan import Plan
from ..._resolver.guest.effect import GuestEffect
from ..client.session import FIELD_MANAGER, Session
from ..reads.snapshot import read
from .engine import WriteOutcome, WriteSettings


@dataclass(frozen=True)
class DeclaredObject:
    """One object of a task.

    label: its name in messages. problem: why it cannot be declared at all, or None. options: the source of the
    manifest.
    """

    label: str
    key: ObjectKey
    state: str
    manifest: Manifest
    problem: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


WITHOUT_CAPABILITY: Final = "not available, because this copy of the collection lacks the capability"

NOT_PLANNED: Final = Plan(plan.NONE, {}, {}, {})


@dataclass(eq=False)
class DeclareOutcome(WriteOutcome):
    """The outcome for one declared object, which fails if that has a problem.

    planned: what to write; what only the write needs is dropped after it. skip_reason: why the object was left
    unchanged. live: the object as last seen.
    live_before: the object before. terminating: the object that is being deleted, which counts as absent.
    retained: what the cluster keeps of a deleted object. effect: of the change on the guest.
    restart: the object needs a restart, or was restarted. retried: its controller was made to try again.
    owners: the fields that other managers own after a takeover, by manager. related_changes: what changes with the
    object, such as claims that grow. facts: what its completion says in the result.
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


class TaskNotes(NamedTuple):
    """What a task tells besides its results; handlers add to both. secrets: texts that no result may show."""

    warnings: list[str]
    secrets: set[str]


class KindHandler:
    """Hooks for the kinds of objects; a kind overrides those that it needs. Lists in and out have the same order.

    manager: the field manager of the declared fields.
    """

    manager = FIELD_MANAGER

    def read(self, session: Session, keys: Collection[ObjectKey]) -> dict[ObjectKey, Manifest]:
        """The live objects with these keys. Raises RequestFailed."""
        return read(session, keys)

    def complete(self, outcomes: list[DeclareOutcome], check_mode: bool) -> None:
        """Completes the objects that are to be present by what the cluster has. May raise TaskFailed."""

    def plan(self, outcome: DeclareOutcome, settings: WriteSettings) -> Plan:
        """What to write for a declared object. A `skip_reason` that it gets leaves the object unchanged.

        Raises FieldError if the live object cannot be parsed.
        """
        declared, live = outcome.declared, outcome.live
        if declared.state == "absent":
            return plan.absent(declared.manifest, live)
        owned = ownership.owned(live, self.manager) if live is not None else None
        return self.compared(declared.manifest, live, owned, settings)

    def compared(
        self, manifest: Manifest, live: Manifest | None, owned_fields: set[Field] | None, settings: WriteSettings
    ) -> Plan:
        """The plan that brings an object to its declared state; no hook. owned_fields: see `plan.present`."""
        return plan.present(manifest, live, owned_fields, self.manager, settings.force_conflicts, settings.take_over)

    def check(self, planned: list[DeclareOutcome]) -> Findings:
        """Findings about objects to be written or deleted."""
        return {}

    def predict_effects(self, planned: list[DeclareOutcome], check_mode: bool) -> None:
        """Sets the effects of planned changes, whether the task will restart the objects, and what outlives deleted
        ones; and adds warnings."""

    def write_related(self, outcomes: list[DeclareOutcome], session: Session) -> None:
        """Writes what changes with the objects. session: one for dry runs in check mode."""

    def request(self, session: Session, outcome: DeclareOutcome, timeout: float) -> None:
        """Has a controller do what must precede the write of the object. session: one for dry runs in check mode.

        The outcome fails if the controller has not done so in time. timeout: seconds. May raise RequestFailed.
        """

    def restart(self, outcomes: list[DeclareOutcome], deadline: float) -> None:
        """Restarts the objects that need it after the writes, until a deadline, and makes the controllers of unchanged
        objects try again.
        """

    def probe(self, live: Manifest | None, before: Manifest | None) -> Progress:
        """The state of a declared object. before: the object before a write that its controller may not have seen."""
        return Progress(done=True)

    def describe(self, outcome: DeclareOutcome) -> dict[str, Any]:
        """Facts of the live object for its result."""
        return {}

    def await_dependents(
        self, namespace: str | None, objects: list[Manifest], timeout: float, *, created: bool
    ) -> dict[str, str]:
        """Waits for the dependents of objects that were deleted in a namespace. created: the objects are to be created,
        and those with their names were deleted earlier. Returns the failures by object name.
        """
        return {}
