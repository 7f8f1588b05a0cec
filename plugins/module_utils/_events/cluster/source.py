"""The event source of one cluster: looks at VMs when watches say so, and tells what has changed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from itertools import chain
from typing import Any, Final

from ..._cluster.client.concurrency import Backoff, Stopped, stoppable
from ..._cluster.client.errors import RequestFailed, TaskFailed
from ..._cluster.client.libraries import LIBRARIES, MISSING
from ..._cluster.client.session import Session
from ..._resolver.api.manifest import Manifest, qualified_name
from ..._resolver.change.drift import Drift
from ..facts import BROKEN, facts_of_diagnosis, is_settled, with_ended_guest
from ..source_options import ClusterOptions, SourceOptions
from ..transitions import Change, Reporter
from .look import SeenVM, VMSelection, all_vms, namespace_vms, some_vms
from .stores import StateConfigMap, StateFile, Store
from .triggers import PendingLook, Triggers
from .unsettled import Unsettled

log = logging.getLogger(__name__)

_REFUSALS: Final = (401, 403, 404)
# How the number of attempts begins, which differs each time.
_TRIED: Final = " (tried "

Put = Callable[[dict[str, Any]], None]
"""Hands an event to the rule engine, and returns once that has it."""


Diagnosis = Callable[[Session, "list[Drift]", "str | None", "list[str]"], "list[dict[str, Any]]"]
"""The diagnosis of each VM, of the VMs, their namespace or None, and the list of warnings to add to."""


def watch_cluster(
    options: SourceOptions, cluster: ClusterOptions, put: Put, stop: threading.Event, diagnosis: Diagnosis | None = None
) -> None:
    """Tells the transitions of a cluster's VMs until `stop` is set. The one that is being told is told, and saved.

    diagnosis: without it no VM is told to be broken.

    A failed request is logged, and tried again without an end. Only if the cluster is the only one, its wrong options,
    and a first look that it refuses, raise RequestFailed. A state that cannot be kept raises TaskFailed. `stop` is set
    in the end, also after an error.
    """
    if MISSING:
        raise TaskFailed(f"{LIBRARIES} are not both installed; install them beside ansible-rulebook")
    source = _ClusterSource(options, cluster, put, stop, diagnosis if BROKEN in options.transitions else None)

    def run() -> None:
        stoppable(stop)
        with suppress(Stopped):
            source.run()

    try:
        copy_context().run(run)
        # The last saving must not be stopped.
        source.store.flush()
    finally:
        # After an error the watches would go on.
        stop.set()
        source.store.close()


class _ClusterSource:
    def __init__(
        self,
        options: SourceOptions,
        cluster: ClusterOptions,
        put: Put,
        stop: threading.Event,
        diagnosis: Diagnosis | None,
    ) -> None:
        self._diagnosis, self._unsettled = diagnosis, Unsettled(options.patience)
        self._options, self._auth, self._put, self._stop = options, cluster.auth, put, stop
        self._session: Session | None = None
        self._reporter = Reporter(cluster.name, options.transitions, options.fields)
        self._selection = VMSelection(options.namespace, options.label_selector, options.field_selector)
        self.store = Store()
        # Others are not to end with this one.
        self._may_raise = len(options.clusters) == 1
        self._told: set[str] = set()
        # When to look at all VMs without a reason.
        self._due = time.monotonic()

    def run(self) -> None:
        self._until_done(self._begin)
        triggers = Triggers(self._current, self._options.namespace, self._selection.query, self._stop)
        if not self._stop.is_set():
            triggers.start()
        while not self._stop.is_set():
            self._until_done(partial(self._turn, triggers))
            self._may_raise, self._reporter = False, self._reporter._replace(silent=False)

    def _turn(self, triggers: Triggers) -> None:
        """Waits for something to look at, and looks. After a failure, it is to look at once more, with what is new."""
        until = min(self._due, self._unsettled.next())
        batch = triggers.take(max(0.0, until - time.monotonic()), self._options.delay)
        batch.everything = batch.everything or time.monotonic() >= self._due
        for name in self._unsettled.due():
            batch.vms.setdefault(name)
        try:
            if batch.everything:
                # A new session reads the configuration of the cluster's KubeVirt again.
                self._session = None
                self._due = time.monotonic() + self._options.resync
            self._look(batch)
        except RequestFailed:
            triggers.add(batch)
            raise

    def _current(self) -> Session:
        """The session; after failures a new one, which reads the credentials again."""
        session = self._session
        if session is None:
            session = self._session = Session(self._auth)
        return session

    def _begin(self) -> None:
        """Takes up what is known."""
        host = self._current().host
        self._reporter = self._reporter._replace(cluster=self._reporter.cluster or host)
        store = self._new_store(host)
        is_new, self.store = not store.load(), store
        self._reporter = self._reporter._replace(silent=is_new and not self._options.report_existing)

    def _new_store(self, host: str) -> Store:
        if self._options.state_directory:
            return StateFile(self._options.state_directory, self._reporter.cluster, host)
        if self._options.state_config_map is not None:
            return StateConfigMap(self._current, *self._options.state_config_map)
        return Store()

    def _tell_warnings(self) -> None:
        """Logs what the API server has warned of, once."""
        for text, objects in self._current().warnings.items():
            self._tell_once(text, f"{next(iter(objects))}: ")

    def _tell_once(self, text: str, prefix: str = "") -> None:
        if text not in self._told:
            self._told.add(text)
            log.warning("%s: %s%s", self._reporter.cluster, prefix, text)

    def _until_done(self, step: Callable[[], None]) -> None:
        """Takes a step, again and again after failures, of which equal ones are logged once."""
        pauses, told = Backoff(), ""
        while not self._stop.is_set():
            try:
                step()
                self._tell_warnings()
                return
            except RequestFailed as error:
                if self._may_raise and (self._session is None or error.code in _REFUSALS):
                    raise
                problem = str(error).partition(_TRIED)[0]
                if problem != told:
                    log.warning("%s: %s", self._reporter.cluster, problem)
                told, self._session = problem, None
                self._stop.wait(pauses.next())

    def _look(self, batch: PendingLook) -> None:
        due = set(self._unsettled.due())
        late: dict[str, list[Drift]] = {}
        for seen in self._seen(batch):
            self._tell(self._changes(seen, batch.ended.get(seen.name)))
            settled = seen.drift is None or self._diagnosis is None or is_settled(seen.drift)
            self._unsettled.note(seen.name, settled=settled)
            if seen.drift is not None and seen.name in due and not settled:
                late.setdefault(seen.name.partition("/")[0], []).append(seen.drift)
        for namespace, drifts in late.items():
            self._diagnose(namespace, drifts)
        self._unsettled.put_off(due)
        self.store.flush()

    def _diagnose(self, namespace: str, drifts: list[Drift]) -> None:
        if self._diagnosis is None or self._stop.is_set():
            return
        warnings: list[str] = []
        for drift, found in zip(drifts, self._diagnosis(self._current(), drifts, namespace, warnings)):
            known = self.store.known.get(qualified_name(drift.vm))
            self._tell(self._reporter.changes(drift.vm, facts_of_diagnosis(found), known))
        for text in warnings:
            self._tell_once(text)

    def _tell(self, changes: Iterator[Change]) -> None:
        for change in changes:
            if self._stop.is_set():
                return
            if change.event is not None:
                self._put(change.event)
            # Save only after the event is out: a change that is saved is not told again.
            self.store.save(change.vm, change.known)

    def _seen(self, batch: PendingLook) -> Iterator[SeenVM]:
        session, known = self._current(), self.store.known
        if batch.everything:
            return all_vms(session, self._selection, known)
        parts = [namespace_vms(session, self._selection, namespace, known) for namespace in sorted(batch.namespaces)]
        return chain(*parts, some_vms(session, self._selection, batch.vms, known))

    def _changes(self, seen: SeenVM, ended: Manifest | None) -> Iterator[Change]:
        known = self.store.known.get(seen.name)
        if seen.drift is not None and seen.facts is not None:
            vm = seen.drift.vm
            yield from self._reporter.changes(vm, with_ended_guest(vm, seen.facts, ended), known)
        elif known is not None and seen.left:
            yield Change(seen.name, None)
        elif known is not None:
            yield from self._reporter.deletion(seen.name, known)
