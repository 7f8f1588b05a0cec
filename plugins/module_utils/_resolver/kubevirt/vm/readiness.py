"""Whether a VM has reached its declared state, or never will, by its status."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from ...api.manifest import Manifest, Progress, condition_of, has_condition
from ...api.matcher import MATCHER_FIELDS
from ...api.name_rules import one_line

# The run strategy of a VM that does not run.
HALTED: Final = "Halted"
_ENDED: Final = frozenset({"Succeeded", "Failed"})

# printableStatus values of a VM with a started guest; a paused guest was paused on purpose.
RUNNING: Final = frozenset({"Running", "Paused", "Migrating"})

_NOT_FOUND: Final = frozenset({"FailedFindInstancetype", "FailedFindPreference"})

_STALE_RESTART: Final = (
    "KubeVirt asks for a restart ({reason}), but the running guest already matches the virtual machine, so the task"
    " does not restart the guest again. KubeVirt removes the condition RestartRequired at the next restart"
)

# The conditions of a VMI while KubeVirt plugs in sockets and memory. Until then, it takes up no other change of the
# field.
_UNDER_WAY: Final = {"domain.cpu.sockets": "HotVCPUChange", "domain.memory.guest": "HotMemoryChange"}


def run_strategy(vm: Manifest) -> str:
    """The run strategy, also from the deprecated field `running`."""
    spec = vm.get("spec") or {}
    if spec.get("runStrategy"):
        return str(spec["runStrategy"])
    return "Always" if spec.get("running") else HALTED


def has_guest(vm: Manifest) -> bool:
    """Whether a VM has a guest that is to go on running; a halted VM's guest is stopping."""
    return bool((vm.get("status") or {}).get("created")) and run_strategy(vm) != HALTED


def is_up(vm: Manifest) -> bool:
    """Whether the guest is ready (by its readiness probe, if any), or is paused on purpose."""
    status = vm.get("status") or {}
    return bool(status.get("ready")) or status.get("printableStatus") == "Paused"


def same_status(vm: Manifest, other: Manifest) -> bool:
    """Whether two states of a VM report the same. If so after a write, the controller has not observed the write."""
    first, second = vm.get("status") or {}, other.get("status") or {}
    return all(first.get(name) == second.get(name) for name in ("conditions", "printableStatus"))


def observed(vm: Manifest) -> bool:
    """Whether virt-controller has compared the current VM with its guest; true without a guest."""
    status = vm.get("status") or {}
    desired = status.get("desiredGeneration")
    # Older releases do not report it, so do not wait for it.
    return not status.get("created") or desired is None or desired >= vm["metadata"].get("generation", 0)


def restart_required(vm: Manifest) -> Manifest | None:
    """The condition RestartRequired, by which KubeVirt asks for a restart of the guest, or None."""
    condition = condition_of(vm, "RestartRequired")
    return condition if condition.get("status") == "True" else None


def may_lack_changes(vm: Manifest, unrequested: bool) -> bool:
    """Whether the guest of a VM may lack changes, by the VM alone.

    KubeVirt asks for a restart; or a hot-plug of CPUs is under way, during which KubeVirt does not ask for one because
    of sockets. unrequested: says so for a VM that was ever changed, too, because KubeVirt does not ask for a restart
    for each change.
    """
    changed = unrequested and vm["metadata"].get("generation", 1) > 1
    return has_guest(vm) and (restart_required(vm) is not None or has_condition(vm, "HotVCPUChange") or changed)


def cannot_start(vm: Manifest) -> bool:
    """Whether KubeVirt finds no instancetype or preference of a VM, such as a captured revision that was deleted."""
    return condition_of(vm, "Failure").get("reason") in _NOT_FOUND


def stale_restart_warning(vm: Manifest, foreseen: str | None = None) -> str:
    """The warning for a VM with a complete guest and a remaining condition RestartRequired.

    foreseen: the message of a condition that KubeVirt does not report yet.
    """
    reason = (restart_required(vm) or {}).get("message") or foreseen or "no reason is given"
    return _STALE_RESTART.format(reason=reason)


# The guest ended before it ran; KubeVirt retries at growing intervals, the first time after 10 to 15 seconds. The first
# failure may be the restart of a guest that no node had room for.
_CRASHES: Final = "CrashLoopBackOff"
# A node may become free, a volume appear, and the next pull or import succeed.
_MAY_PASS: Final = frozenset(
    {"ErrorUnschedulable", "ErrImagePull", "ImagePullBackOff", "ErrorPvcNotFound", "DataVolumeError"}
)
_GRACE: Final = 20.0
# Conditions with the reason why a VM does not start, the most specific first.
_REASON_CONDITIONS: Final = ("Synchronized", "PodScheduled", "DataVolumesReady", "Ready")
NO_REASONS: Final = frozenset({"VMINotExists", "PodTerminating", "GuestNotRunning"})
"""Reasons of conditions that only say that there is no guest yet, or no more."""

