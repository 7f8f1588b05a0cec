"""Changes of objects as steps, and what becomes of each object.

A step decides by what was seen of an object, and says how far the object is. `_cluster.writes.engine` reads the
objects, sends what the steps decide, and waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Optional, Protocol, TypeVar, Union

from ..api.errors import Cause
from ..api.kinds import KINDS, Kind
from ..api.manifest import Manifest, Progress
from ..api.matcher import ObjectKey
from ..api.write import Write

if TYPE_CHECKING:
    # A change of an object that is no VM needs neither.
    from ..kubevirt.cluster import Cluster
    from ..preflight.object_keys import ObjectToRead

VM: Final = KINDS["VirtualMachine"]
VMI: Final = KINDS["VirtualMachineInstance"]

UNKNOWN_IN_CHECK_MODE: Final = "check mode cannot tell whether an earlier task of the play creates it"
CHANGE_UNKNOWN_IN_CHECK_MODE: Final = "check mode cannot tell whether an earlier task of the play changes that"

NOT_SENT: Final = "not sent because another {} of the task failed and fail_fast is set"

RETRY: Final = "retry"
"""The step that makes a controller try again what has failed."""
REQUEST: Final = "request"
"""The step that asks for another power state, such as a restart."""

GoalT = TypeVar("GoalT")


class Facts(Protocol):
    """The facts that steps know beside the objects that they change. They are read when a step first asks for them."""

    @property
    def cluster(self) -> Cluster:
        """The cluster, with the objects that the steps need."""

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        """The object; None if it does not exist. Raises KubeVirtError for one that cannot be read."""

    def list(self, kind: str, namespace: str) -> Sequence[Manifest]:
        """All objects of a kind in a namespace ("" for a cluster-wide kind); empty if they cannot be read."""

    def gather(self, needed: Iterable[ObjectToRead]) -> None:
        """Reads objects at once."""


class Seen(NamedTuple):
    """An object as read from the API server, None if it does not exist. vmi: the VMI of a VM."""

    live: Manifest | None = None
    vmi: Manifest | None = None


NOT_SEEN: Final = Seen()


@dataclass(eq=False, repr=False)
class Job(Generic[GoalT]):
    """One object of a task, and what becomes of it.

    goal: what the task wants of the object. before, seen: the object before the first step, and as last seen.
    done: the steps whose writes took effect or, in check mode, would be sent. waited: the steps that ended a wait.
    acted: one of the steps that were done is a change that the user asked for. label: the name in messages.
    skip_reason: why the object is left as it is, or None. failed: the reason, on one line, or None.
    written: a write took effect. incomplete: in check mode, the object needs another that does not exist, and that an
    earlier task of the play may create.
    """

    key: ObjectKey
    goal: GoalT
    before: Seen = NOT_SEEN
    seen: Seen = NOT_SEEN
    done: list[str] = field(default_factory=list)
    waited: list[str] = field(default_factory=list)
    acted: bool = False
    label: str = ""
    skip_reason: str | None = None
    failed: str | None = field(default=None, init=False)
    warnings: list[str] = field(default_factory=list, init=False)
    written: bool = field(default=False, init=False)
    incomplete: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.label = self.label or self.key.label

    @property
    def goes_on(self) -> bool:
        """Whether the object takes further steps."""
        return self.failed is None and self.skip_reason is None

    @property
    def changed(self) -> bool:
        """Whether the task changed the object, or would in check mode. True also if a later step failed."""
        return self.acted and (self.written or self.failed is None)

    def warn(self, text: str) -> None:
        """Adds a warning, unless the job has it already."""
        if text not in self.warnings:
            self.warnings.append(text)

    def see(self, live: Manifest | None, kind: Kind = VM) -> None:
        """Notes the object as it is now. kind: VMI for the VMI of a VM."""
        self.seen = self.seen._replace(vmi=live) if kind is VMI else self.seen._replace(live=live)


class Refusal(Protocol):
    """Why the API server did not take a write, or could not be reached. `str` gives the line for users."""

    @property
    def code(self) -> int:
        """The HTTP status, 0 for no answer."""

    @property
    def causes(self) -> Sequence[Cause]:
        """The fields to which the API server objects."""


class Act(NamedTuple):
    """Send writes, one after the other.

    dry_run: what check mode sends instead. took_effect: whether a write whose answer was lost, or with which another
    client interfered, took effect, by the object as it is now. evidence: the kinds of which that needs the object, see
    `Seen`. on_error: the failure that a refusal means, None if it means none; the step is then not done. undone: the
    field whose value the answer does not have, "" for none. is_change: the writes are a change that the user asked for.
    may_be_found: what `took_effect` finds counts as written by this task. warnings: what to say once they are sent.
    again: what to do, by the object as it is now, if another client has written it meanwhile; None for nothing more.
    instead: what to send instead of a write that was refused, None for nothing. answered: takes the last answer, None
    if it was found that the writes took effect; returns whether they changed the object.
    """

    writes: tuple[Write, ...]
    dry_run: tuple[Write, ...] = ()
    took_effect: Callable[[Seen], bool] | None = None
    evidence: tuple[Kind, ...] = (VM,)
    on_error: Callable[[Refusal], str | None] = str
    undone: Callable[[Manifest], str] | None = None
    is_change: bool = True
    may_be_found: bool = False
    warnings: tuple[str, ...] = ()
    again: Callable[[Manifest | None], Act | None] | None = None
    instead: Callable[[Refusal], Write | None] | None = None
    answered: Callable[[Manifest | None], bool] | None = None


class Refuse(NamedTuple):
    """Do not go on with the object. missing: because something does not exist, rather than for what it is."""

    reason: str
    missing: bool = False


Decision = Union[Act, list[Act], Refuse, None]
"""What to do with an object. Several acts are done one after the other."""
Probe = Callable[[Optional[Manifest]], Progress]


def _nothing(_job: Job[Any], _facts: Facts) -> Decision:
    return None


def _none_of(_job: Job[Any], *_facts: Facts) -> tuple[Any, ...]:
    return ()


def _prepare_nothing(_jobs: Sequence[Job[Any]], _facts: Facts) -> None:
    pass


def _no_others(_jobs: Sequence[Job[Any]], _seconds: float) -> Mapping[Job[Any], str]:
    return {}


def _no_probe(_job: Job[Any]) -> Probe | None:
    return None


def _failure(_job: Job[Any], failure: str) -> str | None:
    return failure


def _everyone(_job: Job[Any]) -> bool:
    return True


def _never(_jobs: Sequence[Job[Any]]) -> bool:
    return False


def _ignore(_objects: list[Manifest]) -> None:
    pass


class Step(NamedTuple):
    """A step of a change. Every job takes it before any job takes the next one.

    A job that has failed, or whose object is left as it is, takes no further step. The fields come in two groups.

    What is done:
    takes: whether a job takes the step; other jobs go on to the next one.
    reads: the kinds of which the job's object is read again first, see `Seen`.
    unread: (job, failure of a read) → the failure of the job, None to go on.
    listed: gets the other objects that were listed with the job's.
    needs: the objects that `decide` looks up; they are read at once for all jobs. afresh: earlier answers are outdated.
    prepare: computes what concerns several jobs.
    decide: what to do with the job's object; None for nothing.
    pause: seconds before the writes, if there are any.
    problem: the words before a failure of the step.
    stop: whether the run ends before this step. It gets all jobs of the run, and notes in them what that means.

    What is waited for:
    until: the probe by which the job waits; None for no wait. waits: also if the task does not wait.
    kind: the kind that is watched for the probe; None for the object itself. polls: nothing is watched; the object is
    read from time to time. metadata_only: the probe needs only the metadata, and the job does not see the object.
    after_wait: (job, failure of the wait) → the failure of the job, None to go on.
    others: waits at last for what belongs to the objects, these seconds at most; returns the failures.
    full_wait: the task's time to wait begins anew.
    """

    name: str
    decide: Callable[[Job[Any], Facts], Decision] = _nothing
    reads: Callable[[Job[Any]], tuple[Kind, ...]] = _none_of
    unread: Callable[[Job[Any], str], str | None] = _failure
    needs: Callable[[Job[Any], Facts], Iterable[ObjectToRead]] = _none_of
    prepare: Callable[[Sequence[Job[Any]], Facts], None] = _prepare_nothing
    pause: float = 0.0
    until: Callable[[Job[Any]], Probe | None] = _no_probe
    kind: Kind | None = None
    polls: bool = False
    metadata_only: bool = False
    after_wait: Callable[[Job[Any], str], str | None] = _failure
    others: Callable[[Sequence[Job[Any]], float], Mapping[Job[Any], str]] = _no_others
    listed: Callable[[list[Manifest]], None] = _ignore
    takes: Callable[[Job[Any]], bool] = _everyone
    stop: Callable[[Sequence[Job[Any]]], bool] = _never
    afresh: bool = False
    waits: bool = False
    full_wait: bool = False
    problem: str = ""

    @property
    def acts(self) -> bool:
        """Whether the step looks up, computes or sends anything."""
        idle = (_none_of, _none_of, _prepare_nothing, _nothing)
        return (self.reads, self.needs, self.prepare, self.decide) != idle

    @property
    def ends_with_wait(self) -> bool:
        """Whether there is something to wait for."""
        return (self.until, self.others) != (_no_probe, _no_others)

    def only(self, takes: Callable[[Job[Any]], bool]) -> Step:
        """The step for some of the jobs that take it."""
        return self._replace(takes=lambda job: takes(job) and self.takes(job))


def state_until(done: Callable[[Manifest], bool], live: Manifest | None, pending: str) -> Progress:
    """The state of an object that must exist until `done` is true. pending: what it waits for."""
    if live is None:
        return Progress(failed="the object was deleted while the task waited for it")
    return Progress(done=done(live), pending=pending)
