"""The outcome for a VM that gets other revisions."""

from __future__ import annotations

from collections.abc import Iterable

from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import MatcherField
from ..._resolver.declare.power import RESTARTED
from ..._resolver.guest.effect import LIVE, RESTART, GuestEffect
from ..._resolver.kubevirt.vm.readiness import has_guest, restart_required, stale_restart_warning
from ..._resolver.kubevirt.vm.start import start_revision_name
from ..._resolver.refresh.drift import Drift
from ..._resolver.refresh.recapture import keeps_restart_required
from ..._resolver.refresh.revision_change import RevisionChange
from ..task import CHANGE_UNKNOWN_IN_CHECK_MODE
from .restarts import GuestUpdate


class RevisionOutcome(GuestUpdate):
    """The outcome for one VM, and the update of its guest once it has other revisions.

    change: the decision.
    restart: the VM needs a restart, or was restarted. always: restart the VM even if the guest does not need it.
    bumps_generation: the task bumps the VM's generation, so that the next restart clears the condition RestartRequired.
    guest_current: the guest has everything that the VM declares, even if KubeVirt asks for a restart.
    method: how the references were cleared, `status` or `kind`. restore_kinds: for `kind`, the patch to previous kinds.
    status_denied: why the task could not patch the status.
    rolled_back: the VM got its previous revisions back. pins_to_remove: the fields to unpin once it has them.
    revisions: the revisions of the VM afterwards, by matcher.
    """

    def __init__(self, before: Drift, change: RevisionChange) -> None:
        super().__init__(before.namespace, before.name, RESTARTED, vm=before.vm)
        self.before, self.change = before, change
        self.restart = self.always = self.bumps_generation = self.guest_current = self.rolled_back = False
        self.method = self.status_denied = ""
        self.restore_kinds: Manifest | None = None
        self.pins_to_remove: list[MatcherField] = []
        self.revisions: dict[str, str] = {}

    @property
    def due(self) -> bool:
        """Whether the VM needs a write or a restart."""
        return (self.change.due or self.restart or self.bumps_generation) and self.failed is None

    @property
    def changed(self) -> bool:
        """Whether the task changed the VM or, in check mode, would change it. True also if a later step failed."""
        return (self.written and not self.rolled_back) or self.due

    @property
    def foreseen(self) -> GuestEffect:
        """The effect of the change, or without one, what the guest lacks of earlier changes."""
        return self.change.effect if self.change.due and self.change.effect is not None else self.before.pending

    @property
    def needs(self) -> str:
        """NOTHING, LIVE, RESTART or UNKNOWN: how the change reaches, or reached, the running guest."""
        if self.restart:
            return RESTART
        # KubeVirt has the last word, once it has compared the VM with its guest.
        asks = self.written and restart_required(self.live) is not None and not self.guest_current
        return RESTART if asks and self.foreseen.needs == LIVE else self.foreseen.needs

    @property
    def restart_required(self) -> bool:
        """Whether the guest still needs a restart."""
        if self.guest_current or (self.restart and self.written):
            return False
        if not self.written:
            return self.before.restart_required
        return has_guest(self.live) and (self.needs == RESTART or restart_required(self.live) is not None)

    @property
    def restart_reason(self) -> str:
        """The message of the condition RestartRequired, or ""."""
        condition = restart_required(self.live) or {}
        return str(condition.get("message") or "")

    @property
    def may_be_live(self) -> bool:
        """Whether the VM has a guest that is expected to take the change without a restart. KubeVirt decides."""
        return self.change.due and self.foreseen.needs == LIVE

    @property
    def may_need_update(self) -> bool:
        """Whether the guest may lack something that the task may give it, or wait for."""
        may_change = self.change.due and (self.may_restart or self.may_be_live)
        return self.failed is None and (self.restart or self.bumps_generation or may_change)

    def plan_restart(self, option: str) -> None:
        """Decides whether the VM needs a restart, as far as known before its change.

        option: `never`, `if_required` or `always`.
        """
        before, change = self.before, self.change
        if not has_guest(before.vm) or is_terminating(before):
            return
        self.may_restart, self.always = option != "never", option == "always"
        if change.due:
            self.restart = self.may_restart and (self.always or self.foreseen.needs == RESTART)
        elif before.pending.requested_in_vain:
            self.guest_current = True
            start = before.revision(start_revision_name(before.vm))
            self.bumps_generation = self.may_restart and keeps_restart_required(before.vm, start)
            if not self.bumps_generation:
                self.warn(stale_restart_warning(before.vm))
        else:
            self.restart = self.may_restart and before.restart_required


def excuse_unmet(outcomes: Iterable[RevisionOutcome]) -> None:
    """In check mode: turns refusals that an earlier task of the play may remove into warnings."""
    for outcome in outcomes:
        if outcome.failed and outcome.change.unmet:
            outcome.warn(f"{outcome.change.refusal}; {CHANGE_UNKNOWN_IN_CHECK_MODE}")
            outcome.failed = None


def is_terminating(before: Drift) -> bool:
    return bool(before.vm["metadata"].get("deletionTimestamp"))
