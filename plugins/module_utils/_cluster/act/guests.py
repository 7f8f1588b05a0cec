"""Applies changes of VMs to their running guests, by a live update or by one restart.

KubeVirt's condition RestartRequired may outlive the restart that it asks for. If the guest already has everything that
the VM declares, the task does not restart it and warns about the condition.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any, Final

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.kubevirt.vmi.outstanding import Outstanding, outstanding, unfinished
from ..._resolver.kubevirt.vmi.readiness import observed, restart_required, still_asked
from ..client.backoff import Backoff
from ..client.errors import ApiError, ConnectionFailed
from ..client.pool import each
from ..client.session import Session
from ..read.lookup import WideLookup
from .changed import Changed
from .engine import Job, carry_out
from .restart import Guest, raise_if_unclean, restart
from .settings import Settings

Manifest = dict[str, Any]

_VM = BY_NAME["VirtualMachine"]
_VMI = BY_NAME["VirtualMachineInstance"]
_REVISION = BY_NAME["ControllerRevision"]
# virt-controller updates the conditions of a new guest within this many seconds of its last write.
_QUIET: Final = 2.0
_PENDING: Final = "the guest does not have the change yet, and KubeVirt asks for no restart"
_WAITS: Final = "the guest does not have the change yet, because KubeVirt has not completed an earlier live update ({})"
_LOOKS: Final = 5


class Guests:
    """The restarts of one task, and the waits for live updates."""

    def __init__(self, session: Session, settings: Settings) -> None:
        self._session = session
        self._settings = settings
        # The VMs with a new guest, whoever restarted them.
        self._renewed: list[Changed] = []

    def run(self, results: list[Changed]) -> None:
        """Brings the guests of VMs up to date. Failures go into the results; the timeout applies to each VM."""
        if not results:
            return
        lookup = WideLookup(self._session, everywhere=False)
        for namespace in {result.before.namespace for result in results}:
            # One LIST for the namespace instead of one GET for each revision.
            lookup.list(_REVISION.kind, namespace)
        jobs = [Job(result, partial(self._bring, result, lookup), "PATCH", _VM) for result in results]
        carry_out(jobs, self._settings)
        self._judge([result for result in self._renewed if result.failed is None])

    def _bring(self, result: Changed, lookup: WideLookup) -> None:
        deadline = time.monotonic() + self._settings.wait_timeout
        wanted, result.restart = result.restart, False
        vm, instance, lacks = self._await_guest(result, lookup, deadline)
        result.vm = vm
        if instance is None or not result.may_restart:
            return
        if lacks.problem is not None:
            raise ConnectionFailed(f"not restarted because KubeVirt could not start the VM again: {lacks.problem}")
        needed = lacks.fields or (wanted and (result.always or self._lacks_anything(result, vm, instance, lookup)))
        if not needed:
            self._leave(result, vm, lookup)
            return
        guest = Guest(vm, instance)
        restart(self._session, [guest], lookup, max(0.0, deadline - time.monotonic()), 1)
        result.note(guest.raised)
        result.vm, result.restart, result.failed = guest.vm, guest.restarted, guest.failed
        result.written = result.written or guest.restarted
        if guest.renewed:
            self._renewed.append(result)

    def _lacks_anything(self, result: Changed, vm: Manifest, instance: Manifest, lookup: WideLookup) -> bool:
        """Whether the guest differs from a VM that just got other revisions, regardless of the start revision."""
        cluster = result.before.kubevirt
        found = outstanding(vm, instance, lookup, cluster.configuration, cluster.release, whole=True)
        return result.change.due and not found.complete

    def _await_guest(
        self, result: Changed, lookup: WideLookup, deadline: float
    ) -> tuple[Manifest, Manifest | None, Outstanding]:
        """The VM, the VMI and what the guest lacks, once virt-controller has observed the VM.

        If a live update is possible, waits until the guest has the change or KubeVirt asks for a restart.
        """
        seen, cluster = result.before, result.before.kubevirt
        pauses = Backoff()
        while True:
            vm, instance = (self._session.get(kind, seen.namespace, seen.name) for kind in (_VM, _VMI))
            if vm is None:
                raise ConnectionFailed("the VM was deleted while the task waited for its guest")
            if instance is None:
                return vm, None, Outstanding()
            lacks = outstanding(vm, instance, lookup, cluster.configuration, cluster.release)
            settled = not (result.change.due and result.may_be_live) or not lacks.fields or lacks.problem is not None
            if observed(vm) and (settled or restart_required(vm) is not None):
                return vm, instance, lacks
            earlier = unfinished(instance, lacks) if observed(vm) else None
            # The VM has its revisions, as requested; without a restart, KubeVirt decides when the guest gets them.
            leave = earlier is not None and not result.may_restart
            if leave or not pauses.pause(max(0.0, deadline - time.monotonic()) + pauses.seconds):
                pending = _PENDING if earlier is None else _WAITS.format(earlier)
                if result.may_restart:
                    raise ConnectionFailed(pending)
                result.warnings.append(pending)
                return vm, instance, lacks

    def _leave(self, result: Changed, vm: Manifest, lookup: WideLookup) -> None:
        """Leaves a guest running that has everything the VM declares. The next restart clears RestartRequired."""
        result.settled = True
        if restart_required(vm) is not None:
            result.note(raise_if_unclean(self._session, vm, lookup))
            result.warnings.append(still_asked(vm))

    def _judge(self, results: list[Changed]) -> None:
        """Reads the VMs with a new guest once nothing writes them any more.

        The guest is new, so a remaining condition RestartRequired is a warning and no reason for another restart.
        """
        moving = results
        for _look in range(_LOOKS):
            if not moving:
                break
            time.sleep(_QUIET)
            moved = each(self._moved, moving, self._settings.concurrency)
            moving = [result for result, again in zip(moving, moved) if again]
        for result in results:
            # The guest was started from the current VM.
            result.settled = True
            if restart_required(result.vm or {}) is not None:
                result.warnings.append(still_asked(result.vm or {}))

    def _moved(self, result: Changed) -> bool:
        """Whether the VM was written since it was last read, or virt-controller has not observed it. Stores the newer
        VM.
        """
        seen, old = result.before, result.vm
        try:
            result.vm = self._session.get(_VM, seen.namespace, seen.name) or old
        except (ApiError, ConnectionFailed):
            # The restart succeeded; a failed extra read does not matter.
            return False
        return _version_of(result.vm) != _version_of(old) or not observed(result.vm or {})


def _version_of(manifest: Manifest | None) -> str:
    return str((manifest or {}).get("metadata", {}).get("resourceVersion"))
