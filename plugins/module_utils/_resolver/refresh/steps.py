"""The writes by which a VM captures its revisions again and its guest gets them in one restart, as values.

KubeVirt judges a running guest by the ControllerRevision of its start, which it writes once for each generation of the
VM. A refresh by the status leaves the generation unchanged; from KubeVirt 1.7 on the condition RestartRequired then
outlives every restart. So the generation is raised first, by writes that leave no trace in the spec.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from ..api.matcher import ROLES, Role
from ..instancetype.find.naming import captured_anew
from . import drift
from .drift import Drift, RoleDrift
from .generation import MARK, captured_name

Manifest = dict[str, Any]

# A change of no weight: sent as a dry run, it shows whether KubeVirt would still accept the VM.
REHEARSAL: Final[Manifest] = {"metadata": {"annotations": {MARK: "rehearsal"}}}

_GENERATION: Final = re.compile(r"-(\d+)$")


class Spelling(NamedTuple):
    """there, back: merge patches of a VM's spec that spell the kinds of matchers another way, and as before."""

    there: Manifest
    back: Manifest


def released(roles: Iterable[Role]) -> Manifest:
    """The merge patch of a VM's status after which virt-controller captures again."""
    return {"status": {role.reference: {"controllerRevisionRef": None} for role in roles}}


def respelled(vm: Manifest, roles: Iterable[Role]) -> Spelling:
    """Spells the kind of matchers in another way than the status, after which virt-controller captures again."""
    there, back = {}, {}
    for role in roles:
        matcher = role.matcher_of(vm) or {}
        kind = role.kind_of(matcher) or role.cluster_kind
        known = {matcher.get("kind"), (role.reference_of(vm) or {}).get("kind")}
        # Case does not matter to KubeVirt, and it takes the plural as well.
        there[role.matcher] = {
            "kind": next(text for text in (kind, kind.lower(), f"{kind.lower()}s") if text not in known)
        }
        back[role.matcher] = {"kind": matcher.get("kind")}
    return Spelling({"spec": there}, {"spec": back})


def captured(vm: Manifest, role: Role) -> bool:
    """Whether virt-controller has captured what the matcher says; True for a VM whose matcher the cluster expanded."""
    matcher, reference = role.matcher_of(vm), role.reference_of(vm) or {}
    if not matcher:
        return True
    if not reference:
        return bool(matcher.get("revisionName"))
    return bool(reference.get("controllerRevisionRef")) and not captured_anew(matcher, reference)


def stale(vm: Manifest, found: Drift, roles: Iterable[Role]) -> tuple[Role, ...]:
    """The roles of which a VM has captured an older generation than there was when its drift was looked at.

    virt-controller reads instancetypes and preferences from a cache, which may lag behind.
    """
    parts = dict(zip(ROLES, (found.instancetype, found.preference)))
    return tuple(
        role
        for role in roles
        if (part := parts[role]) and role.matcher_of(vm) and _is_stale(captured_name(vm, role), part)
    )


def _is_stale(name: str, part: RoleDrift) -> bool:
    if part.state == drift.DRIFTED and name == part.revision:
        return True
    generation = _GENERATION.search(name)
    if generation is None or part.current_generation is None or part.recreated:
        return False
    return int(generation.group(1)) < part.current_generation


def taken_back(before: Manifest, found: Drift, roles: Iterable[Role]) -> Manifest | None:
    """The merge patch that gives a VM back the revisions that it had, pinned; None where one of them is lost."""
    parts = dict(zip(ROLES, (found.instancetype, found.preference)))
    spec = {}
    for role in roles:
        part = parts[role]
        if part is None or not part.revision or part.state == drift.LOST:
            return None
        spec[role.matcher] = {"kind": (role.matcher_of(before) or {}).get("kind"), "revisionName": part.revision}
    return {"spec": spec}


def unpinned(roles: Iterable[Role]) -> Manifest:
    """The merge patch that takes pins out; the VM keeps the revisions that were pinned."""
    return {"spec": {role.matcher: {"revisionName": None} for role in roles}}
