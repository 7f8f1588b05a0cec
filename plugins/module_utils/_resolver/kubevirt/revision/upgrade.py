"""The upgrade of captured revisions to the current version by virt-controller (KubeVirt ``pkg/instancetype/upgrade``).

A captured revision without the v1beta1 label is created again under its new name, and the old one is deleted. A
revision that only the matcher names stays; but before 1.5 that was the captured one.
"""

from __future__ import annotations

from typing import NamedTuple

from ...api import release_schema
from ...api.errors import FieldError
from ...api.manifest import Manifest
from ...api.matcher import ROLES, Role
from ...api.release import NEWEST, Release
from ..find import decode, naming, revision
from ..find.lookup import PANIC, Lookup, Problem, not_found
from .store import (
    Action,
    Create,
    CreatedRevisions,
    Delete,
    PatchSpec,
    PatchStatus,
    Writes,
    already_exists,
    successful_writes,
)


class _Replacement(NamedTuple):
    original: str
    uid: str
    name: str


def upgrade(vm: Manifest, objects: Lookup, release: Release = NEWEST) -> Writes:
    """The writes of virt-controller for a VM (plain manifest) and the objects in the cluster.

    All revisions are created before the VM is patched, and deleted after it. Releases before 1.3 do nothing.
    """
    try:
        vm = release_schema.canonical("VirtualMachine", vm, release)
    except FieldError as error:
        return Writes(error=Problem(str(error), "BadRequest", 400))
    namespace = vm["metadata"].get("namespace", "")
    references = {role: vm["status"].get(role.reference) for role in ROLES}
    matchers = {role: role.matcher_of(vm) for role in ROLES}
    if not release.upgrades_revisions:
        return successful_writes((), references, matchers)
    created = CreatedRevisions(objects)
    creates: list[Action] = []
    patch: list[Manifest] = []
    deletes: list[Action] = []
    for role in ROLES:
        replacement = _upgrade(vm, role, created, creates, release)
        if isinstance(replacement, Problem):
            return Writes(tuple(creates), error=replacement)
        if replacement is None:
            continue
        if release.captures_in_status:
            path = f"/status/{role.reference}/controllerRevisionRef/name"
            references[role] = {**(references[role] or {}), "controllerRevisionRef": {"name": replacement.name}}
        else:
            path = f"/spec/{role.matcher}/revisionName"
            matchers[role] = {**(matchers[role] or {}), "revisionName": replacement.name}
        patch.append({"op": "test", "path": path, "value": replacement.original})
        patch.append({"op": "replace", "path": path, "value": replacement.name})
        deletes.append(Delete(namespace, replacement.original, replacement.uid))
    kind = PatchStatus if release.captures_in_status else PatchSpec
    patches = [kind(namespace, vm["metadata"].get("name", ""), patch)] if patch else []
    return successful_writes((*creates, *patches, *deletes), references, matchers)


def _upgrade(
    vm: Manifest, role: Role, created: CreatedRevisions, creates: list[Action], release: Release
) -> _Replacement | Problem | None:
    """Creates the new revision if the captured one has an older version; None if there is nothing to do."""
    matcher = role.matcher_of(vm)
    if matcher is None:
        return None
    captured = matcher.get("revisionName")
    if release.captures_in_status:
        captured = (role.reference_of(vm).get("controllerRevisionRef") or {}).get("name")
    if not captured:
        return None
    namespace = vm["metadata"].get("namespace", "")
    original = created.get(namespace, captured)
    if isinstance(original, Problem):
        return original
    if original is None:
        return not_found("ControllerRevision", captured)
    if naming.is_latest(original):
        return None
    decoded = decode.decode(original, release, role)
    if decoded.error is not None:
        return Problem(decoded.error)
    if decoded.manifest is None:
        return Problem(f'the ControllerRevision "{captured}" holds no object', PANIC)
    upgraded = revision.controller_revision(vm, decoded.manifest, release)
    creates.append(Create(namespace, upgraded))
    name = upgraded["metadata"]["name"]
    existing = created.add(upgraded)
    if existing is not None:
        return existing if isinstance(existing, Problem) else already_exists(name)
    return _Replacement(captured, original["metadata"].get("uid") or "", name)
