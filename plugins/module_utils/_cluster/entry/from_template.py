"""Makes VMs of the VirtualMachineTemplates that a task names with `from_template`."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any, Final

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.names import nearest
from ..._resolver.api.option_checks import oversized
from ..._resolver.choose.workload import MissingObject
from ..._resolver.declare.vm.from_template import OPTION, vm_from_template
from ..act.kind_handler import Entry
from ..client.session import Session
from ..read.snapshot import Key, Unreadable, list_if_permitted, read
from .outcome import Mode

Manifest = dict[str, Any]

_KIND: Final = "VirtualMachineTemplate"


class Templates:
    """The templates that a task names. Each is read once."""

    def __init__(self, mode: Mode, session: Session) -> None:
        self._mode = mode
        self._session = session
        self._cache: dict[Key, Manifest | Exception] = {}

    def completed(self, entry: Entry) -> Entry:
        """The entry with the VM of its template. Raises FieldError, MissingObject and Unreadable."""
        reference = entry.options[OPTION]
        key = Key(_KIND, reference.get("namespace") or entry.key.namespace, reference["name"])
        live = entry.live
        if live is not None and live["metadata"].get("deletionTimestamp"):
            live = None
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
            raise MissingObject(f"{OPTION}: {_KIND} {key.namespace}/{key.name} does not exist{self._hint(key)}")
        if too_much := oversized(template):
            raise Unreadable(f"{OPTION}: {_KIND} {key.namespace}/{key.name} {too_much}; simplify it")
        return template

    def _hint(self, key: Key) -> str:
        others = list_if_permitted(self._session, BY_NAME[_KIND], [], key.namespace) or []
        names = [other["metadata"]["name"] for other in others]
        return nearest(key.name, names) if names else f"; set {OPTION}.namespace to the template's namespace"
