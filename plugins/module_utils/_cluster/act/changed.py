"""What becomes of a VM that is given other revisions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final

from ..._resolver.api.effects import LIVE, NOTHING, RESTART
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.declare.status import has_guest, restart_required
from ..._resolver.refresh.change import Change
from ..._resolver.refresh.steps import Spelling
from ..client.errors import ApiError, ConnectionFailed, explain
from ..read.revisions import Inspected

Manifest = dict[str, Any]

_VM: Final = BY_NAME["VirtualMachine"]


@dataclass(eq=False)
class Changed:
    """What becomes of one VM.

    change: what is decided.
    restart: whether the VM is to be restarted, or was. may_restart: whether that is allowed. always: also where the
    guest does not need it.
    raised: whether its generation is to be raised, so that its next restart ends clean.
    settled: whether its guest has all that the VM says, whatever KubeVirt asks for.
    written: whether anything was written. failed: why, on one line. warnings: what else should be known.
    method: how the references were released, status or kind. spelling: the writes for the latter. denied: why it was
    not done by the status.
    back: whether the VM got back the revisions that it had.
    revisions: what it refers to afterwards, by matcher. vm: as last seen.
    """

    before: Inspected
    change: Change
    restart: bool = False
    may_restart: bool = False
    always: bool = False
    raised: bool = False
    settled: bool = False
    written: bool = False
    failed: str | None = None
    warnings: list[str] = field(default_factory=list)
    method: str = ""
    spelling: Spelling | None = None
    denied: str = ""
    back: bool = False
    revisions: dict[str, str] = field(default_factory=dict)
    vm: Manifest | None = None

    @property
    def due(self) -> bool:
        """Whether there is anything to do."""
        return (self.change.due or self.restart or self.raised) and self.failed is None

    @property
    def changed(self) -> bool:
        """Whether anything was done or, in check mode, would be; also where it failed on the way."""
        return (self.written and not self.back) or self.due

    @property
    def needs(self) -> str:
        """NOTHING, LIVE or RESTART: what it takes, or took, for the running guest to have the change."""
        if self.restart:
            return RESTART
        effect = self.change.effect
        if not self.change.due or effect is None or not effect.changes or not has_guest(self.before.vm):
            return NOTHING
        asked = self.vm is not None and restart_required(self.vm) is not None
        return LIVE if effect.live and not asked else RESTART

    @property
    def restart_required(self) -> bool:
        """Whether the guest still needs a restart, after what was done."""
        if self.settled or (self.restart and self.written):
            return False
        if not self.written:
            return self.before.restart_required
        return self.needs == RESTART or restart_required(self.vm or {}) is not None

    @property
    def restart_reason(self) -> str:
        """The message of KubeVirt's condition, or ""."""
        condition = restart_required(self.vm or {}) or {}
        return str(condition.get("message") or "")

    @property
    def may_be_live(self) -> bool:
        """Whether there is a guest that is likely to take the change as it runs; the cluster decides."""
        effect = self.change.effect
        return effect is not None and bool(effect.changes) and effect.live and has_guest(self.before.vm)


def each(results: Iterable[Changed], work: Callable[[Changed], None], concurrency: int) -> None:
    """Does the work for each result, so many at once; what goes wrong is the result's failure."""

    def guarded(result: Changed) -> None:
        try:
            work(result)
        except (ApiError, ConnectionFailed) as error:
            result.failed = result.failed or explain(error, "PATCH", _VM)

    with ThreadPoolExecutor(max_workers=max(1, concurrency)) as pool:
        list(pool.map(guarded, results))
