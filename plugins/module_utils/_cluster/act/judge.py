"""Preflight and impact of the planned VMs of one task. The cluster is read once for all VMs."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.effects import NOTHING, RESTART, UNKNOWN, Impact
from ..._resolver.declare import plan, virtual_machine
from ..._resolver.declare.impact import impact, size_mismatch
from ..._resolver.kubevirt.vmi.cluster import Cluster
from ..._resolver.kubevirt.vmi.readiness import has_guest, plugs_sockets
from ..._resolver.preflight import predict as rules
from ..._resolver.preflight.admit import AdmissionResult, admission_cache_key, admit
from ..._resolver.preflight.object_keys import keys_for_admission, keys_for_guest
from ..._resolver.preflight.references import keys_for_start
from ..client.errors import ConnectionFailed
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.lookup import ClusterLookup
from ..read.snapshot import Key, Unreadable, read
from .restarts import stale_conditions
from .subject import Finding, Planned

Manifest = dict[str, Any]

_VMI = "VirtualMachineInstance"


class Judge:
    """Checks planned VMs. They share one lookup, which reads the cluster only when a check needs it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lookup = ClusterLookup(session)
        # Admission of changed VMs, until their impact is known.
        self._admissions: dict[Key, AdmissionResult] = {}

    @property
    def _cluster(self) -> Cluster:
        return Cluster(self._lookup, kubevirt(self._session))

    def preflight(self, planned: list[Planned]) -> list[list[Finding]]:
        """Findings for each planned VM, in order."""
        cluster = self._cluster
        vms = [plan.merged(step.plan, step.live) for step in planned]
        wanted = (key for vm in vms for key in (*keys_for_admission(vm, cluster.release), *keys_for_start(vm)))
        self._lookup.gather(dict.fromkeys(wanted))
        doubt = [Finding(cluster.kubevirt.doubt, note=True)] if cluster.kubevirt.doubt else []
        known: dict[str, list[Finding]] = {}
        told = []
        for step, vm in zip(planned, vms):
            # The impact of a change of the spec needs the admission of each VM.
            alike = None if _changes_spec(step) else admission_cache_key(vm, step.live, cluster)
            findings = known.get(alike) if alike is not None else None
            if findings is None:
                findings = self._findings(step, vm, cluster)
                # A finding may name the revision that this VM has captured.
                if alike is not None and (step.live is None or not findings):
                    known[alike] = findings
            told.append([*findings, *doubt])
        return told

    def _findings(self, step: Planned, vm: Manifest, cluster: Cluster) -> list[Finding]:
        future = admit(vm, step.live, cluster)
        if _changes_spec(step):
            self._admissions[step.entry.key] = future
        return [
            Finding(issue.text, note=not issue.certain, missing=issue.missing)
            for issue in rules.issues(future, step.live, cluster, self._lookup.list)
        ]

    def notes(self, planned: list[Planned]) -> list[list[str]]:
        """Warnings for each planned VM, changed or not, in order."""
        grown = {step.entry.key: pair for step in planned if (pair := _expanded(step)) is not None}
        if not grown:
            return [[] for _step in planned]
        cluster = self._cluster
        self._lookup.gather(
            key for pair in grown.values() for vm in pair for key in keys_for_admission(vm, cluster.release)
        )
        told = {key: size_mismatch(*pair, cluster) for key, pair in grown.items()}
        return [[note] if (note := told.get(step.entry.key)) else [] for step in planned]

    def foresee(self, planned: list[Planned]) -> list[Impact | None]:
        """The impact of each planned change, in order; None for a VM that is created, deleted or unchanged.

        A change outside the spec needs nothing, unless a hot-plug of CPUs holds up an earlier change.
        """
        told: list[Impact | None] = [Impact(NOTHING) if step.plan.action == plan.APPLY else None for step in planned]
        # Ordered, and quick to look up in.
        changed = dict.fromkeys(index for index, step in enumerate(planned) if _changes_spec(step) or _is_held_up(step))
        kept = [index for index, step in enumerate(planned) if step.live is not None and index not in changed]
        for index, done in zip(kept, stale_conditions(self._session, [planned[index].live or {} for index in kept])):
            told[index] = Impact(NOTHING, settled=True) if done else told[index]
        if not changed:
            return told
        try:
            instances = read(self._session, [_instance(planned[index]) for index in changed])
        except (Unreadable, ConnectionFailed):
            return [Impact(UNKNOWN) if index in changed else one for index, one in enumerate(told)]
        cluster = self._cluster
        pairs = [(planned[index], instances.get(_instance(planned[index]))) for index in changed]
        self._lookup.gather(
            key
            for step, instance in pairs
            if step.live is not None and instance is not None
            for key in keys_for_guest(step.live, instance, cluster.release)
        )
        for index, (step, instance) in zip(changed, pairs):
            future = self._admissions.pop(step.entry.key, None) or admit(
                plan.merged(step.plan, step.live), step.live, cluster
            )
            found = impact(step.live or {}, future, instance, cluster)
            if _changes_spec(step) or found.needs == RESTART:
                told[index] = found
        return told


def _expanded(step: Planned) -> tuple[Manifest, Manifest] | None:
    """The declared and the live VM, if the cluster has replaced the matchers of a VM that stays; else None."""
    if step.live is None or step.plan.action == plan.DELETE:
        return None
    return (step.entry.manifest, step.live) if virtual_machine.expanded(step.entry.manifest, step.live) else None


def _changes_spec(step: Planned) -> bool:
    return step.plan.action == plan.APPLY and bool(step.plan.before.get("spec") or step.plan.after.get("spec"))


def _is_held_up(step: Planned) -> bool:
    live = step.live
    return step.plan.action != plan.DELETE and live is not None and has_guest(live) and plugs_sockets(live)


def _instance(step: Planned) -> Key:
    return Key(_VMI, step.entry.key.namespace, step.entry.key.name)
