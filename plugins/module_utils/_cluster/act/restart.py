"""Restarts guests and waits until they run again. What restarts a guest because of a change does it here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.declare.power import RESTARTED, Wanted
from ..._resolver.instancetype.find.lookup import Lookup
from ..client.session import Session
from .engine import Job, carry_out
from .generation import Raised, raise_if_unclean
from .power import Entry, power, uid_of
from .settings import Settings

Manifest = dict[str, Any]

_VM = BY_NAME["VirtualMachine"]


@dataclass(eq=False)
class Guest:
    """A guest to restart, and the outcome.

    vm: as last seen. instance: its VMI; a newer one is not restarted. raised: see `generation`. restarted: by this
    task. renewed: another guest runs, whoever restarted it. failed: the reason, on one line.
    """

    vm: Manifest
    instance: Manifest | None
    raised: Raised = field(default_factory=Raised)
    restarted: bool = False
    renewed: bool = False
    failed: str | None = None


def restart(session: Session, guests: Iterable[Guest], lookup: Lookup, seconds: float, concurrency: int) -> None:
    """Restarts guests, each once at most, and waits for at most `seconds` until they run again.

    lookup: of ControllerRevisions. concurrency: so many requests at a time.
    """

    def clear(guest: Guest) -> None:
        guest.raised = raise_if_unclean(session, guest.vm, lookup)

    given, settings = list(guests), Settings(wait=True, wait_timeout=seconds, concurrency=concurrency)
    carry_out((Job(guest, partial(clear, guest), "PATCH", _VM) for guest in given), settings)
    due = [guest for guest in given if guest.failed is None]
    entries = [_entry(guest) for guest in due]
    for guest, told in zip(due, power(session, entries, settings)):
        guest.vm, guest.restarted, guest.failed = told.vm or guest.vm, told.changed, told.failed
        guest.renewed = told.failed is None and uid_of(told.instance) not in ("", uid_of(guest.instance))


def _entry(guest: Guest) -> Entry:
    metadata = guest.vm["metadata"]
    return Entry(metadata["namespace"], metadata["name"], Wanted(RESTARTED), uid_of(guest.instance))
