"""Carries out a rollout, which `rollout` decides: reads, waits for room and health, refreshes, rollbacks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Final, NamedTuple

from ..._cluster.client.concurrency import until_signalled
from ..._cluster.client.errors import ApiError, ConnectionFailed, TaskFailed
from ..._cluster.client.session import Session
from ..._cluster.modules.controller_revision import revision_result
from ..._cluster.modules.module import Params
from ..._cluster.modules.results import printable_status
from ..._cluster.modules.shared_options import selection_problem
from ..._cluster.modules.vm_results import VMFacts, refresh_result, vm_result
from ..._cluster.reads.revisions import inspect, matcher_fields_of
from ..._cluster.reads.watch import wait_in_namespaces
from ..._cluster.task import Task
from ..._cluster.writes.revisions import change, excuse_unmet
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, Progress, qualified_name
from ..._resolver.api.matcher import MATCHER_FIELDS
from ..._resolver.change import drift, move, revision_change
from ..._resolver.change.drift import Drift
from ..._resolver.change.revision_change import RevisionChange
from ..._resolver.kubevirt.instancetype.revision_names import without_revisions
from ..._resolver.kubevirt.vm.readiness import run_strategy
from .. import rollout, vm_decision
from ..rollout import Limits, Rollout
from ..vm_decision import Facts, RolloutScope
from ..windows import MaintenanceSchedule
from .lease import acquire, release

_VM: Final = KINDS["VirtualMachine"]
# Seconds until VMs are listed again while a run waits for room: others may go down meanwhile.
_LOOK_AGAIN: Final = 5.0
# Seconds between two looks at least.
_MOMENT: Final = 0.5
# The settings that ask whether guests will run.
FORECAST: Final = ("quota", "placement")
# Seconds for VMs without a revision to capture one: a run that was cut off may have released it a moment ago.
_CAPTURE: Final = 5.0
# Seconds after the timeouts until a Lease that is not renewed expires; seconds to wait for the Lease of another run.
_LEASE_MARGIN: Final = 60
_LEASE_WAIT: Final = 86400


class RolloutExtension(NamedTuple):
    """A capability's addition to a rollout.

    forecast: takes the session, VMs and the names of checks, and returns {namespace, name, evaluated, fits, problem} of
    each VM, as if all of them restarted. resources: returns the facts of a VM at its next start.
    """

    forecast: Callable[[Session, list[Manifest], Sequence[str]], list[Facts]] = lambda *_arguments: []
    resources: VMFacts | None = None


class RolloutRun:
    """One task of a run.

    settings: the options of the module. now: the time at which the task begins, see `shown_time`.
    last_read: the VMs of the batch for the user's health tasks, as virtual_machine_info returns them.
    warnings: (label, warning) of the last plan.
    """

    def __init__(
        self,
        session: Session,
        task: Task,
        settings: Params,
        selection: RolloutScope,
        windows: MaintenanceSchedule,
        now: str,
        extension: RolloutExtension,
    ) -> None:
        self._extension = extension
        self.selection = selection
        self.last_read: list[Facts] = []
        self.warnings: list[tuple[str, str]] = []
        self._session, self._settings, self._windows = session, settings, windows
        self._task, self._check = task, task.check_mode
        self._now, self._began = _time(now), time.monotonic()
        chosen = settings["namespaces"]
        all_namespaces = "*" in chosen or not chosen
        self._namespaces: list[str | None] = [None] if all_namespaces else list(dict.fromkeys(chosen))
        self._selector = ",".join(settings["label_selectors"]) or None

    def read(self, first: bool = False) -> dict[str, Facts]:
        """The facts of each selected VM now, by label. first: ask the cluster by dry runs about moves."""
        vms = [vm for vm in self._inspected() if self._is_named(vm.namespace, vm.name)]
        return self._planned(vms, first)

    def plan(self, limits: Limits) -> Rollout:
        """Plans the run. Raises TaskFailed if the settings select nothing, or name VMs that do not exist."""
        inspected = self._inspected()
        self._check_selection(inspected)
        if not self._check and self._await_captures(inspected):
            inspected = self._inspected()
        selected_vms = [vm for vm in inspected if self._is_named(vm.namespace, vm.name)]
        vms = self._planned(selected_vms, first=True)
        shared = bool(self._settings["lease"])
        vms_to_count = [vm.vm for vm in (inspected if shared else selected_vms)]
        facts = {qualified_name(vm): _power_facts(vm) for vm in vms_to_count}
        stuck = {label: vm["status"] for label, vm in facts.items() if vm_decision.is_stuck(vm)}
        state = rollout.plan(vms, stuck, len(vms_to_count), limits, self._settings["restart"], shared)
        self._forecast(state, selected_vms)
        return state

    def batch(self, state: Rollout, health_problem: str) -> None:
        """Ends the last batch, then refreshes the next one, in waves as the VMs that are down leave room."""
        begun = _time(state.begun) if state.begun else self._now
        rollout.end_batch(state, health_problem, (self._now - begun).total_seconds())
        if state.ended:
            return
        if state.next_batch and not self._check:
            time.sleep(self._settings["pause"])
        state.out_of_time = self._refusal(state)
        left = list(state.batches[state.next_batch])
        batch, is_begun = left, False
        while left and not state.stopped and not state.out_of_time:
            with self._lease(state, left):
                labels = self._await_room(state, left)
                if labels and not is_begun:
                    # The waits take time.
                    state.out_of_time = self._refusal(state)
                if not labels or state.out_of_time:
                    break
                if not is_begun:
                    rollout.begin(state, shown_time(self._clock))
                    is_begun = True
                rollout.mark_in_progress(state, labels)
                results = self._change(labels, self._decision)
            unhealthy = self._await_health(state, [label for label in labels if not results[label]["failed"]])
            rollout.record_results(state, results, unhealthy)
            left = [label for label in left if label not in results]
            if left:
                rollout.stop_if_too_many_failed(state)
        if left and not state.stopped and not state.out_of_time:
            state.stopped = rollout.room_timeout(state, left, self._down(), self._settings["health_timeout"])
        if is_begun and self._settings["health_tasks"] and not self._check:
            self.last_read = [vm_result(vm, self._extension.resources) for vm in self._inspected(batch)]

    def roll_back(self, state: Rollout) -> None:
        """Gives the VMs that this run has changed what they had before."""
        now = {vm.label: refresh_result(vm) for vm in self._inspected(list(state.outcomes))}
        previous = rollout.previous_revisions(state, now, self.selection.moves)
        size = max(map(len, state.batches))

        def decide(vm: Drift) -> RevisionChange:
            if self.selection.moves:
                return move.restore(vm, previous[vm.label])
            return revision_change.pin(vm, MATCHER_FIELDS, previous[vm.label])

        left = list(previous)
        while left:
            with self._lease(state, left):
                labels = self._await_room(state, left)[:size]
                if not labels:
                    seconds = self._settings["health_timeout"]
                    state.rollback_stopped = rollout.room_timeout(state, left, self._down(), seconds)
                    return
                results = self._change(labels, decide)
            unhealthy = self._await_health(state, [label for label in labels if not results[label]["failed"]])
            rollout.record_rollbacks(state, results, unhealthy)
            left = [label for label in left if label not in results]

    @property
    def _clock(self) -> datetime:
        return self._now + timedelta(seconds=time.monotonic() - self._began)

    def _refusal(self, state: Rollout) -> str:
        """Why no window leaves time for a batch, or ""."""
        if self._check:
            return ""
        timeouts = self._settings["wait_timeout"] + self._settings["health_timeout"]
        return self._windows.refusal(_time(state.started), self._clock, state.longest or timeouts)

    def _inspected(self, labels: Sequence[str] | None = None) -> list[Drift]:
        """The VMs that the namespaces and label selectors select. labels: NAMESPACE/NAME of the VMs to read instead."""
        if labels is None:
            return [vm for place in self._namespaces for vm in inspect(self._session, place, None, self._selector)]
        by_namespace: dict[str, list[str]] = {}
        for label in labels:
            namespace, _slash, name = label.partition("/")
            by_namespace.setdefault(namespace, []).append(name)
        return [vm for place, names in by_namespace.items() for vm in inspect(self._session, place, names)]

    def _is_named(self, namespace: str, name: str) -> bool:
        names = self._settings["names"]
        return not names or name in names or f"{namespace}/{name}" in names

    def _planned(self, vms: list[Drift], first: bool) -> dict[str, Facts]:
        if self.selection.moves:
            if vms and self._settings["patch"]:
                problem = move.patch_problem(self._settings["patch"], vms[0].cluster.release)
                if problem:
                    raise TaskFailed(f"revision_refresh_patch: {problem}")
            planned = replace(self._task, check_mode=True, server_dry_run=first)
            jobs = change(self._session, vms, self._decision, vm_decision.NEVER, planned)
            if self._check:
                excuse_unmet(jobs)
            results = list(map(revision_result, jobs))
            self.warnings = [
                (vm.label, text) for vm, result in zip(vms, results) for text in result.get("warnings", ())
            ]
        else:
            results = [{**refresh_result(vm), "changed": False, "failed": False} for vm in vms]
        return {
            vm.label: vm_decision.planned_vm(result, vm_result(vm), self.selection) for vm, result in zip(vms, results)
        }

    def _decision(self, vm: Drift) -> RevisionChange:
        matcher_fields, settings = matcher_fields_of(self._settings["revisions_of"]), self._settings
        if self.selection.moves:
            return move.move(vm, matcher_fields, settings["replace"], settings["patch"])
        return revision_change.refresh(vm, matcher_fields)

    def _check_selection(self, vms: list[Drift]) -> None:
        """Nothing to do would look like success."""
        problems = []
        for place in self._namespaces:
            names = {vm.name for vm in vms if place in (None, vm.namespace)}
            options = {"namespace": place, "names": None, "label_selectors": self._settings["label_selectors"]}
            problem = selection_problem(options, self._session, names)
            if problem and (not vms or problem.startswith("namespace:")):
                problems.append(f"revision_refresh_{problem.replace('namespace:', 'namespaces:', 1)}")
        if problems:
            self._task.report_missing("; ".join(dict.fromkeys(problems)))
        known = {name for vm in vms for name in (vm.name, vm.label)}
        unknown = [name for name in self._settings["names"] if name not in known]
        if unknown and self._settings["missing_names"] == "fail":
            self._task.report_missing(f"revision_refresh_names: no such virtual machine: {', '.join(unknown)}")

    def _await_captures(self, vms: list[Drift]) -> bool:
        """Whether there were VMs without a revision, for which the task has waited."""
        waiting = [vm for vm in vms if any(part.state == drift.NOT_CAPTURED for part in vm.parts.values())]

        def is_captured(live: Manifest | None) -> Progress:
            references = [
                matcher_field.reference_of(live or {})
                for matcher_field in MATCHER_FIELDS
                if matcher_field.matcher_of(live or {})
            ]
            return Progress(done=live is None or all(item.get("controllerRevisionRef") for item in references))

        probes = {(vm.namespace, vm.name): is_captured for vm in waiting}
        wait_in_namespaces(self._session, _VM, probes, _CAPTURE, explain=False)
        return bool(waiting)

    def _forecast(self, state: Rollout, vms: list[Drift]) -> None:
        """Says of the guests that restart whether quotas admit them and nodes have room, as if all of their namespace
        did.
        """
        checks = [name for name in FORECAST if self._settings[name]]
        matcher_fields = matcher_fields_of(self._settings["revisions_of"])
        due = {
            label
            for label, vm in state.vms.items()
            if vm["decision"] in vm_decision.DUE and vm["disruptive"] and checks
        }
        for place in sorted({label.partition("/")[0] for label in due}):
            members = [
                without_revisions(vm.vm, matcher_fields) for vm in vms if vm.label in due and vm.namespace == place
            ]
            for verdict in self._extension.forecast(self._session, members, checks):
                shown = {name: verdict[name] for name in ("evaluated", "fits", "problem")}
                state.vms[f"{verdict['namespace']}/{verdict['name']}"]["will_run"] = shown

    @contextmanager
    def _lease(self, state: Rollout, labels: Sequence[str]) -> Iterator[None]:
        """Holds the Lease of runs that share a limit, until the changes are visible in the cluster."""
        namespace, _slash, name = self._settings["lease"].partition("/")
        if not name or self._check or not any(state.vms[label]["touched"] for label in labels):
            yield
            return
        timeouts = self._settings["health_timeout"] + self._settings["wait_timeout"]
        with until_signalled(lambda: release(self._session, namespace, name, state.holder)):
            held = acquire(self._session, namespace, name, state.holder, timeouts + _LEASE_MARGIN, _LEASE_WAIT)
            if held.holder != state.holder:
                waited = f"{held.holder} still holds the Lease after {held.waited:.0f} s"
                raise TaskFailed(f"Lease {namespace}/{name}: {waited}")
            yield

    def _down(self) -> dict[str, str]:
        """The VMs that are down and count, with their status; of runs that share a limit, all of them."""
        query = {"labelSelector": self._selector} if self._selector else {}
        vms = [vm for place in self._namespaces for vm in self._session.list(_VM, place, **query)]
        shared = bool(self._settings["lease"])
        selected_vms = (
            vm for vm in vms if shared or self._is_named(vm["metadata"]["namespace"], vm["metadata"]["name"])
        )
        facts = {qualified_name(vm): _power_facts(vm) for vm in selected_vms}
        return {label: vm["status"] for label, vm in facts.items() if vm_decision.is_down(vm)}

    def _await_room(self, state: Rollout, remaining: list[str]) -> list[str]:
        """The VMs that may be changed now, once there are any; [] after the health timeout."""
        if self._check:
            return remaining
        deadline = time.monotonic() + self._settings["health_timeout"]
        while True:
            down = self._down()
            labels = rollout.next_wave(state, remaining, down)
            seconds = min(_LOOK_AGAIN, deadline - time.monotonic())
            if labels or seconds <= 0:
                return labels
            self._await_event(_key(next(iter(down)))[0], seconds)

    def _await_event(self, namespace: str, seconds: float) -> None:
        """Waits for a moment, and then until a VM of the namespace changes or `seconds` have passed."""
        time.sleep(min(_MOMENT, seconds))
        with suppress(ApiError, ConnectionFailed):
            _items, version = self._session.list_to_watch(_VM, namespace, True)
            next(iter(self._session.watch(_VM, namespace, version, seconds, True)), None)

    def _change(self, labels: Sequence[str], decide: Callable[[Drift], RevisionChange]) -> dict[str, Facts]:
        task = replace(self._task, wait_timeout=self._settings["wait_timeout"])
        jobs = change(self._session, self._inspected(labels), decide, self._settings["restart"], task)
        by_label = {job.label: revision_result(job) for job in jobs}
        gone = {"failed": True, "changed": True, "msg": "it is gone"}
        return {label: by_label.get(label, gone) for label in labels}

    def _await_health(self, state: Rollout, labels: Sequence[str]) -> dict[str, str]:
        """Why VMs that should be ready are not, after the health timeout; by label."""
        expected = [] if self._check else [label for label in labels if state.vms[label]["expected"]]

        def why(live: Manifest | None) -> str:
            return vm_decision.unhealthy(None if live is None else _power_facts(live), self.selection.guest_agent)

        def probe(live: Manifest | None) -> Progress:
            return Progress(done=not why(live), failed=why(live) if live is None else None)

        probes = {_key(label): probe for label in expected}
        waited = wait_in_namespaces(self._session, _VM, probes, self._settings["health_timeout"], explain=False)
        return {"/".join(key): why(live) or failure for key, (live, failure) in waited.items() if failure}


def shown_time(time_of: datetime) -> str:
    """A time in UTC, as the state of a run has it."""
    return f"{time_of:%Y-%m-%d %H:%M:%S}"


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


def _key(label: str) -> tuple[str, str]:
    namespace, _slash, name = label.partition("/")
    return namespace, name


def _power_facts(vm: Manifest) -> Facts:
    """The facts of virtual_machine_info that say whether a VM is down or healthy."""
    status = vm.get("status") or {}
    return {
        "ready": bool(status.get("ready")),
        "status": printable_status(vm),
        "run_strategy": run_strategy(vm),
        "conditions": status.get("conditions") or [],
    }
