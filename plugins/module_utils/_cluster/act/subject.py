"""What is declared, what became of it, and what differs between kinds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..._resolver.api import managed_fields as ownership
from ..._resolver.api.effects import Impact
from ..._resolver.api.managed_fields import Field
from ..._resolver.declare import plan
from ..._resolver.declare.plan import Plan
from ..._resolver.declare.take_over import TakeOver, nobody
from ..client.session import FIELD_MANAGER, Session
from ..read.snapshot import Key, read
from ..read.watch import State

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One object of a task. label: how messages name it. problem: why it cannot be declared at all, or None.
    options: those that the manifest is made of."""

    label: str
    key: Key
    state: str
    manifest: Manifest
    problem: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """How a task is carried out; the options of the doc fragment `wait`."""

    check_mode: bool = False
    server_dry_run: bool = True
    wait: bool = False
    wait_timeout: float = 120
    concurrency: int = 16
    preflight: str = "strict"
    fail_fast: bool = False
    force_conflicts: bool = False
    take_over: TakeOver = nobody


class Finding(NamedTuple):
    """What preflight found about one planned object, as one line.

    note: it is worth a warning and never refuses. missing: something is not there that an earlier task of the same play
    may make, which check mode does not know.
    """

    text: str
    note: bool = False
    missing: bool = False


# Why objects have failed, by name.
Failures = dict[str, str]


class Planned(NamedTuple):
    entry: Entry
    plan: Plan
    live: Manifest | None


@dataclass
class Result:
    """What became of one entry. failed: why it failed. left: why it was left unchanged.

    live: the object as last seen; found: as it was before. kept: what the cluster keeps of an object that is deleted.
    written: whether the write was carried out. impact: what the change means, as the subject foresees it.
    restart: whether the object is to be restarted, or was. taken: the managers whose share of the declared fields was
    taken over, or would be. owners: what other managers own after that, by manager.
    """

    entry: Entry
    action: str = plan.NONE
    before: Manifest = field(default_factory=dict)
    after: Manifest = field(default_factory=dict)
    failed: str | None = None
    left: str | None = None
    warnings: list[str] = field(default_factory=list)
    live: Manifest | None = None
    found: Manifest | None = None
    kept: list[dict[str, str]] = field(default_factory=list)
    written: bool = False
    impact: Impact | None = None
    restart: bool = False
    taken: tuple[str, ...] = ()
    owners: dict[str, list[str]] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether the object was changed, or would be: also one that was written and then failed to become ready."""
        return self.written or (self.failed is None and (self.action in plan.WRITES or self.restart))


class Subject:
    """What differs between kinds; a kind that differs in something has a subclass. Lists of answers are in the order of
    what is asked about.

    plural: the objects' name in messages. manager: the field manager that declares.
    """

    def __init__(self, plural: str, manager: str = FIELD_MANAGER) -> None:
        self.plural = plural
        self.manager = manager

    def read(self, session: Session, keys: Iterable[Key]) -> dict[Key, Manifest]:
        """The live objects among those named. Raises Unreadable."""
        return read(session, keys)

    def completed(self, session: Session, found: list[tuple[Entry, Manifest | None]]) -> list[tuple[Entry, list[str]]]:
        """Entries with what only others know, and warnings about each; with a problem where they do not say.

        found: entries that are to be present, with their live objects.
        """
        return [(entry, []) for entry, _live in found]

    def reconcile(self, manifest: Manifest, live: Manifest | None) -> tuple[Manifest, set[Field] | None]:
        """The desired manifest and the fields that count as ours, seen beside the live object."""
        return manifest, ownership.owned(live, FIELD_MANAGER) if live is not None else None

    def adjust(self, step: Plan, live: Manifest | None) -> Plan:
        """The plan as it suits the kind, seen beside the live object."""
        return step

    def leave(self, live: Manifest) -> str | None:
        """Why a live object is left unchanged, whatever is declared, or None."""
        return None

    def preflight(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        """Findings for the objects that are planned to be written."""
        return [[] for _step in planned]

    def deletion(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        """Findings for the objects that are planned to be deleted."""
        return [[] for _step in planned]

    def notes(self, session: Session, planned: list[Planned]) -> list[list[str]]:
        """What should be known of planned objects, changed or not."""
        return [[] for _step in planned]

    def foresee(self, session: Session, planned: list[Planned]) -> list[Impact | None]:
        """What the change of each planned object means."""
        return [None for _step in planned]

    def due(self, result: Result) -> bool:
        """Whether an object has to be restarted; asked of all objects that are planned."""
        return False

    def settle(self, session: Session, results: list[Result], deadline: float) -> None:
        """After the writes, until a deadline: restarts what needs it."""

    def look(self, live: Manifest | None) -> State:
        """What a declared object still waits for."""
        return State(done=True)

    def same(self, one: Manifest, other: Manifest) -> bool:
        """Whether a live object reports the same as before a write, which its controller may not have seen yet."""
        return False

    def describe(self, live: Manifest) -> dict[str, Any]:
        """Facts of the live object for its result."""
        return {}

    def report(self, result: Result) -> dict[str, Any]:
        """What its result says of restarts."""
        return {}

    def kept(self, session: Session, deleted: list[Manifest]) -> list[list[dict[str, str]]]:
        """What the cluster keeps of each object that is deleted."""
        return [[] for _one in deleted]

    def remains(self, session: Session, namespace: str | None, deleted: list[Manifest], seconds: float) -> Failures:
        """Waits until what goes with deleted objects of a namespace is gone, too."""
        return {}
