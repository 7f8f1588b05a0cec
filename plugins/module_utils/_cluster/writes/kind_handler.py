"""Entries, results, and the hooks in which kinds differ."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from ..._resolver.api import managed_fields as ownership
from ..._resolver.api.managed_fields import Field
from ..._resolver.api.manifest import Progress
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.declare import plan
from ..._resolver.declare.plan import Plan
from ..._resolver.guest.effect import GuestEffect
from ..client.session import FIELD_MANAGER, Session
from ..reads.snapshot import read
from .engine import WriteOutcome

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Entry:
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


class Finding(NamedTuple):
    """One line that preflight found about a planned object.

    note: a warning, whatever `preflight` says. missing: an object does not exist, but in check mode an earlier task of
    the same play might create it.
    """

    text: str
    note: bool = False
    missing: bool = False


WITHOUT_CAPABILITY: Final = "not available, because this copy of the collection lacks the capability"

NOT_PLANNED: Final = Plan(plan.NONE, {}, {}, {})


@dataclass(eq=False)
class DeclareOutcome(WriteOutcome):
    """The outcome for one entry, which fails if the entry has a problem.

    planned: what to write. skip_reason: why the object was left unchanged. live: the object as last seen.
    live_before: the object before. terminating: the object that is being deleted, which counts as absent.
    retained: what the cluster keeps of a deleted object. effect: of the change on the guest.
    restart: the object needs a restart, or was restarted. retried: its controller was made to try again.
    taken_from: the managers whose share of the declared fields was, or would be, taken over. owners: the fields that
    other managers own afterwards, by manager. related_changes: what changes with the
    object, such as claims that grow. facts: what the completion of the entry says in the result.
    """

    entry: Entry
    action: str = plan.NONE
    before: Manifest = field(default_factory=dict)
    after: Manifest = field(default_factory=dict)
    skip_reason: str | None = None
    live: Manifest | None = None
    live_before: Manifest | None = None
    terminating: Manifest | None = None
    retained: list[dict[str, str]] = field(default_factory=list)
    effect: GuestEffect | None = None
    restart: bool = False
    retried: bool = False
    taken_from: tuple[str, ...] = ()
    owners: dict[str, list[str]] = field(default_factory=dict)
    planned: Plan = NOT_PLANNED
    related_changes: list[Any] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.failed = self.entry.problem

    def refuse(self, problem: str) -> None:
        """The entry cannot be declared."""
        self.entry = replace(self.entry, problem=problem)
        self.failed = problem

    @property
    def changed(self) -> bool:
        """Whether the object was, or would be, changed. True also if it was written but did not become ready."""
        return self.written or (
            self.failed is None and (self.action in plan.WRITES or self.restart or bool(self.related_changes))
        )


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

    def complete(self, results: list[DeclareOutcome], check_mode: bool) -> None:
        """Completes the entries of objects that are to be present by what the cluster has. May raise TaskFailed."""

    def reconcile(self, manifest: Manifest, live: Manifest | None) -> tuple[Manifest, set[Field] | None, list[str]]:
        """The desired manifest, adapted to the live object, the fields that this manager owns, and warnings."""
        return manifest, ownership.owned(live, FIELD_MANAGER) if live is not None else None, []

    def adjust(self, step: Plan, live: Manifest | None) -> Plan:
        """The plan, adapted to the kind."""
        return step

    def skip_reason(self, live: Manifest) -> str | None:
        """Why a live object is left unchanged, whatever its entry declares; or None."""
        return None

    def preflight(self, planned: list[DeclareOutcome]) -> list[list[Finding]]:
        """Findings for the objects to be written."""
        return [[] for _result in planned]

    def deletion(self, planned: list[DeclareOutcome]) -> list[list[Finding]]:
        """Findings for the objects to be deleted."""
        return [[] for _result in planned]

    def predict_effects(self, planned: list[DeclareOutcome], check_mode: bool) -> None:
        """Sets the effects of planned changes, whether the task will restart the objects, and what outlives deleted
        ones; and adds warnings."""

    def restart(self, results: list[DeclareOutcome], deadline: float) -> None:
        """Restarts the objects that need it after the writes, until a deadline."""

    def write_related(self, results: list[DeclareOutcome], session: Session) -> None:
        """Writes what changes with the objects. session: one for dry runs in check mode."""

    def request(self, session: Session, result: DeclareOutcome, timeout: float) -> None:
        """Has a controller do what must precede the write of the object. session: one for dry runs in check mode.

        The outcome fails if the controller has not done so in time. timeout: seconds. May raise RequestFailed.
        """

    def retry_patch(self, live: Manifest) -> Manifest | None:
        """A merge patch that makes the controller of an unchanged object try again at once; None if none is due."""
        return None

    def remark(self, live: Manifest) -> str | None:
        """A warning about an object that has reached its declared state, or None."""
        return None

    def probe(self, live: Manifest | None) -> Progress:
        """The state of a declared object."""
        return Progress(done=True)

    def same_status(self, live: Manifest, before: Manifest) -> bool:
        """Whether the object reports the same as before a write, so that its controller may not have seen the write."""
        return False

    def describe(self, result: DeclareOutcome) -> dict[str, Any]:
        """Facts of the live object for its result."""
        return {}

    def await_dependents(self, namespace: str | None, deleted: list[Manifest], timeout: float) -> dict[str, str]:
        """Waits for the dependents of objects that were deleted in a namespace. Returns the failures by object name."""
        return {}

    def await_old_dependents(self, namespace: str | None, created: list[Manifest], timeout: float) -> dict[str, str]:
        """Waits for the dependents of deleted objects whose names the objects to create in a namespace have."""
        return {}
