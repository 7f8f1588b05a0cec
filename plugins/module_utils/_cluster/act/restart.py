"""Restarts guests and waits until they run again. What restarts a guest because of a change does it here.

Before that it raises the generation of VMs whose condition RestartRequired would outlive the restart (see
`refresh.recapture`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.write import merge_patch
from ..._resolver.declare.power import RESTARTED, Wanted
from ..._resolver.kubevirt.find.lookup import Lookup
from ..._resolver.kubevirt.vmi.outstanding import start_revision_name
from ..._resolver.refresh import recapture
from ..client.errors import ApiError, explain
from ..client.session import Session
from .engine import Job, carry_out, send
from .power import Entry, power, uid_of
from .settings import Settings

Manifest = dict[str, Any]

_VM = BY_NAME["VirtualMachine"]
_DENIED: Final = "cannot reset the condition RestartRequired, which may remain after the restart: {}"


class Raised(NamedTuple):
    """done: the generation was raised. warnings: why not, if the user may not patch the VM."""

    done: bool = False
    warnings: tuple[str, ...] = ()


def raise_generation(session: Session, vm: Manifest) -> Raised:
    """Raises the VM's generation without changing its spec.

    A missing permission is a warning, because the condition RestartRequired harms no guest. Raises ApiError or
    ConnectionFailed for all else.
    """
    metadata = vm["metadata"]
    try:
        for body in recapture.bump_patches(vm):
            path = _VM.path(metadata["namespace"], metadata["name"])
            send(session, merge_patch(path, body, fieldManager=session.field_manager))
    except ApiError as error:
        if error.code != 403:
            raise
        return Raised(warnings=(_DENIED.format(explain(error, "PATCH", _VM)),))
    return Raised(done=True)


def raise_if_unclean(session: Session, vm: Manifest, lookup: Lookup) -> Raised:
    """Raises the VM's generation if a restart would not clear its condition RestartRequired."""
    start = lookup.get("ControllerRevision", vm["metadata"]["namespace"], start_revision_name(vm))
    unclean = recapture.keeps_restart_required(vm, start if isinstance(start, dict) else None)
    return raise_generation(session, vm) if unclean else Raised()


@dataclass(eq=False)
class Guest:
    """A guest to restart, and the outcome.

    vm: as last seen. instance: its VMI; a newer one is not restarted. raised: see `raise_if_unclean`. restarted: by
    this task. renewed: another guest runs, whoever restarted it. failed: the reason, on one line.
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
