"""The links from the declaration to the pod: controller, revisions, instancetype and preference, admission, limits."""

from __future__ import annotations

from functools import partial
from typing import Final

from .._resolver.api.manifest import Manifest, condition_of, name_of, namespace_of
from .._resolver.api.matcher import INSTANCETYPE, PREFERENCE, MatcherField
from .._resolver.api.name_rules import one_line
from .._resolver.change.drift import REVISION_LOST
from .._resolver.choose.suggestions import of_kind, resembling
from .ages import age
from .case import LEASE, REVISION, Case
from .link import (
    KEEPS_TRYING,
    OURS,
    Broken,
    Evidence,
    Link,
    kubectl,
    of_condition,
    of_status,
    task,
    tried_again,
    vm_task,
)

# virt-controller renews its Lease every few seconds.
_SILENCE: Final = 60.0
_REVISIONS: Final = "controllerrevisions.apps"


def _controller(case: Case) -> Broken | None:
    lease = case.lease
    renewed = str(((lease or {}).get("spec") or {}).get("renewTime") or "")
    silent = age(case.at, renewed)
    if lease is None or silent <= _SILENCE:
        return None
    holder = lease["spec"].get("holderIdentity") or "nobody"
    controllers = ("delete", "pod", "--selector", "kubevirt.io=virt-controller")
    return Broken(
        f"virt-controller has been silent for {int(silent)} s",
        (of_status({**lease, "kind": LEASE}, "renewTime", f"last renewed by {holder}", renewed),),
        "start virt-controller again, and see its log for the reason",
        kubectl("Start virt-controller again", *controllers, namespace=namespace_of(lease)),
        "no VM starts, stops or migrates, and the status of VMs stays as it was; running guests run on",
    )


def _not_found(case: Case, matcher_field: MatcherField) -> Manifest | None:
    """The condition by which KubeVirt says that it finds no instancetype or preference, or no revision of it."""
    condition = condition_of(case.vm, "Failure")
    expected = f"FailedFind{matcher_field.name.capitalize()}"
    return condition if condition.get("status") == "True" and condition.get("reason") == expected else None


def _revision(case: Case) -> Broken | None:
    for matcher_field in (INSTANCETYPE, PREFERENCE):
        evidence, noun = _lost(case, matcher_field), matcher_field.name
        if evidence is None:
            continue
        refresh = {**case.selection, "state": "refreshed", "revisions_of": noun}
        return Broken(
            f"the captured revision of the {noun} was deleted",
            (evidence,),
            "refresh the VM, which captures a new revision of the object as it is now",
            task(f"Capture the {noun} again", f"{OURS}controller_revision", **refresh),
            f"KubeVirt neither starts, stops nor restarts the VM; {KEEPS_TRYING}",
        )
    return None


def _lost(case: Case, matcher_field: MatcherField) -> Evidence | None:
    """The evidence that a revision is lost. KubeVirt gives it only once it has looked at the VM again."""
    condition = _not_found(case, matcher_field)
    if condition is not None and _REVISIONS in str(condition.get("message")):
        return of_condition(case.vm, condition)
    part = case.drift.parts.get(matcher_field)
    if part is None or part.state != REVISION_LOST or REVISION not in case.known:
        return None
    place = f"spec.{matcher_field.name}" if part.pinned else f"status.{matcher_field.reference}"
    return of_status(case.vm, place, f"there is no ControllerRevision {part.revision}")


def _missing_object(case: Case, matcher_field: MatcherField) -> Broken | None:
    condition = _not_found(case, matcher_field)
    if condition is None or _REVISIONS in str(condition.get("message")):
        return None
    matcher = matcher_field.matcher_or_empty(case.vm)
    name, kind = str(matcher.get("name") or ""), matcher_field.kind_of(matcher)
    existing = _names(case, kind)
    close = resembling(name, existing)
    for other in (matcher_field.kind, matcher_field.cluster_kind):
        if name not in existing and name in _names(case, other):
            kind, close = other, [name]
    noun = matcher_field.name
    problem = one_line(condition.get("message"))
    evidence = of_condition(case.vm, condition)
    if name in existing:
        return Broken(
            f"{problem}; it exists now, and KubeVirt has not tried again",
            (evidence,),
            "let KubeVirt try again",
            tried_again(case, evidence),
            KEEPS_TRYING,
        )
    other_matcher = {"name": close[0] if close else "NAME", **({"kind": kind} if kind else {})}
    return Broken(
        problem,
        (evidence,),
        f"use the {kind} {close[0]}" if close else f"create the {kind or noun} {name}, or name another {noun}",
        vm_task(f"Give the VM another {noun}", case, {f"/{noun}": other_matcher}),
        KEEPS_TRYING,
    )


def _names(case: Case, kind: str | None) -> list[str]:
    return [name_of(item) for item in of_kind(kind, case.vm, case.lister)] if kind else []


LINKS: Final = (
    Link("revision", _revision, always=True),
    Link("instancetype", partial(_missing_object, matcher_field=INSTANCETYPE), always=True),
    Link("preference", partial(_missing_object, matcher_field=PREFERENCE), always=True),
)
CONTROLLER: Final = Link("controller", _controller, (LEASE,), always=True)
