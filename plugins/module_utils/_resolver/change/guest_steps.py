"""The steps that bring the guest of a changed VM up to date, none restarted twice for the same reason.

KubeVirt decides what a guest takes without a restart, so a task waits until virt-controller has compared the VM with
its guest. It restarts only a guest that lacks something, because the condition RestartRequired may outlive the restart
that it asks for. If a restart would not clear the condition, the task bumps the generation of the VM first (see
`recapture`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from ..api.errors import KubeVirtError, value_or_none
from ..api.kinds import KINDS
from ..api.manifest import Manifest, Progress
from ..api.matcher import ObjectKey
from ..guest.effect import LIVE, NOTHING, RESTART, GuestEffect
from ..guest.predict import guest_effect
from ..kubevirt.vm.readiness import incomplete_update, observed, restart_required
from ..kubevirt.vm.start import start_revision_name
from ..preflight.object_keys import ObjectToRead, keys_for_guest
from . import recapture
from .guest import BUMP, Guest, bumping
from .power import RESTARTED
from .power_steps import PowerRequest, power_steps, uid_of
from .step import VM, VMI, Decision, Facts, Job, Probe, Refuse, Step, state_until

_REVISION: Final = KINDS["ControllerRevision"].kind
_PENDING: Final = "the guest does not have the change yet, and KubeVirt does not ask for a restart"
_WAITS: Final = "the guest does not have the change yet, because KubeVirt has not completed an earlier live update ({})"
_NOT_AGAIN: Final = "not restarted because KubeVirt could not start the VM again: {}"
_DELETED: Final = "the VM was deleted while the task waited for its guest"
_NOT_ASKED: Final = "KubeVirt does not ask for a restart"
# A busy virt-controller compares a VM with its guest within this many seconds after it has captured a revision.
_COMPARED: Final = 30.0


class GuestSteps:
    """The steps by which a guest gets what its VM declares. guest_of: the guest of a job."""

    def __init__(self, guest_of: Callable[[Job[Any]], Guest], field_manager: str) -> None:
        self._guest_of, self._field_manager = guest_of, field_manager

    @property
    def observe(self) -> Step:
        """Waits until virt-controller has compared VMs with their guests.

        After a new capture, KubeVirt reports the generation as observed before it has compared the VM with its guest,
        so the task also waits for an expected condition. One that does not appear for long is not coming.
        """
        return Step("observe", until=self._until_observed, after_wait=self._unobserved)

    def _until_observed(self, job: Job[Any]) -> Probe:
        expects = self._guest_of(job).expects

        def probe(vm: Manifest | None) -> Progress:
            state = state_until(observed, vm, "virt-controller to look at the change")
            undecided = state.done and expects == RESTART and restart_required(vm or {}) is None
            return Progress(stuck=_NOT_ASKED, grace=_COMPARED) if undecided else state

        return probe

    def _unobserved(self, job: Job[Any], failure: str) -> str | None:
        # The wait for live updates goes on where this one ends.
        goes_on = self._guest_of(job).expects == LIVE and job.seen.live is not None
        return None if goes_on or _NOT_ASKED in failure else failure

    @property
    def compare(self) -> Step:
        """Compares VMs with their guests."""
        return Step("compare", self._compare, reads=lambda _job: (VMI,), needs=self._keys)

    def _keys(self, job: Job[Any], facts: Facts) -> Iterable[ObjectToRead]:
        vm, vmi = job.seen
        return () if vm is None or vmi is None else keys_for_guest(vm, vmi, facts.cluster.release)

    def _compare(self, job: Job[Any], facts: Facts) -> Decision:
        vm, vmi = job.seen
        self._guest_of(job).effect = (
            GuestEffect(NOTHING) if vm is None or vmi is None else guest_effect(vm, vm, vmi, facts.cluster)
        )
        return None

    @property
    def update(self) -> Step:
        """Compares VMs with their guests, until KubeVirt has changed these as foreseen, or asks for a restart.

        A guest that does not get the change in time is a failure if the task may restart it, else a warning.
        """
        return self.compare._replace(
            name="update",
            reads=lambda job: (VM, VMI) if self._guest_of(job).effect is not None else (VMI,),
            until=self._until_updated,
            polls=True,
            after_wait=self._not_updated,
        )

    def _until_updated(self, job: Job[Any]) -> Probe | None:
        return lambda _vm: self._update_progress(job)

    def _update_progress(self, job: Job[Any]) -> Progress:
        guest, vm = self._guest_of(job), job.seen.live
        if vm is None:
            return Progress(failed=_DELETED)
        if not self._lacks_update(job):
            return Progress(done=True)
        earlier = incomplete_update(job.seen.vmi or {}, guest.effect.outstanding if guest.effect else ())
        text = _PENDING if earlier is None else _WAITS.format(earlier)
        # Without a permission to restart, KubeVirt decides when a guest gets what an earlier update keeps back.
        is_over = earlier is not None and not guest.may_restart
        return Progress(failed=text if is_over else None, pending=text)

    def _not_updated(self, job: Job[Any], failure: str) -> str | None:
        if self._guest_of(job).may_restart or failure == _DELETED:
            return failure
        job.warn(failure)
        return None

    def unless_restarted(self, step: Step) -> Step:
        """A wait whose failure is a warning only for a guest that the task may not restart."""
        return step._replace(after_wait=self._not_updated)

    def _lacks_update(self, job: Job[Any]) -> bool:
        """Whether KubeVirt has neither changed the guest as foreseen nor asked for a restart."""
        guest, (vm, vmi) = self._guest_of(job), job.seen
        if guest.expects != LIVE or vmi is None or vm is None or restart_required(vm) is not None:
            return False
        return not observed(vm) or (guest.effect is not None and bool(guest.effect.outstanding))

    @property
    def restart(self) -> tuple[Step, ...]:
        """Restarts guests, each once at most, and waits until they run again.

        A VM that KubeVirt could not start again keeps its guest, which is a failure.
        """
        power = power_steps(
            lambda job: PowerRequest(RESTARTED, guest=self._guest_of(job).uid),
            self._field_manager,
            check_mode=False,
            waits=True,
        )
        return (Step("judge", self._judge, needs=self._keys), self.bump(lambda _job: True), *power)

    def _judge(self, job: Job[Any], facts: Facts) -> Decision:
        guest, (vm, vmi) = self._guest_of(job), job.seen
        # A newer guest is not restarted.
        guest.uid = uid_of(vmi)
        refusal = guest.effect.refusal if guest.effect is not None else None
        if refusal is None or not _is_readable(keys_for_guest(vm or {}, vmi, facts.cluster.release), facts):
            return None
        return Refuse(_NOT_AGAIN.format(refusal))

    def bump(self, is_due: Callable[[Job[Any]], bool]) -> Step:
        """Bumps the generation of VMs whose condition RestartRequired a restart would not clear."""

        def revision(job: Job[Any]) -> ObjectKey:
            return ObjectKey(_REVISION, job.key.namespace, start_revision_name(job.seen.live or {}))

        def keys(job: Job[Any], _facts: Facts) -> Iterable[ObjectToRead]:
            return (ObjectToRead(revision(job), job.key.namespace),) if is_due(job) else ()

        def decide(job: Job[Any], facts: Facts) -> Decision:
            vm = job.seen.live
            if vm is None or not is_due(job):
                return None
            start = value_or_none(facts.cluster.objects.get, *revision(job))
            return bumping(job, vm, self._field_manager) if recapture.keeps_restart_required(vm, start) else None

        return Step(BUMP, decide, needs=keys)


def _is_readable(keys: Iterable[ObjectToRead], facts: Facts) -> bool:
    """Whether the user may read what decides about a VM."""
    try:
        for needed in keys:
            facts.cluster.objects.get(*needed.key)
    except KubeVirtError as error:
        return error.code != 403
    return True
