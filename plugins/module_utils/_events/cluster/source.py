"""The event source of one cluster: looks at VMs when watches say so, and tells what has changed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

from ..._cluster.client.errors import ApiError, RequestFailed, TaskFailed
from ..._cluster.client.pool import Backoff, Stopped, stoppable
from ..._cluster.client.session import Session
from ..._cluster.client.transport import MISSING
from ..options import ClusterOptions, SourceOptions
from ..transitions import Change, KnownVM, Reporter
from .look import Seen, Selection, all_vms, namespace_vms, some_vms
from .stores import Nowhere, StateConfigMap, StateFile, Store
from .triggers import Batch, Triggers

log = logging.getLogger(__name__)

Put = Callable[[dict[str, Any]], None]
"""Hands an event to the rule engine, and returns once that has it."""


def watch_cluster(options: SourceOptions, cluster: ClusterOptions, put: Put, stop: threading.Event) -> None:
    """Tells the transitions of a cluster's VMs until `stop` is set.

    A cluster that cannot be reached at first, or that denies the user what it must read, raises TaskFailed,
    RequestFailed or FieldError; later failures are logged, and tried again without an end.
    """
    if MISSING is not None:
        raise TaskFailed("the Python package kubernetes is missing; install it beside ansible-rulebook")
    stoppable(stop)
    with suppress(Stopped):
        _ClusterSource(options, cluster, put, stop).run()


class _ClusterSource:
    def __init__(self, options: SourceOptions, cluster: ClusterOptions, put: Put, stop: threading.Event) -> None:
        self._options, self._auth, self._put, self._stop = options, cluster.auth, put, stop
        self._session = Session(self._auth)
        name = cluster.name or self._session.host
        self._reporter = Reporter(name, options.transitions, options.fields)
        self._selection = Selection(options.namespace, options.label_selector, options.field_selector)
        self._store = self._new_store(name)
        self._known: dict[str, KnownVM] = {}
        self._name = name

    def _new_store(self, name: str) -> Store:
        if self._options.state_folder:
            return StateFile(self._options.state_folder, name)
        if self._options.state_config_map is not None:
            return StateConfigMap(self._session, *self._options.state_config_map)
        return Nowhere()

    def run(self) -> None:
        loaded = self._store.load()
        self._known = loaded or {}
        silent = loaded is None and not self._options.report_existing
        triggers = Triggers(self._session, self._options.namespace, self._selection.query, self._stop)
        triggers.start()
        pauses, first, due, told = Backoff(), True, time.monotonic(), ""
        while not self._stop.is_set():
            batch = triggers.take(max(0.0, due - time.monotonic()), self._options.delay)
            if self._stop.is_set():
                return
            try:
                if batch.everything:
                    # A new session reads the configuration of the cluster's KubeVirt again.
                    self._session = Session(self._auth)
                    due = time.monotonic() + self._options.resync
                self._look(batch, self._reporter._replace(silent=silent))
                first, silent, pauses, told = False, False, Backoff(), ""
            except RequestFailed as error:
                if first and isinstance(error, ApiError) and error.code in (401, 403, 404):
                    raise
                if str(error) != told:
                    log.warning("%s: %s", self._name, error)
                    told = str(error)
                triggers.add(batch)
                self._stop.wait(pauses.next())

    def _look(self, batch: Batch, reporter: Reporter) -> None:
        for seen in self._seen(batch):
            for change in self._changes(seen, reporter):
                if change.event is not None:
                    self._put(change.event)
                # Not before: what is known is not told again. In this process it is known even if it cannot be saved.
                if change.known is None:
                    self._known.pop(change.vm, None)
                else:
                    self._known[change.vm] = change.known
                self._store.save(change.vm, change.known)
        self._store.flush()

    def _seen(self, batch: Batch) -> Iterator[Seen]:
        if batch.everything:
            return all_vms(self._session, self._selection, self._known)
        parts = [
            namespace_vms(self._session, self._selection, namespace, self._known)
            for namespace in sorted(batch.namespaces)
        ]
        return chain(*parts, some_vms(self._session, self._selection, batch.vms, self._known))

    def _changes(self, seen: Seen, reporter: Reporter) -> Iterator[Change]:
        known = self._known.get(seen.name)
        if seen.vm is not None and seen.facts is not None:
            yield from reporter.changes(seen.vm, seen.facts, known)
        elif known is not None:
            yield Change(seen.name, None) if seen.left else reporter.deletion(seen.name, known)
