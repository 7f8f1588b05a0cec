"""Changes the power state of VMs: one LIST of all, the requests that are needed, one watch for each namespace.

A request whose outcome is unknown is sent again only after a read has shown that it had no effect.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest, Progress
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.write import merge_patch
from ..._resolver.api.writers import REVERTED, writer_claim
from ..._resolver.declare import power as rules
from ..._resolver.declare.power import Decision, SubresourceRequest
from ..._resolver.kubevirt.vm import failures
from ..._resolver.kubevirt.vm.readiness import same_status
from ..._resolver.preflight.lost_objects import power_problem
from ..._resolver.preflight.object_keys import keys_for_expansion
from ..client.errors import RequestFailed
from ..client.session import Session
from ..reads.kubevirt import kubevirt
from ..reads.lookup import ClusterLookup
from ..reads.snapshot import read
from ..reads.watch import wait_in_namespaces, with_grace
from ..task import CHANGE_UNKNOWN_IN_CHECK_MODE, UNKNOWN_IN_CHECK_MODE, Task
from .engine import WriteOutcome, run_writes, send

_VM = KINDS["VirtualMachine"]
_VMI = KINDS["VirtualMachineInstance"]
# These verbs end, or begin, the guest of a VM.
_GUEST_CHANGES = (rules.STARTED, rules.STOPPED, rules.RESTARTED)
_IN_FLIGHT = "in-flight migration detected"


@dataclass(eq=False)
class PowerOutcome(WriteOutcome):
    """A VM with its desired state, and what becomes of it.

    state: one of `rules.STATES`. paused: start the guest paused. grace_period: seconds until KubeVirt kills the guest;
    None for the VM's own.
    guest: the UID of the VMI to restart; None for any. A newer VMI is not restarted. vm, vmi: the objects as last seen.
    vm_before, vmi_before: the VM and the VMI before. verb: the request that was sent (check mode: would be sent),
    "" for none. retried: KubeVirt was made to try again.
    """

    namespace: str
    name: str
    state: str
    paused: bool = False
    grace_period: int | None = None
    guest: str | None = None
    vm: Manifest | None = None
    vmi: Manifest | None = None
    vm_before: Manifest | None = None
    vmi_before: Manifest | None = None
    verb: str = ""
    retried: bool = False

    @property
    def label(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def changed(self) -> bool:
        return bool(self.verb)

    @property
    def renewed(self) -> bool:
        """Whether another guest runs than the one to restart, whoever restarted it."""
        return self.failed is None and uid_of(self.vmi) not in ("", self.guest)


def power(session: Session, outcomes: list[PowerOutcome], task: Task) -> list[PowerOutcome]:
    """Takes VMs to their desired states, and returns them.

    One that fails does not stop the others, unless fail_fast is set.
    """
    _read(session, outcomes)
    for outcome in outcomes:
        if outcome.failed is None:
            outcome.vm_before, outcome.vmi_before = outcome.vm, outcome.vmi
            if outcome.vm is None and task.check_mode:
                outcome.warn(f"the virtual machine does not exist; {UNKNOWN_IN_CHECK_MODE}")
            elif outcome.vm is None:
                outcome.failed = "the virtual machine does not exist"
    existing = [outcome for outcome in outcomes if outcome.failed is None and outcome.vm is not None]
    _PowerRun(session, task).run(existing)
    if not task.check_mode:
        # Some VMs have moved during the wait.
        _read(session, [item for item in outcomes if item.verb or _version(item.vm) != _version(item.vm_before)])
    return outcomes


def _read(session: Session, outcomes: list[PowerOutcome]) -> None:
    """Reads the VMs and VMIs: one LIST of each kind for a namespace."""
    namespaces: dict[str, list[PowerOutcome]] = {}
    for outcome in outcomes:
        namespaces.setdefault(outcome.namespace, []).append(outcome)
    for namespace, members in namespaces.items():
        names = {outcome.name for outcome in members}
        try:
            objects = read(session, [ObjectKey(kind.kind, namespace, name) for kind in (_VM, _VMI) for name in names])
        except RequestFailed as error:
            for outcome in members:
                outcome.failed = outcome.failed or str(error)
            continue
        for outcome in members:
            outcome.vm = objects.get(ObjectKey(_VM.kind, namespace, outcome.name))
            outcome.vmi = objects.get(ObjectKey(_VMI.kind, namespace, outcome.name))


def _took_effect(session: Session, outcome: PowerOutcome) -> bool:
    """Whether a VM is, or will be, in the requested state, whoever asked for it."""
    now = PowerOutcome(outcome.namespace, outcome.name, outcome.state)
    _read(session, [now])
    if now.failed or now.vm is None:
        return False
    restarted = outcome.state == rules.RESTARTED and (
        uid_of(now.vmi) != uid_of(outcome.vmi) or (_is_ending(now.vmi) and not _is_ending(outcome.vmi))
    )
    return restarted or not _decision(outcome, now.vm, now.vmi).needed


class _PowerRun:
    """The requests and waits of one task."""

    def __init__(self, session: Session, task: Task) -> None:
        self._session = session
        self._task = task
        # Seconds that are left for waits. The time of the requests does not count: thousands of them take minutes.
        self._seconds = task.wait_timeout

    def run(self, outcomes: list[PowerOutcome]) -> None:
        early = self._decide(outcomes)
        if early:
            self._wait(_VM, early, lambda outcome, vm: rules.reached(early[outcome], vm))
            _read(self._session, list(early))
            for outcome in self._decide([outcome for outcome in early if outcome.failed is None]):
                outcome.failed = "another client changed the VM at the same time; run the task again"
        if self._task.wait and not self._task.check_mode:
            self._await_reached([outcome for outcome in outcomes if outcome.failed is None])

    def _refuse_lost(self, decisions: dict[PowerOutcome, Decision]) -> set[PowerOutcome]:
        """Refuses, and returns, VMs that KubeVirt will not start or stop: their instancetype or preference is gone."""
        due = {
            outcome: outcome.vm
            for outcome, decision in decisions.items()
            if outcome.vm is not None
            and outcome.state in _GUEST_CHANGES
            and (decision.needed or decision.refusal or not _is_reached(outcome))
        }
        if not due:
            return set()
        release = kubevirt(self._session).release
        lookup = ClusterLookup(self._session)
        lookup.gather(key for vm in due.values() for key in keys_for_expansion(vm, release))
        lost = set()
        for outcome, vm in due.items():
            judged = release.captures_in_status or outcome.state != rules.STOPPED
            if judged and (problem := power_problem(vm, lookup, release)):
                self._refuse(outcome, problem)
                lost.add(outcome)
        return lost

    def _decide(self, outcomes: list[PowerOutcome]) -> dict[PowerOutcome, str]:
        """Sends the requests that are needed. Returns the results for which it is too early, with the state to wait
        for.
        """
        due: list[PowerOutcome] = []
        early: dict[PowerOutcome, str] = {}
        decisions: dict[PowerOutcome, Decision] = {}
        for outcome in outcomes:
            if outcome.vm is None:
                outcome.failed = "the VM was deleted"
            elif not (_is_replaced(outcome) or _is_gone(outcome)):
                decisions[outcome] = _decision(outcome, outcome.vm, outcome.vmi)
        lost = self._refuse_lost(decisions)
        for outcome, decision in decisions.items():
            if outcome in lost:
                continue
            self._refuse(outcome, None if self._retried(outcome, decision) else decision.refusal)
            if decision.needed and not decision.wait_for and self._task.check_mode and _lacks_guest(outcome):
                outcome.warn(f"the VM is not running; {CHANGE_UNKNOWN_IN_CHECK_MODE}")
            elif decision.needed and not decision.wait_for:
                due.append(outcome)
            elif decision.needed and self._task.check_mode:
                # KubeVirt would reject the dry run because it is too early.
                outcome.verb = _request(outcome).subresource
            elif decision.needed and self._task.wait:
                early[outcome] = decision.wait_for
            elif decision.needed:
                doing = "starting" if decision.wait_for == rules.STARTED else "stopping"
                outcome.failed = f"the VM is still {doing}; set wait, or run the task again later"
        run_writes(due, self._send, self._task, "virtual machine")
        return early

    def _refuse(self, outcome: PowerOutcome, refusal: str | None) -> None:
        """Fails a VM because of its present state; in check mode, an earlier task may change that: a warning."""
        if refusal and self._task.check_mode:
            outcome.warn(f"{refusal}; {CHANGE_UNKNOWN_IN_CHECK_MODE}")
        else:
            outcome.failed = refusal

    def _retried(self, outcome: PowerOutcome, decision: Decision) -> bool:
        """Makes KubeVirt try again to start a VM that it refuses because of an earlier failure, if the task waits."""
        patch = failures.retry_patch(outcome.vm or {}) if decision.refusal else None
        if patch is None or self._task.check_mode or not self._task.wait:
            return False
        path = _VM.path(outcome.namespace, outcome.name)
        with contextlib.suppress(RequestFailed):
            write = merge_patch(path, patch, fieldManager=self._session.field_manager)
            outcome.retried = send(self._session, write) is not None
        return outcome.retried

    def _send(self, outcome: PowerOutcome) -> None:
        check_mode = self._task.check_mode
        request = _request(outcome)
        response: Manifest | None = {}
        if request.supports_dry_run or not check_mode:
            write = request.write(outcome.namespace, outcome.name, check_mode)
            took_effect = None if check_mode else partial(_took_effect, self._session, outcome)
            try:
                response = send(self._session, write, took_effect)
            except RequestFailed as error:
                # Another migration is pending, for which the task then waits.
                if outcome.state == rules.MIGRATED and _IN_FLIGHT in str(error):
                    return
                raise
            outcome.written = outcome.written or (response is not None and not check_mode)
        outcome.verb = request.subresource if response is not None else ""
        fields = rules.changed_fields(outcome.state, outcome.vm or {}) if outcome.verb else ()
        if fields and (found := writer_claim(outcome.vm or {}, fields, self._session.field_manager)):
            outcome.warn(found.text(REVERTED))

    def _await_reached(self, outcomes: list[PowerOutcome]) -> None:
        migrated = [outcome for outcome in outcomes if outcome.state == rules.MIGRATED]
        self._wait(_VMI, migrated, lambda outcome, vmi: rules.migrated(outcome.vmi_before, vmi))
        others = [outcome for outcome in outcomes if outcome not in migrated]
        unreached = [outcome for outcome in others if outcome.verb or not _is_reached(outcome)]
        self._wait(_VM, unreached, _state_progress)
        # The status of a VM may be that of its old guest.
        ended = [outcome for outcome in unreached if outcome.failed is None and outcome.vm is not None]
        self._wait(_VMI, [outcome for outcome in ended if _ends_guest(outcome)], _end_progress)
        restarted = [outcome for outcome in ended if outcome.failed is None and outcome.state == rules.RESTARTED]
        self._wait(_VM, restarted, _state_progress)

    def _wait(
        self,
        kind: Kind,
        outcomes: Iterable[PowerOutcome],
        probe: Callable[[PowerOutcome, Manifest | None], Progress],
    ) -> None:
        """Watches the kind in each namespace. Failures and the objects last seen go into the results."""
        members = {(outcome.namespace, outcome.name): outcome for outcome in outcomes}
        probes = {key: partial(probe, outcome) for key, outcome in members.items()}
        began = time.monotonic()
        for key, (live, failure) in wait_in_namespaces(self._session, kind, probes, self._seconds).items():
            members[key].failed = failure
            if kind is _VM:
                members[key].vm = live
            else:
                members[key].vmi = live
        self._seconds = max(0.0, self._seconds - (time.monotonic() - began))


def _request(outcome: PowerOutcome) -> SubresourceRequest:
    return rules.subresource_request(outcome.state, paused=outcome.paused, grace_period=outcome.grace_period)


def _decision(outcome: PowerOutcome, vm: Manifest, vmi: Manifest | None) -> Decision:
    return rules.decide(outcome.state, vm, vmi, outcome.grace_period)


def _state_progress(outcome: PowerOutcome, vm: Manifest | None) -> Progress:
    state = rules.reached(outcome.state, vm)
    acted = outcome.verb or outcome.retried
    return with_grace(state) if acted and vm is not None and same_status(vm, outcome.vm_before or {}) else state


def _lacks_guest(outcome: PowerOutcome) -> bool:
    """Whether there is no guest, although the request for the state is one to a guest."""
    return outcome.state not in (rules.STARTED, rules.STOPPED) and rules.guest_ended(outcome.vmi)


def _ends_guest(outcome: PowerOutcome) -> bool:
    """Whether the requested state ends a guest."""
    return outcome.state in (rules.RESTARTED, rules.STOPPED)


def _end_progress(outcome: PowerOutcome, vmi: Manifest | None) -> Progress:
    """Whether the guest that the requested state ends is gone."""
    if outcome.state == rules.STOPPED:
        return Progress(rules.guest_ended(vmi), pending="the old VMI to disappear")
    old = uid_of(outcome.vmi_before) if outcome.guest is None else outcome.guest
    return Progress(vmi is not None and uid_of(vmi) != old, pending="the new VMI")


def _is_reached(outcome: PowerOutcome) -> bool:
    """Whether a VM to which no request was sent is, as first seen, in the requested state."""
    reached = _state_progress(outcome, outcome.vm).done and (
        not _ends_guest(outcome) or _end_progress(outcome, outcome.vmi).done
    )
    return reached or _is_gone(outcome)


def _is_replaced(outcome: PowerOutcome) -> bool:
    """Whether the VMI to restart has been replaced since."""
    return outcome.guest is not None and uid_of(outcome.vmi) not in ("", outcome.guest)


def _is_gone(outcome: PowerOutcome) -> bool:
    """Whether the VMI to restart has ended, and nothing starts another."""
    vm = outcome.vm
    ended = outcome.guest is not None and outcome.vmi is None and vm is not None
    return ended and _decision(outcome, vm or {}, None).needed


def _version(vm: Manifest | None) -> Any:
    return vm["metadata"].get("resourceVersion") if vm is not None else None


def _is_ending(vmi: Manifest | None) -> bool:
    return vmi is not None and "deletionTimestamp" in vmi["metadata"]


def uid_of(manifest: Manifest | None) -> str:
    """The UID of an object, "" if there is none."""
    return str(manifest["metadata"]["uid"]) if manifest is not None else ""
