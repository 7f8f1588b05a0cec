"""Chooses boot source, instancetype and preference of the VMs that a task declares with `workload`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import INSTANCETYPE, PREFERENCE, Role
from ..._resolver.choose.selection import Rejected
from ..._resolver.choose.workload import AvailableObjects, WorkloadRequest, resolve
from ..._resolver.declare.vm import workload
from ..act.kind_handler import Entry
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.snapshot import list_all, list_if_permitted
from .capacity import capacity
from .outcome import Params

Manifest = dict[str, Any]
Options = dict[str, Any]

_SOURCE: Final = BY_NAME["DataSource"]


class Workloads:
    """Chooses once for all new VMs of a namespace with the same options."""

    def __init__(self, params: Params, session: Session, manifest: Callable[[Options], Manifest]) -> None:
        self._params = params
        self._session = session
        self._manifest = manifest
        self._lists: dict[tuple[Role, str], list[Manifest]] = {}
        self._sources: dict[str, tuple[list[Manifest], list[str]]] = {}
        self._choices: dict[str, Options] = {}

    def completed(self, entry: Entry) -> Entry:
        """Raises Rejected, FieldError, Unreadable and ApiError."""
        size, live = workload.size_of(entry.options), entry.live
        if live is None or live["metadata"].get("deletionTimestamp"):
            return self._with_choice(entry, self._choice(entry), size)
        stored = workload.stored_choice(live)
        if stored is None:
            raise Rejected(
                "workload: the VM exists, and was not declared with a workload; set boot, instancetype and preference"
            )
        if stored.workload != entry.options["workload"]:
            raise Rejected(
                f"workload: the VM was created for {stored.workload}, and keeps its disk; declare a VM of another name"
            )
        if not size or size == stored.size:
            choice = {**stored.choice, "reasons": ["the VM keeps what was chosen for it", *stored.choice["reasons"]]}
            return replace(self._with_choice(entry, stored.choice, stored.size), choice=choice)
        return self._with_choice(entry, self._resized(entry, stored), size)

    def _with_choice(self, entry: Entry, choice: Options, size: Options) -> Entry:
        options = workload.apply_choice(entry.options, choice, size)
        return replace(entry, options=options, manifest=self._manifest(options), choice=choice)

    def _choice(self, entry: Entry) -> Options:
        namespace = entry.key.namespace or ""
        key = json.dumps({**entry.options, "name": "", "namespace": namespace}, sort_keys=True, default=str)
        if key not in self._choices:
            sources, notes = (None, []) if entry.options.get("boot") else self._data_sources(namespace)
            available = AvailableObjects(
                self._list(PREFERENCE, namespace), self._list(INSTANCETYPE, namespace), sources
            )
            choice = self._smallest_runnable(entry, workload.request_of(entry.options), available)
            self._choices[key] = {**choice, "reasons": [*choice["reasons"], *notes]}
        return self._choices[key]

    def _resized(self, entry: Entry, stored: workload.StoredChoice) -> Options:
        namespace, preference = entry.key.namespace or "", stored.choice[PREFERENCE.matcher]
        preferences = [
            manifest
            for manifest in self._list(PREFERENCE, namespace)
            if (manifest["kind"], manifest["metadata"]["name"]) == (preference.get("kind"), preference["name"])
        ]
        request = workload.request_of(entry.options)._replace(workload=preference["name"])
        choice = self._smallest_runnable(
            entry, request, AvailableObjects(preferences, self._list(INSTANCETYPE, namespace))
        )
        reasons = ["the VM keeps its boot source and its preference", choice["reasons"][-1]]
        stored_options = {name: stored.choice[name] for name in ("boot", PREFERENCE.matcher) if name in stored.choice}
        return {**choice, **stored_options, "reasons": reasons}

    def _smallest_runnable(self, entry: Entry, request: WorkloadRequest, available: AvailableObjects) -> Options:
        """The smallest choice that the quotas and nodes let run, as far as the task asks for it.

        If none runs, the smallest, which the task then refuses or warns of.
        """
        refused: dict[tuple[str, str], str] = {}
        smallest: Options | None = None
        while True:
            try:
                choice = resolve(
                    request, available._replace(refused=refused), kubevirt(self._session).release
                ).as_data()
            except Rejected:
                if smallest is None:
                    raise
                return smallest
            smallest = smallest or choice
            verdicts = capacity(self._params, self._session, [self._with_choice(entry, choice, {})]).verdicts
            verdict = next(iter(verdicts.values()), None)
            if verdict is None or verdict["fits"] or not verdict["evaluated"]:
                return choice
            instancetype = choice[INSTANCETYPE.matcher]
            refused[instancetype["kind"], instancetype["name"]] = verdict["problem"]

    def _list(self, role: Role, namespace: str) -> list[Manifest]:
        """The role's objects that VMs of a namespace can name."""
        for kind, place in ((role.cluster_kind, ""), (role.kind, namespace)):
            if (role, place) not in self._lists:
                live = list_all(self._session, BY_NAME[kind], place or None)
                self._lists[role, place] = [{**manifest, "kind": kind} for manifest in live]
        return [*self._lists[role, ""], *self._lists[role, namespace]]

    def _data_sources(self, namespace: str) -> tuple[list[Manifest], list[str]]:
        """(those of all namespaces, or of the VM's if the user may not list more, and then a note)."""
        if namespace not in self._sources:
            notes: list[str] = []
            live = list_if_permitted(self._session, _SOURCE, notes)
            if live is None and notes:
                live = list_if_permitted(self._session, _SOURCE, [], namespace)
                notes = ["only the DataSources of the VM's namespace count, because you may not list the others"]
            self._sources[namespace] = live or [], notes
        return self._sources[namespace]