_STOPPED_STRATEGIES: Final = frozenset({HALTED, "Manual"})
# These strategies start a VM once, and leave it alone after it has ended or was stopped.
_ENDING_STRATEGIES: Final = frozenset({"Once", "RerunOnFailure"})


def readiness(vm: Manifest | None) -> Progress:
    """The progress of a VM. vm: the live VM, or None.

    Done: the revisions of instancetype and preference are captured, and the VM runs or is stopped as its run strategy
    says. Failed: a condition that KubeVirt does not resolve by itself.
    """
    if vm is None:
        return Progress(failed="the VM was deleted while the task waited for it")
    problem = trouble(vm)
    if problem is not None:
        return problem
    missing = [matcher_field.name for matcher_field in MATCHER_FIELDS if _uncaptured(matcher_field, vm)]
    if missing:
        return Progress(pending=f"KubeVirt to capture the revision of its {' and '.join(missing)}")
    power = _power(vm)
    if power.done and not observed(vm):
        return Progress(pending="virt-controller to look at the change")
    return power


def trouble(vm: Manifest) -> Progress | None:
    """The obstacle to a VM's start, by its status: failed, or stuck if the VM may recover soon."""
    # Only a wait asks for it.
    from .failures import RACE, RESTART, failure_of

    status = vm.get("status") or {}
    conditions = {condition["type"]: condition for condition in status.get("conditions") or []}
    condition, failure = failure_of(vm)
    # The guest runs on without a change, or a restart is under way.
    if condition and failure.healed_by != RESTART:
        reason = _condition_text(condition.get("reason") or "Failure", condition)
        # The next attempt succeeds. With a thousand VMs in virt-controller's queue, it may be a minute away.
        return Progress(pending=reason) if failure.healed_by == RACE else Progress(failed=reason)
    printable = status.get("printableStatus", "")
    if printable in _MAY_PASS or printable == _CRASHES:
        failures = (status.get("startFailure") or {}).get("consecutiveFailCount")
        starts = {"message": f"{failures} failed start{'s' if failures != 1 else ''} in a row"} if failures else {}
        reason = _condition_text(printable, _reason_condition(conditions) or starts)
        passing = printable in _MAY_PASS or failures == 1
        return Progress(stuck=reason, grace=_GRACE) if passing else Progress(failed=reason)
    synchronized = conditions.get("Synchronized", {})
    failed = synchronized.get("status") == "False" and str(synchronized.get("reason", "")).startswith("Failed")
    if failed and printable not in RUNNING:
        # The pod was rejected, for example by a quota.
        return Progress(failed=_condition_text(synchronized["reason"], synchronized))
    return None


def _reason_condition(conditions: dict[str, Manifest]) -> Manifest:
    candidates = (conditions[name] for name in _REASON_CONDITIONS if name in conditions)
    return next(
        (
            condition
            for condition in candidates
            if condition.get("status") == "False"
            and condition.get("message")
            and condition.get("reason") not in NO_REASONS
        ),
        {},
    )


def _condition_text(reason: str, condition: Manifest) -> str:
    message = one_line(condition.get("message"))
    return f"{reason}: {message}" if message else reason


def _uncaptured(matcher_field: Any, vm: Manifest) -> bool:
    matcher = matcher_field.matcher_of(vm)
    if not matcher or matcher.get("revisionName"):
        return False
    reference = matcher_field.reference_of(vm)
    return reference.get("name") != matcher.get("name") or not reference.get("controllerRevisionRef")


def _power(vm: Manifest) -> Progress:
    status, strategy = vm.get("status") or {}, run_strategy(vm)
    printable = status.get("printableStatus", "")
    now = f"now {printable or 'without status'}"
    if strategy in _STOPPED_STRATEGIES:
        # A VMI that has ended counts as stopped, but holds volumes until it is deleted.
        if strategy == "Manual" or (printable == "Stopped" and not status.get("created")):
            return Progress(done=True)
        return Progress(pending=f"the VM to stop ({now})")
    if is_up(vm):
        return Progress(done=True)
    ended = printable == "Stopped" and status.get("runStrategy") == strategy and not status.get("stateChangeRequests")
    if strategy in _ENDING_STRATEGIES and ended:
        return Progress(done=True)
    return Progress(pending=f"the VM to be ready ({now})" if printable in RUNNING else f"the VM to run ({now})")


def can_apply_live(vmi: Manifest) -> bool:
    """Whether changes of a VM reach its VMI, or ask for its restart: from its creation until it ends."""
    ended = (vmi.get("status") or {}).get("phase") in _ENDED
    return not ended and not vmi["metadata"].get("deletionTimestamp")


def incomplete_update(vmi: Manifest, fields: Collection[str]) -> str | None:
    """The condition of an incomplete live update for which a change of one of these fields has to wait; or None."""
    waiting = (kind for field, kind in _UNDER_WAY.items() if field in fields and has_condition(vmi, kind))
    return next(waiting, None)
