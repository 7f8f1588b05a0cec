"""Completes VMs by what only the cluster knows: their template, or what their workload needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..._resolver.api.errors import FieldError
from ..._resolver.choose.selection import Rejected
from ..._resolver.choose.workload import MissingObject
from ..act.engine import UNKNOWN_IN_CHECK_MODE
from ..act.kind_handler import Entry, with_live
from ..client.errors import ApiError, explain
from ..client.session import Session
from ..read.snapshot import Unreadable
from .outcome import Mode, combined


def complete(
    mode: Mode,
    session: Session,
    entries: list[Entry],
    option: str,
    completed: Callable[[Entry], Entry],
    warnings: list[str],
) -> list[Entry]:
    """The entries, of which those with the option are completed. One that fails gets a problem.

    completed: gets an entry with its live object; may raise MissingObject, Rejected, FieldError, Unreadable and
    ApiError. In check mode a missing object is a warning, because an earlier task might create it.
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
        try:
            return completed(entry)
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
