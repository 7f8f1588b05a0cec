"""The restarts that changes of VMs require."""

from __future__ import annotations

import time
from typing import Any

from ..._resolver.api import effects
from ..._resolver.api.effects import Impact
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.declare import plan
from ..._resolver.kubevirt.vmi.outstanding import outstanding
from ..._resolver.kubevirt.vmi.readiness import cannot_start, has_guest, observed, restart_required, still_asked
from ..._resolver.preflight.object_keys import keys_for_guest
from ..client.errors import ConnectionFailed
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.lookup import ClusterLookup
from ..read.snapshot import Key, Unreadable, read
from ..read.watch import State, once, wait_in_namespaces
from .restart import Guest, restart
from .subject import Result

Manifest = dict[str, Any]

_VM = BY_NAME["VirtualMachine"]
_VMI = BY_NAME["VirtualMachineInstance"]


def settled(session: Session, vms: list[Manifest], instances: dict[Key, Manifest] | None = None) -> list[bool]:
    """For each VM, whether KubeVirt asks for a restart although the guest has everything that the VM declares.

    instances: the VMIs, if the caller has them.
    """
    asked = {_instance_of(one): one for one in vms if restart_required(one) is not None and has_guest(one)}
    if not asked:
        return [False for _one in vms]
    try:
        found = kubevirt(session)
        instances = read(session, list(asked)) if instances is None else instances
    except (Unreadable, ConnectionFailed):
        return [False for _one in vms]
    lookup = ClusterLookup(session)
    running = {key: (one, instances[key]) for key, one in asked.items() if key in instances}
    lookup.gather(key for pair in running.values() for key in keys_for_guest(*pair, found.release))
    complete = {
        key: outstanding(*pair, lookup, found.configuration, found.release).complete for key, pair in running.items()
    }
    return [bool(one) and complete.get(_instance_of(one), False) for one in vms]


def _instance_of(vm: Manifest) -> Key:
    return Key(_VMI.kind, vm["metadata"]["namespace"], vm["metadata"]["name"])


def waits_for_restart(result: Result) -> bool:
    """Whether the VM has, or would have, changes that reach the guest only by a restart."""
    impact: Impact | None = result.impact
    if result.live is None or (impact is not None and impact.settled):
        return False
    if impact is not None and (impact.unannounced or not (result.written and observed(result.live))):
        return impact.needs == effects.RESTART
    return restart_required(result.live) is not None


class Restarts:
    """The restarts of one task. wanted: restart the VMs that need it. concurrency: so many requests at a time."""

    def __init__(self, wanted: bool, concurrency: int) -> None:
        self._wanted, self._concurrency = wanted, concurrency

    def due(self, result: Result) -> bool:
        """Whether the VM needs a restart that its guest would survive, as far as known before the change."""
        if not self._wanted or result.action == plan.DELETE or result.live is None:
            return False
        return has_guest(result.live) and not cannot_start(result.live) and waits_for_restart(result)

    def settle(self, session: Session, results: list[Result], deadline: float) -> None:
        """Restarts the VMs that need it and waits until they run again, as long again as until the deadline. Failures
        go into the results.

        KubeVirt decides whether a VM needs a restart, once it has compared the change with the guest: one watch for
        each namespace. An unchanged VM that needs a restart because of an earlier change is restarted too, even if
        virt-controller has not looked at that change yet.
        """
        if not self._wanted:
            return
        seconds = max(0.0, deadline - time.monotonic())
        _await_observed(session, [one for one in results if _has_news(one)], deadline)
        asked = [one for one in results if not one.failed and one.live is not None]
        wanted = [one for one in asked if self.due(one) or _is_settled(one)]
        try:
            instances = read(session, [_instance_of(one.live or {}) for one in wanted])
        except (Unreadable, ConnectionFailed) as error:
            for one in wanted:
                one.failed = f"the restart failed: {error}"
            return
        due = self._without_settled(session, wanted, instances)
        guests = [Guest(one.live or {}, instances.get(_instance_of(one.live or {}))) for one in due]
        # What is restarted is waited for, even if a VM at which nobody looked has used up the time.
        restart(session, guests, ClusterLookup(session), seconds, self._concurrency)
        for result, guest in zip(due, guests):
            result.live, result.restart = guest.vm, guest.restarted
            result.warnings += guest.raised.warnings
            result.failed = f"the restart failed: {guest.failed}" if guest.failed else None
            if result.impact is not None and not guest.failed:
                result.impact = result.impact._replace(unannounced=False)
        self._without_settled(session, [one for one in due if not one.failed])

    def _without_settled(
        self, session: Session, results: list[Result], instances: dict[Key, Manifest] | None = None
    ) -> list[Result]:
        """The results whose guest lacks something. A restart would not change the others; they get a warning."""
        left = []
        for result, done in zip(results, settled(session, [one.live or {} for one in results], instances)):
            if done:
                result.impact = (result.impact or Impact(effects.NOTHING))._replace(settled=True)
                result.warnings.append(still_asked(result.live or {}))
            else:
                left.append(result)
        return left


def _has_news(result: Result) -> bool:
    """Whether virt-controller may ask for a restart that it has not asked for so far."""
    if result.written:
        return result.impact is not None and result.impact.needs != effects.NOTHING
    live = result.live
    return result.action == plan.NONE and live is not None and has_guest(live) and not observed(live)


def _is_settled(result: Result) -> bool:
    return result.impact is not None and bool(result.impact.settled)


def _await_observed(session: Session, results: list[Result], deadline: float) -> None:
    def look(live: Manifest | None) -> State:
        return once(observed, live, "virt-controller to look at the change")

    members = {(str(result.entry.key.namespace), result.entry.key.name): result for result in results}
    left = max(0.0, deadline - time.monotonic())
    for place, ended in wait_in_namespaces(session, _VM, dict.fromkeys(members, look), left).items():
        members[place].live = ended.object
        members[place].failed = ended.failure
