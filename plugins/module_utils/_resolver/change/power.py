"""Decides which request takes a VM to a requested power state, and whether the VM has reached it.

virt-api decides what it accepts: a request that it would reject is sent, so that the error is its own. Only unnecessary
requests (KubeVirt responds with 409) and premature ones are held back.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ..api.kinds import Kind
from ..api.managed_fields import FieldPath
from ..api.manifest import Manifest, Progress, has_condition
from ..api.write import RetrySafety, Write
from ..kubevirt.vm.readiness import RUNNING, is_up, run_strategy, trouble

STARTED: Final = "started"
STOPPED: Final = "stopped"
RESTARTED: Final = "restarted"
PAUSED: Final = "paused"
UNPAUSED: Final = "unpaused"
MIGRATED: Final = "migrated"
SOFT_REBOOTED: Final = "soft_rebooted"
STATES: Final = (STARTED, STOPPED, RESTARTED, PAUSED, UNPAUSED, MIGRATED, SOFT_REBOOTED)

_FINAL: Final = frozenset({"Succeeded", "Failed"})


class SubresourceRequest(NamedTuple):
    """A request to a subresource of KubeVirt's API.

    plural, subresource: the path of the request. body: the options of the request. supports_dry_run: it supports a dry
    run.
    """

    plural: str
    subresource: str
    body: Manifest
    supports_dry_run: bool = True
    repeat: RetrySafety = RetrySafety.CHECK_FIRST

    def write(self, namespace: str, name: str, dry_run: bool) -> Write:
        body = {**self.body, "dryRun": ["All"]} if dry_run else self.body
        kind = Kind("", "subresources.kubevirt.io", "v1", self.plural, True)
        return Write("PUT", kind.path(namespace, name, self.subresource), body, self.repeat)


class Decision(NamedTuple):
    """The decision whether to send a power request.

    needed: send the request.

    wait_for: the state to wait for before the request, STARTED or STOPPED, which the VM reaches by itself; "" for none.
    refusal: why the request cannot be sent.
    """

    needed: bool = False
    wait_for: str = ""
    refusal: str | None = None


NOTHING: Final = Decision()
_SEND: Final = Decision(needed=True)
_STILL_STOPPING: Final = Decision(needed=True, wait_for=STOPPED)
_STILL_STARTING: Final = Decision(needed=True, wait_for=STARTED)


def subresource_request(state: str, *, paused: bool = False, grace_period: int | None = None) -> SubresourceRequest:
    """The request for a power state. paused: start the guest paused. grace_period: see `decide`."""
    requests: dict[str, tuple[str, Manifest]] = {
        STARTED: ("start", {"paused": True} if paused else {}),
        STOPPED: ("stop", {} if grace_period is None else {"gracePeriod": grace_period}),
        RESTARTED: ("restart", {} if grace_period is None else {"gracePeriodSeconds": grace_period}),
        MIGRATED: ("migrate", {}),
        PAUSED: ("pause", {}),
        UNPAUSED: ("unpause", {}),
        SOFT_REBOOTED: ("softreboot", {}),
    }
    subresource, body = requests[state]
    on_vmi = state in (PAUSED, UNPAUSED, SOFT_REBOOTED)
    request = SubresourceRequest("virtualmachineinstances" if on_vmi else "virtualmachines", subresource, body)
    # Nothing shows whether the first reboot took effect.
    return request._replace(supports_dry_run=False, repeat=RetrySafety.NEVER) if state == SOFT_REBOOTED else request


def decide(state: str, vm: Manifest, vmi: Manifest | None, grace_period: int | None = None) -> Decision:
    """Decides what to do with a VM to take it to one of STATES.

    vmi: its VMI, or None. Both as the API server returned them. grace_period: the seconds after which KubeVirt is to
    kill the guest; None for the VM's own.
    """
    if vm["metadata"].get("deletionTimestamp"):
        return NOTHING if state == STOPPED else Decision(refusal="the VM is being deleted")
    now = _PowerState(vm, vmi)
    if state == STARTED:
        return _start(now)
    if state == STOPPED:
        return _stop(now, grace_period)
    if state == RESTARTED:
        # A restart that is pending or in progress is as good as a new one.
        return NOTHING if now.restarting or now.is_restarting else _SEND
    if now.starting:
        return _STILL_STARTING
    reached = {PAUSED: now.paused, UNPAUSED: not now.paused, MIGRATED: now.migrating}.get(state, False)
    return NOTHING if now.running and reached else _SEND


class _PowerState:
    def __init__(self, vm: Manifest, vmi: Manifest | None) -> None:
        self.vm, self.vmi = vm, vmi or {"metadata": {}}
        status: Manifest = vm.get("status") or {}
        self.strategy = run_strategy(vm)
        # Once and RerunOnFailure start a VM by themselves only before they have taken effect.
        self.strategy_done = status.get("runStrategy") == self.strategy
        vmi_status: Manifest = self.vmi.get("status") or {}
        self.phase = str(vmi_status.get("phase") or "")
        self.live = vmi is not None and self.phase not in _FINAL
        self.ending = self.live and bool(self.vmi["metadata"].get("deletionTimestamp"))
        self.running = self.live and not self.ending and self.phase == "Running"
        self.paused = has_condition(self.vmi, "Paused")
        migration = vmi_status.get("migrationState") or {}
        self.migrating = bool(migration) and not (migration.get("completed") or migration.get("failed"))
        requests = status.get("stateChangeRequests") or []
        self.start_requested = any(request.get("action") == "Start" for request in requests)
        uid = self.vmi["metadata"].get("uid")
        self.stop_requested = self.live and any(
            request.get("action") == "Stop" and request.get("uid") == uid for request in requests
        )

    @property
    def restarting(self) -> bool:
        """Whether a requested restart has not begun."""
        return self.stop_requested and self.start_requested

    @property
    def is_restarting(self) -> bool:
        """Whether the guest is gone, or is stopping, and a new one will start."""
        if self.ending:
            return self.start_requested or self.strategy == "Always"
        return not self.live and self.starting

    @property
    def is_stopping(self) -> bool:
        """Whether the guest is stopping and nothing will start it again."""
        if not self.live or self.start_requested:
            return False
        return self.strategy == "Halted" or self.stop_requested or (self.ending and self.strategy != "Always")

    @property
    def starting(self) -> bool:
        """Whether the guest is starting; requests that need a guest have to wait."""
        if self.live:
            return self.restarting or not (self.running or self.is_stopping)
        return self.start_requested or (self.strategy == "Always" and trouble(self.vm) is None)

    @property
    def restarts_itself(self) -> bool:
        """Whether KubeVirt starts the VM by itself."""
        if self.strategy in ("Once", "RerunOnFailure") and not self.strategy_done:
            return True
        return self.strategy == "Always" or (self.strategy == "RerunOnFailure" and self.phase == "Failed")


def _start(state: _PowerState) -> Decision:
    if state.live:
        return _STILL_STOPPING if state.is_stopping else NOTHING
    if state.start_requested:
        return NOTHING
    if not state.restarts_itself:
        return _SEND
    # KubeVirt starts the VM by itself, so virt-api would reject a request, unless something prevents it for good.
    problem = trouble(state.vm)
    return Decision(refusal=problem.failed) if problem is not None else NOTHING


def _stop(state: _PowerState, grace_period: int | None) -> Decision:
    if not state.live:
        return _SEND if state.restarts_itself or state.start_requested else NOTHING
    if not state.is_stopping:
        return _SEND
    # A shorter grace period speeds up the stop.
    current = (state.vmi.get("spec") or {}).get("terminationGracePeriodSeconds")
    shorter = grace_period is not None and current is not None and grace_period < current
    return _SEND if shorter else NOTHING


def changed_fields(state: str, vm: Manifest) -> tuple[FieldPath, ...]:
    """The fields of the VM's spec that KubeVirt changes to take the VM to a state."""
    strategies = {STARTED: "Halted", STOPPED: "Always"}
    return (("spec", "runStrategy"), ("spec", "running")) if run_strategy(vm) == strategies.get(state) else ()


