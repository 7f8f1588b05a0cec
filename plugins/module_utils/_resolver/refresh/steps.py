"""The writes that make a VM capture its revisions again, so that one restart applies them, as values.

KubeVirt compares a running guest with the ControllerRevision of its start, which it writes once for each generation of
the VM. A refresh by the status does not change the generation; since KubeVirt 1.7 the condition RestartRequired then
outlives every restart. Therefore the generation is raised first, by writes that leave the spec unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from ..api.matcher import ROLES, Role
from ..kubevirt.find.naming import captured_anew
from . import drift
from .drift import Drift, RoleDrift
from .generation import MARK, captured_name

Manifest = dict[str, Any]

# A dry run of this harmless change shows whether KubeVirt still accepts the VM.
REHEARSAL: Final[Manifest] = {"metadata": {"annotations": {MARK: "rehearsal"}}}

_GENERATION: Final = re.compile(r"-(\d+)$")


class Spelling(NamedTuple):
    """Merge patches of a VM's spec.

    there: to another spelling of the matchers' kinds. back: to the previous spelling.
    """

    there: Manifest
    back: Manifest


def released(roles: Iterable[Role]) -> Manifest:
    """The merge patch of a VM's status that makes virt-controller capture again."""
    return {"status": {role.reference: {"controllerRevisionRef": None} for role in roles}}


def respelled(vm: Manifest, roles: Iterable[Role]) -> Spelling:
    """Patches to another spelling of the matchers' kinds than the status has, which makes virt-controller capture
    again.
    """
    there, back = {}, {}
    for role in roles:
        matcher = role.matcher_of(vm) or {}
        kind = role.kind_of(matcher) or role.cluster_kind
        known = {matcher.get("kind"), (role.reference_of(vm) or {}).get("kind")}
        # KubeVirt ignores case, and accepts plurals.
        there[role.matcher] = {
            "kind": next(text for text in (kind, kind.lower(), f"{kind.lower()}s") if text not in known)
        }
        back[role.matcher] = {"kind": matcher.get("kind")}
    return Spelling({"spec": there}, {"spec": back})


def captured(vm: Manifest, role: Role) -> bool:
    """Whether virt-controller has captured the object in the matcher. True if the cluster expanded the matcher."""
    matcher, reference = role.matcher_of(vm), role.reference_of(vm) or {}
    if not matcher:
        return True
    if not reference:
        return bool(matcher.get("revisionName"))
    return bool(reference.get("controllerRevisionRef")) and not captured_anew(matcher, reference)


def stale(vm: Manifest, found: Drift, roles: Iterable[Role]) -> tuple[Role, ...]:
    """The roles of which the VM captured an older generation than the one in `found`.

    virt-controller reads instancetypes and preferences from a cache, which may be behind.
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
    """The merge patch that pins a VM to its previous revisions; None if one of them is lost."""
    parts = dict(zip(ROLES, (found.instancetype, found.preference)))
    spec = {}
    for role in roles:
        part = parts[role]
        if part is None or not part.revision or part.state == drift.LOST:
            return None
        spec[role.matcher] = {"kind": (role.matcher_of(before) or {}).get("kind"), "revisionName": part.revision}
    return {"spec": spec}


def unpinned(roles: Iterable[Role]) -> Manifest:
    """The merge patch that removes pins; the VM keeps the pinned revisions."""
    return {"spec": {role.matcher: {"revisionName": None} for role in roles}}
