"""The steps that take a VM to a requested power state."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..api import behaviour
from ..api.manifest import Manifest, Progress
from ..api.write import merge_patch
from ..kubevirt.vm import failures
from ..kubevirt.vm.readiness import same_status
from . import power
from .step import REQUEST, RETRY, VM, VMI, Act, Decision, Facts, Job, Probe, Refusal, Refuse, Seen, Step

if TYPE_CHECKING:
    from ..preflight.object_keys import ObjectToRead

# These verbs end, or begin, the guest of a VM.
_GUEST_CHANGES: Final = (power.STARTED, power.STOPPED, power.RESTARTED)
_IN_FLIGHT: Final = "in-flight migration detected"
_OVERTAKEN: Final = "another client changed the VM at the same time; run the task again"

_SETTLE: Final = "settle"
_REACH: Final = "reach"


class PowerRequest(NamedTuple):
    """The power state that a task asks for.

    state: one of `power.STATES`. paused: start the guest paused. grace_period: seconds until KubeVirt kills the guest;
    None for the VM's own. guest: the UID of the VMI to restart; None for any. A newer VMI is not restarted.
    """

    state: str
    paused: bool = False
    grace_period: int | None = None
    guest: str | None = None

    @property
    def verb(self) -> str:
        """The subresource of KubeVirt's API."""
        return power.subresource_request(self.state).subresource


def is_renewed(job: Job[Any], request: PowerRequest) -> bool:
    """Whether another guest runs than the one to restart, whoever restarted it."""
    return job.failed is None and _is_replaced(request, job.seen)


def power_steps(
    request_of: Callable[[Job[Any]], PowerRequest], field_manager: str, *, check_mode: bool, waits: bool
) -> tuple[Step, ...]:
    """The steps to a requested power state. waits: the task waits for guests."""
    steps = _PowerSteps(request_of, field_manager, check_mode, waits)
    return (
        Step("find", steps.find, reads=lambda _job: (VM, VMI)),
        Step("look up", steps.refuse_lost, needs=steps.keys),
        # A VM may have to stop, or start, by itself before KubeVirt takes the request.
        Step(_SETTLE, steps.refuse_unsettled, until=steps.until_settled),
        Step(RETRY, steps.retry, reads=lambda job: (VM, VMI) if _SETTLE in job.waited else ()),
        Step(REQUEST, steps.request),
        Step("migrate", until=steps.until_migrated, kind=VMI),
        Step(_REACH, until=steps.until_reached),
        # The status of a VM may still describe its old guest.
        Step("end", until=steps.until_ended, kind=VMI),
        Step("run again", until=steps.until_running_again),
    )


