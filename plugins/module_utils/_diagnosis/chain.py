"""The chain from the declaration of a VM to its guest, and its first broken link."""

from __future__ import annotations

from typing import Any, Final

from .._resolver.api.manifest import condition_of
from .._resolver.kubevirt.vm.readiness import RUNNING, readiness
from . import declaration, deletion, guest, pods, refusals, scheduling, starting, storage
from .case import Case
from .link import Broken, Link, of_condition

Result = dict[str, Any]

CHAIN: Final[tuple[Link, ...]] = (
    declaration.CONTROLLER,
    deletion.LINK,
    *declaration.LINKS,
    *refusals.SOURCES,
    *storage.LINKS,
    *refusals.LINKS,
    *scheduling.LINKS,
    *pods.LINKS,
    guest.MEMORY,
    starting.LINK,
    *guest.LINKS,
)
"""The links from a VM to its guest, in order. A broken link hides all later ones."""

RUNS: Final = "running"
STOPPED: Final = "stopped"
BROKEN: Final = "broken"
PENDING: Final = "pending"
OTHER: Final = "other"
"""The link of a failure that the chain does not know."""

_EVIDENT: Final = ("Failure", "Synchronized", "Ready", "PodScheduled")


def diagnose(case: Case) -> Result:
    """The diagnosis of a VM as plain values.

    state: RUNS or STOPPED as declared, PENDING: on its way, or BROKEN. passed: the links that hold. unchecked: the
    links that hold as far as is known, because a kind of object could not be read. A BROKEN one has link and the
    fields of Broken, a PENDING one waits_for.
    """
    passed: list[str] = []
    unchecked: list[str] = []
    for link in CHAIN:
        if not (case.is_due or link.always):
            continue
        broken = link.judge(case)
        if broken is not None:
            return {"state": BROKEN, "link": link.name, **broken.as_result(), "passed": passed, "unchecked": unchecked}
        (passed if case.known.issuperset(link.needs) else unchecked).append(link.name)
    progress = readiness(case.vm)
    rest = {"passed": passed, "unchecked": unchecked}
    if reason := progress.failed or progress.stuck:
        return {"state": BROKEN, "link": OTHER, **_unknown_failure(case, reason).as_result(), **rest}
    if progress.done:
        return {"state": RUNS if case.status in RUNNING else STOPPED, **rest}
    restore = (case.vm.get("status") or {}).get("restoreInProgress")
    awaited = f"the restore {restore}" if restore else storage.awaited_upload(case)
    return {"state": PENDING, "waits_for": awaited or progress.pending, **rest}


def _unknown_failure(case: Case, reason: str) -> Broken:
    conditions = (condition_of(case.vm, name) for name in _EVIDENT)
    evidence = tuple(of_condition(case.vm, condition) for condition in conditions if condition.get("message"))
    return Broken(reason, evidence, "act on the message", None, "KubeVirt tries again at growing intervals")