def reached(state: str, vm: Manifest | None) -> Progress:
    """The progress of a VM towards a requested state; for MIGRATED see `migrated`."""
    if vm is None:
        return Progress(done=state == STOPPED, failed=None if state == STOPPED else "the VM was deleted")
    status: Manifest = vm.get("status") or {}
    printable = status.get("printableStatus", "")
    requests = [request.get("action") for request in status.get("stateChangeRequests") or []]
    current_status = f"now {printable or 'without status'}"
    if state == SOFT_REBOOTED:
        return Progress(done=True)
    if state == STOPPED:
        done, expected = printable == "Stopped" and "Stop" not in requests, "stop"
    elif state in (PAUSED, UNPAUSED):
        done, expected = has_condition(vm, "Paused") is (state == PAUSED), f"be {state}"
    elif problem := trouble(vm):
        return problem
    else:
        is_running = printable in RUNNING and not requests
        done, expected = is_running and is_up(vm), "be ready" if is_running else "run"
    return Progress(done=True) if done else Progress(pending=f"the VM to {expected} ({current_status})")


def guest_ended(vmi: Manifest | None) -> bool:
    """Whether no guest is left; a VMI that has ended by itself may remain."""
    if vmi is None:
        return True
    return not vmi["metadata"].get("deletionTimestamp") and (vmi.get("status") or {}).get("phase") in _FINAL


def migrated(before: Manifest | None, vmi: Manifest | None) -> Progress:
    """The progress of a requested migration. before: the VMI before the request."""
    if vmi is None or ((vmi.get("status") or {}).get("phase") in _FINAL):
        return Progress(failed="the VMI ended during the migration")
    earlier: Manifest = ((before or {}).get("status") or {}).get("migrationState") or {}
    state: Manifest = (vmi.get("status") or {}).get("migrationState") or {}
    over = earlier.get("completed") or earlier.get("failed")
    if not state or (over and state.get("migrationUid") == earlier.get("migrationUid")):
        return Progress(pending="the migration to begin")
    if state.get("failed"):
        reason = state.get("failureReason") or state.get("abortStatus") or "no reason is given"
        return Progress(failed=f"the migration failed: {reason}")
    if state.get("completed"):
        return Progress(done=True)
    return Progress(pending=f"the migration to {state.get('targetNode') or 'another node'}")
