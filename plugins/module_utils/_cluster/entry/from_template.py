"""Makes VMs of the VirtualMachineTemplates that a task names with `from_template`."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.names import nearest
from ..._resolver.api.option_checks import oversized
from ..._resolver.declare.vm.from_template import OPTION, vm_from_template
from ..act.engine import UNKNOWN_IN_CHECK_MODE
from ..act.kind_handler import Entry, with_live
from ..client.session import Session
from ..read.snapshot import Key, Unreadable, list_if_permitted, read
from .outcome import Mode, combined

Manifest = dict[str, Any]

_KIND: Final = "VirtualMachineTemplate"


def complete(mode: Mode, session: Session, entries: list[Entry], warnings: list[str]) -> list[Entry]:
    """The entries with the VMs of their templates. An entry that fails gets a problem.

    In check mode it is a warning that a template does not exist, of which an earlier task might make a new VM.
    """
    due = [entry for entry in entries if entry.problem is None and _names_template(entry)]
    if not due:
        return entries
    try:
        entries = with_live(session, entries, due)
    except Unreadable as error:
        return [replace(entry, problem=str(error)) if entry in due else entry for entry in entries]
    templates = _Templates(session)
    completed: list[Entry] = []
    missing: list[tuple[str, str]] = []
    for entry in entries:
        if entry.problem is None and _names_template(entry):
            live = entry.live
            if live is not None and live["metadata"].get("deletionTimestamp"):
                live = None
            try:
                entry = _from_template(mode, entry, templates.get(_key(entry)), live)
            except _Missing as error:
                if mode.check and live is None:
                    missing.append((entry.label, f"{error}; {UNKNOWN_IN_CHECK_MODE}"))
                else:
                    entry = replace(entry, problem=str(error))
            except (FieldError, Unreadable) as error:
                entry = replace(entry, problem=str(error))
        completed.append(entry)
    warnings += combined(missing)
    return completed


def _names_template(entry: Entry) -> bool:
    return entry.state != "absent" and entry.options.get(OPTION) is not None


def _key(entry: Entry) -> Key:
    reference = entry.options[OPTION]
    return Key(_KIND, reference.get("namespace") or entry.key.namespace, reference["name"])


def _from_template(mode: Mode, entry: Entry, template: Manifest, live: Manifest | None) -> Entry:
    templated = vm_from_template(template, entry.options, entry.manifest, live, secrets.token_hex())
    mode.secrets.update(templated.secrets)
    key = _key(entry)
    summary = {
        "name": key.name,
        "namespace": key.namespace,
        "parameters": templated.parameters,
        "message": templated.message,
    }
    return replace(entry, manifest=templated.manifest, from_template=summary)


class _Missing(Exception):
    """A template does not exist; the text is one line with the remedy."""


class _Templates:
    """Reads each template once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._cache: dict[Key, Manifest | Exception] = {}

    def get(self, key: Key) -> Manifest:
        """Raises _Missing and Unreadable."""
        if key not in self._cache:
            try:
                self._cache[key] = self._read(key)
            except (_Missing, Unreadable) as error:
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
            raise _Missing(f"{OPTION}: {_KIND} {key.namespace}/{key.name} does not exist{self._hint(key)}")
        if too_much := oversized(template):
            raise Unreadable(f"{OPTION}: {_KIND} {key.namespace}/{key.name} {too_much}; simplify it")
        return template

    def _hint(self, key: Key) -> str:
        others = list_if_permitted(self._session, BY_NAME[_KIND], [], key.namespace) or []
        names = [other["metadata"]["name"] for other in others]
        return nearest(key.name, names) if names else f"; set {OPTION}.namespace to the template's namespace"
