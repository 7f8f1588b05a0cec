"""Completes VMs by what only the cluster knows: their template, or what their workload needs."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import INSTANCETYPE, PREFERENCE, Role
from ..._resolver.api.names import nearest
from ..._resolver.api.option_checks import oversized
from ..._resolver.choose.fitting import Rejected
from ..._resolver.choose.workload import AvailableObjects, MissingObject, WorkloadRequest, resolve
from ..._resolver.declare.vm import workload
from ..._resolver.declare.vm.from_template import OPTION, vm_from_template
from ..act.engine import UNKNOWN_IN_CHECK_MODE
from ..act.kind_handler import Entry, with_live
from ..client.errors import ApiError, explain
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.snapshot import Key, Unreadable, list_all, list_if_permitted, read
from .capacity import capacity
from .outcome import Mode, Params, combined

Manifest = dict[str, Any]
Options = dict[str, Any]

_TEMPLATE: Final = "VirtualMachineTemplate"
_SOURCE: Final = BY_NAME["DataSource"]


def complete(
    mode: Mode,
    session: Session,
    entries: list[Entry],
    option: str,
    completed: Callable[[Entry, Manifest | None], Entry],
    warnings: list[str],
) -> list[Entry]:
    """The entries, of which those with the option are completed. One that fails gets a problem.

    completed: gets an entry and its live VM, None also for one that is being deleted; may raise MissingObject,
    Rejected, FieldError, Unreadable and ApiError. In check mode a missing object is a warning, because an earlier task
    might create it.
    """
    due = [entry for entry in entries if _is_due(entry, option)]
    if not due:
        return entries
    try:
        entries = with_live(session, entries, due)
    except Unreadable as error:
        return [replace(entry, problem=str(error)) if entry in due else entry for entry in entries]
    missing: list[tuple[str, str]] = []

    def outcome(entry: Entry) -> Entry:
        live = entry.live
        try:
            return completed(entry, None if live is not None and live["metadata"].get("deletionTimestamp") else live)
        except MissingObject as error:
            if mode.check:
                missing.append((entry.label, f"{error}; {UNKNOWN_IN_CHECK_MODE}"))
                return entry
            return replace(entry, problem=str(error))
        except (Rejected, FieldError, Unreadable) as error:
            return replace(entry, problem=str(error))
        except ApiError as error:
            return replace(entry, problem=explain(error, "LIST"))

    entries = [outcome(entry) if _is_due(entry, option) else entry for entry in entries]
    warnings += combined(missing)
    return entries


def _is_due(entry: Entry, option: str) -> bool:
    return entry.problem is None and entry.state != "absent" and entry.options.get(option) is not None


class Templates:
    """The templates that a task names. Each is read once."""

    def __init__(self, mode: Mode, session: Session) -> None:
        self._mode = mode
        self._session = session
        self._cache: dict[Key, Manifest | Exception] = {}

    def completed(self, entry: Entry, live: Manifest | None) -> Entry:
        """The entry with the VM of its template. Raises FieldError, MissingObject and Unreadable."""
        reference = entry.options[OPTION]
        key = Key(_TEMPLATE, reference.get("namespace") or entry.key.namespace, reference["name"])
        templated = vm_from_template(self._get(key), entry.options, entry.manifest, live, secrets.token_hex())
        self._mode.secrets.update(templated.secrets)
        summary = {
            "name": key.name,
            "namespace": key.namespace,
            "parameters": templated.parameters,
            "message": templated.message,
        }
        return replace(entry, manifest=templated.manifest, from_template=summary)

    def _get(self, key: Key) -> Manifest:
        if key not in self._cache:
            try:
                self._cache[key] = self._read(key)
            except (MissingObject, Unreadable) as error:
                self._cache[key] = error
        template = self._cache[key]
        if isinstance(template, Exception):
            raise template
        return template

    def _read(self, key: Key) -> Manifest:
        try:
            template = read(self._session, [key]).get(key)
        except Unreadable as error:
            raise Unreadable(f"{OPTION}: {error}") from None
        if template is None:
            raise MissingObject(f"{OPTION}: {_TEMPLATE} {key.namespace}/{key.name} does not exist{self._hint(key)}")
        if too_much := oversized(template):
            raise Unreadable(f"{OPTION}: {_TEMPLATE} {key.namespace}/{key.name} {too_much}; simplify it")
        return template

    def _hint(self, key: Key) -> str:
        others = list_if_permitted(self._session, BY_NAME[_TEMPLATE], [], key.namespace) or []
        names = [other["metadata"]["name"] for other in others]
        return nearest(key.name, names) if names else f"; set {OPTION}.namespace to the template's namespace"


class Workloads:
    """Chooses once for all new VMs of a namespace with the same options."""

    def __init__(self, params: Params, session: Session, manifest: Callable[[Options], Manifest]) -> None:
        self._params = params
        self._session = session
        self._manifest = manifest
        self._lists: dict[tuple[Role, str], list[Manifest]] = {}
        self._sources: dict[str, tuple[list[Manifest], list[str]]] = {}
        self._choices: dict[str, Options] = {}

    def completed(self, entry: Entry, live: Manifest | None) -> Entry:
        """The entry with what is chosen for its workload. Raises Rejected, FieldError, Unreadable and ApiError."""
        size = workload.size_of(entry.options)
        if live is None:
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
