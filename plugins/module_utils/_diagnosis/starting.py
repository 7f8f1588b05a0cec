"""The link of the start: a guest that virt-handler or libvirt cannot start, or cannot change."""

from __future__ import annotations

from typing import Final

from .._resolver.api.manifest import condition_of, name_of, namespace_of
from .._resolver.api.name_rules import one_line
from .ages import age
from .case import VMI, Case
from .causes import UNKNOWN, Symptom, cause_of
from .link import Broken, Evidence, Link, of_condition, of_event

# A failure that nobody knows may pass by itself.
_PASSING: Final = 60.0


def last_failure(case: Case) -> Evidence | None:
    """The last event by which virt-handler said why the guest does not start. It outlives the VMI."""
    guest = {"kind": VMI, "metadata": {"name": name_of(case.vm), "namespace": namespace_of(case.vm)}}
    event = case.event(guest, "SyncFailed")
    return of_event(event) if event is not None else None


def explained(evidence: Evidence) -> tuple[Symptom, str]:
    """The cause of a failure, and the problem in words, which end with the failure's own."""
    cause, text = cause_of(evidence.message), one_line(evidence.message)
    return cause, f"{cause.problem}: {text}" if cause.problem else text


def _start(case: Case) -> Broken | None:
    said = next(
        (
            of_condition(item, condition)
            for item in filter(None, (case.vmi, case.vm))
            if (condition := condition_of(item, "Synchronized")).get("status") == "False" and condition.get("message")
        ),
        None,
    )
    if said is None:
        return None
    # The condition keeps the first message, and the event has the last one.
    newest = last_failure(case) or said
    cause, problem = explained(newest)
    if cause is UNKNOWN and age(case.at, said.time) < _PASSING:
        return None
    runs = ((case.vmi or {}).get("status") or {}).get("phase") == "Running"
    return Broken(
        f"the guest cannot be {'changed' if runs else 'started'}: {problem}",
        (said, *([newest] if newest is not said else [])),
        cause.remedy,
        cause.mend(case, newest.message),
        "the guest runs on, without the change" if runs else "KubeVirt keeps trying, and the guest does not start",
    )


LINK: Final = Link("start", _start)