class _PowerSteps:
    def __init__(
        self, request_of: Callable[[Job[Any]], PowerRequest], field_manager: str, check_mode: bool, waits: bool
    ) -> None:
        self._request_of, self._field_manager = request_of, field_manager
        self._check_mode, self._waits = check_mode, waits and not check_mode

    def _decision(self, job: Job[Any]) -> power.Decision:
        request = self._request_of(job)
        if job.seen.live is None or _is_replaced(request, job.seen) or _is_gone(request, job.seen):
            return power.NOTHING
        return _decision(request, job.seen)

    def find(self, job: Job[Any], _facts: Facts) -> Decision:
        job.before = job.seen
        return Refuse("the virtual machine does not exist", missing=True) if job.seen.live is None else None

    def _is_affected(self, job: Job[Any]) -> bool:
        """Whether KubeVirt is to do something for which it looks at the VM's instancetype and preference."""
        request = self._request_of(job)
        if request.state not in _GUEST_CHANGES or _is_replaced(request, job.seen) or _is_gone(request, job.seen):
            return False
        decision = _decision(request, job.seen)
        return decision.needed or decision.refusal is not None or not self._is_reached(job)

    def keys(self, job: Job[Any], facts: Facts) -> Iterable[ObjectToRead]:
        if not self._is_affected(job):
            return ()
        # Only a VM whose guest begins or ends needs it.
        from ..preflight.object_keys import keys_for_expansion

        return keys_for_expansion(job.seen.live or {}, facts.cluster.release)

    def refuse_lost(self, job: Job[Any], facts: Facts) -> Decision:
        """Refuses a VM that KubeVirt will not start or stop: its instancetype or preference is gone."""
        if not self._is_affected(job):
            return None
        from ..preflight.lost_objects import power_problem

        cluster, state = facts.cluster, self._request_of(job).state
        judged = cluster.release.has(behaviour.CAPTURES_IN_STATUS) or state != power.STOPPED
        problem = power_problem(job.seen.live or {}, cluster.objects, cluster.release) if judged else None
        return Refuse(problem) if problem else None

    def refuse_unsettled(self, job: Job[Any], _facts: Facts) -> Decision:
        wait_for = self._decision(job).wait_for
        if not wait_for or self._waits or self._check_mode:
            return None
        doing = "starting" if wait_for == power.STARTED else "stopping"
        return Refuse(f"the VM is still {doing}; set wait, or run the task again later")

    def until_settled(self, job: Job[Any]) -> Probe | None:
        wait_for = self._decision(job).wait_for
        return partial(power.reached, wait_for) if wait_for else None

    def retry(self, job: Job[Any], _facts: Facts) -> Decision:
        """Makes KubeVirt try again to start a VM that it refuses because of an earlier failure, if the task waits."""
        refusal = self._decision(job).refusal if self._waits else None
        patch = failures.retry_patch(job.seen.live or {}) if refusal else None
        if patch is None:
            return None
        write = merge_patch(job.key.path, patch, fieldManager=self._field_manager)
        return Act((write,), on_error=lambda _refusal: None, is_change=False)

    def request(self, job: Job[Any], _facts: Facts) -> Decision:
        request, decision, vm = self._request_of(job), self._decision(job), job.seen.live
        if vm is None:
            return Refuse("the VM was deleted")
        if decision.refusal and RETRY not in job.done:
            return Refuse(decision.refusal)
        if not decision.needed:
            return None
        if decision.wait_for and not self._check_mode:
            return Refuse(_OVERTAKEN)
        if self._check_mode and not decision.wait_for and _lacks_guest(request, job.seen):
            return Refuse("the VM is not running")
        sent = power.subresource_request(request.state, paused=request.paused, grace_period=request.grace_period)
        # KubeVirt would reject a dry run that is too early.
        dry_run = sent.supports_dry_run and not decision.wait_for
        place = job.key.namespace, job.key.name
        # Only a VM that gets a request needs it.
        from ..ownership.writers import REVERTED, writer_claim

        claim = writer_claim(vm, power.changed_fields(request.state, vm), self._field_manager)
        return Act(
            (sent.write(*place, dry_run=False),),
            (sent.write(*place, dry_run=True),) if dry_run else (),
            took_effect=partial(_took_effect, request, job.seen),
            evidence=(VM, VMI),
            on_error=_failure_of_migration if request.state == power.MIGRATED else str,
            warnings=() if claim is None else (claim.text(REVERTED),),
        )

    def until_migrated(self, job: Job[Any]) -> Probe | None:
        migrates = self._request_of(job).state == power.MIGRATED
        return partial(power.migrated, job.before.vmi) if migrates else None

    def until_reached(self, job: Job[Any]) -> Probe | None:
        if self._request_of(job).state == power.MIGRATED or (REQUEST not in job.done and self._is_reached(job)):
            return None
        return partial(self._state_progress, job)

    def until_ended(self, job: Job[Any]) -> Probe | None:
        request = self._request_of(job)
        awaited = _REACH in job.waited and job.seen.live is not None and _ends_guest(request)
        return partial(_end_progress, request, job.before) if awaited else None

    def until_running_again(self, job: Job[Any]) -> Probe | None:
        awaited = _REACH in job.waited and job.seen.live is not None
        restarts = self._request_of(job).state == power.RESTARTED
        return partial(self._state_progress, job) if awaited and restarts else None

    def _state_progress(self, job: Job[Any], vm: Manifest | None) -> Progress:
        state = power.reached(self._request_of(job).state, vm)
        acted = REQUEST in job.done or RETRY in job.done
        return state.with_grace() if acted and vm is not None and same_status(vm, job.before.live or {}) else state

    def _is_reached(self, job: Job[Any]) -> bool:
        """Whether a VM to which no request was sent is, as first seen, in the requested state."""
        request, seen = self._request_of(job), job.seen
        reached = self._state_progress(job, seen.live).done and (
            not _ends_guest(request) or _end_progress(request, job.before, seen.vmi).done
        )
        return reached or _is_gone(request, seen)


def _decision(request: PowerRequest, seen: Seen) -> power.Decision:
    return power.decide(request.state, seen.live or {}, seen.vmi, request.grace_period)


def _took_effect(request: PowerRequest, before: Seen, now: Seen) -> bool:
    """Whether a VM is, or will be, in the requested state, whoever asked for it."""
    restarted = request.state == power.RESTARTED and (
        uid_of(now.vmi) != uid_of(before.vmi) or (_is_ending(now.vmi) and not _is_ending(before.vmi))
    )
    return restarted or not _decision(request, now).needed


def _failure_of_migration(refusal: Refusal) -> str | None:
    """The failure that the refusal of a migration means; none if another one is pending, for which the task waits."""
    return None if _IN_FLIGHT in str(refusal) else str(refusal)


def _lacks_guest(request: PowerRequest, seen: Seen) -> bool:
    """Whether there is no guest, although the request for the state is one to a guest."""
    return request.state not in (power.STARTED, power.STOPPED) and power.guest_ended(seen.vmi)


def _ends_guest(request: PowerRequest) -> bool:
    return request.state in (power.RESTARTED, power.STOPPED)


def _end_progress(request: PowerRequest, before: Seen, vmi: Manifest | None) -> Progress:
    """Whether the guest that the requested state ends is gone."""
    if request.state == power.STOPPED:
        return Progress(power.guest_ended(vmi), pending="the old VMI to disappear")
    old = uid_of(before.vmi) if request.guest is None else request.guest
    return Progress(vmi is not None and uid_of(vmi) != old, pending="the new VMI")


def _is_replaced(request: PowerRequest, seen: Seen) -> bool:
    """Whether the VMI to restart has been replaced since."""
    return request.guest is not None and uid_of(seen.vmi) not in ("", request.guest)


def _is_gone(request: PowerRequest, seen: Seen) -> bool:
    """Whether the VMI to restart has ended, and nothing starts another."""
    ended = request.guest is not None and seen.vmi is None and seen.live is not None
    return ended and _decision(request, seen).needed


def _is_ending(vmi: Manifest | None) -> bool:
    return vmi is not None and "deletionTimestamp" in vmi["metadata"]


def uid_of(manifest: Manifest | None) -> str:
    """The UID of an object, "" if there is none."""
    return str(manifest["metadata"]["uid"]) if manifest is not None else ""
