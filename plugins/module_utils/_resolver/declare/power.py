"""Decides which request takes a VM to a wanted power state, and whether the VM has reached it.

virt-api decides what it accepts: a request that it would reject is sent, so that the error is its own. Only unnecessary
requests (KubeVirt responds with 409) and premature ones are held back.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..api.kinds import Kind
from ..api.write import Repeat, Write
from ..kubevirt.vmi.readiness import RUNNING, Readiness, is_up, run_strategy, trouble

Manifest = dict[str, Any]

STARTED: Final = "started"
STOPPED: Final = "stopped"
RESTARTED: Final = "restarted"
PAUSED: Final = "paused"
UNPAUSED: Final = "unpaused"
MIGRATED: Final = "migrated"
SOFT_REBOOTED: Final = "soft_rebooted"
STATES: Final = (STARTED, STOPPED, RESTARTED, PAUSED, UNPAUSED, MIGRATED, SOFT_REBOOTED)

_FINAL: Final = frozenset({"Succeeded", "Failed"})


class Wanted(NamedTuple):
    """state: one of STATES. paused: start the guest paused.
    grace_period: seconds until the guest is killed; None for the VM's own.
    """

    state: str
    paused: bool = False
    grace_period: int | None = None


class Request(NamedTuple):
    """plural, subresource: the path of the request. body: its options. rehearsable: it supports a dry run."""

    plural: str
    subresource: str
    body: Manifest
    rehearsable: bool = True
    repeat: Repeat = Repeat.AFTER_READ

    @property
    def kind(self) -> Kind:
        """The subresource as RBAC names it."""
        return _kind(f"{self.plural}/{self.subresource}")

    def write(self, namespace: str, name: str, dry_run: bool) -> Write:
        body = {**self.body, "dryRun": ["All"]} if dry_run else self.body
        return Write("PUT", _kind(self.plural).path(namespace, name, self.subresource), body, self.repeat)


def _kind(plural: str) -> Kind:
    return Kind("", "subresources.kubevirt.io", "v1", plural, True)


class Decision(NamedTuple):
    """needed: send the request.

    first: the state to wait for beforehand, STARTED or STOPPED, which the VM reaches by itself; "" for none. refusal:
    why the request cannot be sent.
    """

    needed: bool = False
    first: str = ""
    refusal: str | None = None


_NOTHING: Final = Decision()
_SEND: Final = Decision(needed=True)
_STILL_STOPPING: Final = Decision(needed=True, first=STOPPED)
_STILL_STARTING: Final = Decision(needed=True, first=STARTED)


def request(wanted: Wanted) -> Request:
    """The request for a wanted state."""
    if wanted.state == STARTED:
        return Request("virtualmachines", "start", {"paused": True} if wanted.paused else {})
    if wanted.state == STOPPED:
        body = {} if wanted.grace_period is None else {"gracePeriod": wanted.grace_period}
        return Request("virtualmachines", "stop", body)
    if wanted.state == RESTARTED:
        body = {} if wanted.grace_period is None else {"gracePeriodSeconds": wanted.grace_period}
        return Request("virtualmachines", "restart", body)
    if wanted.state == MIGRATED:
        return Request("virtualmachines", "migrate", {})
    if wanted.state == SOFT_REBOOTED:
        # Nothing shows whether the first reboot took effect.
        return Request("virtualmachineinstances", "softreboot", {}, rehearsable=False, repeat=Repeat.NEVER)
    return Request("virtualmachineinstances", "pause" if wanted.state == PAUSED else "unpause", {})


def decide(wanted: Wanted, vm: Manifest, instance: Manifest | None) -> Decision:
    """What to do with a VM. instance: its VMI, or None. Both as the API server returned them."""
    if vm["metadata"].get("deletionTimestamp"):
        return _NOTHING if wanted.state == STOPPED else Decision(refusal="the VM is being deleted")
    seen = _Seen(vm, instance)
    if wanted.state == STARTED:
        return _start(seen)
    if wanted.state == STOPPED:
        return _stop(seen, wanted)
    if wanted.state == RESTARTED:
        # A restart that is pending or in progress is as good as a new one.
        return _NOTHING if seen.restarting or seen.returning else _SEND
    if seen.starting:
        return _STILL_STARTING
    if wanted.state == PAUSED:
        return _NOTHING if seen.running and seen.paused else _SEND
    if wanted.state == UNPAUSED:
        return _NOTHING if seen.running and not seen.paused else _SEND
    if wanted.state == MIGRATED:
        return _NOTHING if seen.running and seen.migrating else _SEND
    return _SEND


class _Seen:
    """The power state of a VM and its VMI."""

    def __init__(self, vm: Manifest, instance: Manifest | None) -> None:
        self.vm = vm
        status: Manifest = vm.get("status") or {}
        self.strategy = run_strategy(vm)
        # Once and RerunOnFailure start a VM by themselves only before they have taken effect.
        self.strategy_done = status.get("runStrategy") == self.strategy
        own: Manifest = instance or {"metadata": {}}
        self.instance = own
        state: Manifest = own.get("status") or {}
        self.phase = str(state.get("phase") or "")
        self.live = instance is not None and self.phase not in _FINAL
        self.ending = self.live and bool(own["metadata"].get("deletionTimestamp"))
        self.running = self.live and not self.ending and self.phase == "Running"
        self.paused = any(
            condition["type"] == "Paused" and condition["status"] == "True"
            for condition in state.get("conditions") or []
        )
        migration = state.get("migrationState") or {}
        self.migrating = bool(migration) and not (migration.get("completed") or migration.get("failed"))
        requests = status.get("stateChangeRequests") or []
        self.start_requested = any(one.get("action") == "Start" for one in requests)
        uid = own["metadata"].get("uid")
        self.stop_requested = self.live and any(
            one.get("action") == "Stop" and one.get("uid") == uid for one in requests
        )

    @property
    def restarting(self) -> bool:
        """Whether a requested restart has not begun."""
        return self.stop_requested and self.start_requested

    @property
    def returning(self) -> bool:
        """Whether the guest is gone, or is stopping, and a new one will start."""
        if self.ending:
            return self.start_requested or self.strategy == "Always"
        return not self.live and self.starting

    @property
    def leaving(self) -> bool:
        """Whether the guest is stopping and nothing will start it again."""
        if not self.live or self.start_requested:
            return False
        return self.strategy == "Halted" or self.stop_requested or (self.ending and self.strategy != "Always")

    @property
    def starting(self) -> bool:
        """Whether the guest is starting; requests that need a guest have to wait."""
        if self.live:
            return self.restarting or not (self.running or self.leaving)
        return self.start_requested or (self.strategy == "Always" and trouble(self.vm) is None)

    @property
    def comes_back(self) -> bool:
        """Whether KubeVirt starts the VM by itself."""
        if self.strategy in ("Once", "RerunOnFailure") and not self.strategy_done:
            return True
        return self.strategy == "Always" or (self.strategy == "RerunOnFailure" and self.phase == "Failed")


def _start(seen: _Seen) -> Decision:
    if seen.live:
        return _STILL_STOPPING if seen.leaving else _NOTHING
    if seen.start_requested:
        return _NOTHING
    return _by_itself(seen) if seen.comes_back else _SEND


def _by_itself(seen: _Seen) -> Decision:
    """The decision if KubeVirt starts the VM by itself, so that virt-api would reject a request.

    If something prevents the start for good, that is the refusal.
    """
    found = trouble(seen.vm)
    return Decision(refusal=found.reason) if found is not None and not found.grace else _NOTHING


def _stop(seen: _Seen, wanted: Wanted) -> Decision:
    if not seen.live:
        return _SEND if seen.comes_back or seen.start_requested else _NOTHING
    if not seen.leaving:
        return _SEND
    # A shorter grace period speeds up the stop.
    allowed = (seen.instance.get("spec") or {}).get("terminationGracePeriodSeconds")
    hurried = wanted.grace_period is not None and allowed is not None and wanted.grace_period < allowed
    return _SEND if hurried else _NOTHING


def reached(wanted: Wanted, vm: Manifest | None) -> Readiness:
    """How close a VM is to a wanted state; for MIGRATED see `migrated`."""
    if vm is None:
        return Readiness(
            ready=wanted.state == STOPPED, failed=None if wanted.state == STOPPED else "the VM was deleted"
        )
    status: Manifest = vm.get("status") or {}
    printable = status.get("printableStatus", "")
    requests = [one.get("action") for one in status.get("stateChangeRequests") or []]
    now = f"now {printable or 'without status'}"
    if wanted.state == STOPPED:
        if printable == "Stopped" and "Stop" not in requests:
            return Readiness(ready=True)
        return Readiness(pending=f"the VM to stop ({now})")
    if wanted.state == SOFT_REBOOTED:
        return Readiness(ready=True)
    if wanted.state in (PAUSED, UNPAUSED):
        paused = any(one["type"] == "Paused" and one["status"] == "True" for one in status.get("conditions") or [])
        if paused is (wanted.state == PAUSED):
            return Readiness(ready=True)
        return Readiness(pending=f"the VM to be {wanted.state} ({now})")
    found = trouble(vm)
    if found is not None:
        return Readiness(stuck=found.reason, grace=found.grace) if found.grace else Readiness(failed=found.reason)
    if printable in RUNNING and not requests:
        return Readiness(ready=True) if is_up(vm) else Readiness(pending=f"the VM to be ready ({now})")
    return Readiness(pending=f"the VM to run ({now})")


def gone(instance: Manifest | None) -> bool:
    """Whether no guest is left; a VMI that has ended by itself may remain."""
    if instance is None:
        return True
    return not instance["metadata"].get("deletionTimestamp") and (instance.get("status") or {}).get("phase") in _FINAL


def migrated(before: Manifest | None, instance: Manifest | None) -> Readiness:
    """The progress of a requested migration. before: the VMI before the request."""
    if instance is None or ((instance.get("status") or {}).get("phase") in _FINAL):
        return Readiness(failed="the VMI ended during the migration")
    earlier: Manifest = ((before or {}).get("status") or {}).get("migrationState") or {}
    state: Manifest = (instance.get("status") or {}).get("migrationState") or {}
    over = earlier.get("completed") or earlier.get("failed")
    if not state or (over and state.get("migrationUid") == earlier.get("migrationUid")):
        return Readiness(pending="the migration to begin")
    if state.get("failed"):
        reason = state.get("failureReason") or state.get("abortStatus") or "no reason is given"
        return Readiness(failed=f"the migration failed: {reason}")
    if state.get("completed"):
        return Readiness(ready=True)
    return Readiness(pending=f"the migration to {state.get('targetNode') or 'another node'}")
