"""The upgrade of captured revisions to the current version by virt-controller (KubeVirt ``pkg/instancetype/upgrade``).

A captured revision without the v1beta1 label is created again under its new name, and the old one is deleted. A
revision that only the matcher names stays; but before 1.5 that was the captured one.
"""

from __future__ import annotations

from typing import NamedTuple, Union

from ...api import release_schema
from ...api.errors import FieldError
from ...api.manifest import Manifest, namespace_of
from ...api.matcher import MATCHER_FIELDS, MatcherField
from ...api.release import NEWEST, Release
from ..find import decode
from ..find import revision_names as naming
from ..find import revision_store as revision
from ..find.lookup import PANIC, Lookup, Problem, not_found


class Create(NamedTuple):
    """Creates a ControllerRevision (apps/v1; the manifest lacks apiVersion and kind)."""

    namespace: str
    manifest: Manifest


class Delete(NamedTuple):
    """Deletes a ControllerRevision. uid: of that one, "" if unknown; KubeVirt deletes by the name alone."""

    namespace: str
    name: str
    uid: str = ""


class PatchStatus(NamedTuple):
    """Sends a JSON patch to the status subresource of a VM."""

    namespace: str
    name: str
    patch: list[Manifest]


class PatchSpec(NamedTuple):
    """Sends a JSON patch for the spec of a VM."""

    namespace: str
    name: str
    patch: list[Manifest]


Action = Union[Create, Delete, PatchSpec, PatchStatus]


class Writes(NamedTuple):
    """The writes of virt-controller: the requests in order; with an error, up to the request that fails."""

    actions: tuple[Action, ...] = ()
    error: Problem | None = None


class CreatedRevisions:
    """The ControllerRevisions of a lookup, and those created since."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._created: dict[tuple[str, str], Manifest] = {}

    def get(self, namespace: str, name: str) -> Manifest | Problem | None:
        return self._created.get((namespace, name)) or self._lookup.get("ControllerRevision", namespace, name)

    def add(self, manifest: Manifest) -> Manifest | Problem | None:
        """Creates a revision. Returns the existing object of that name, or None."""
        key = namespace_of(manifest), manifest["metadata"]["name"]
        existing = self.get(*key)
        if existing is None:
            self._created[key] = manifest
        return existing


class _Replacement(NamedTuple):
    original: str
    uid: str
    name: str


def upgrade(vm: Manifest, lookup: Lookup, release: Release = NEWEST) -> Writes:
    """The writes of virt-controller for a VM (plain manifest) and the objects in the cluster.

    All revisions are created before the VM is patched, and deleted after it.
    """
    try:
        vm = release_schema.canonical("VirtualMachine", vm, release)
    except FieldError as error:
        return Writes(error=Problem(str(error), "BadRequest", 400))
    namespace = namespace_of(vm)
    created = CreatedRevisions(lookup)
    creates: list[Action] = []
    patch: list[Manifest] = []
    deletes: list[Action] = []
    for matcher_field in MATCHER_FIELDS:
        replacement = _upgrade(vm, matcher_field, created, creates, release)
        if isinstance(replacement, Problem):
            return Writes(tuple(creates), replacement)
        if replacement is None:
            continue
        path = f"/spec/{matcher_field.matcher}/revisionName"
        if release.captures_in_status:
            path = f"/status/{matcher_field.reference}/controllerRevisionRef/name"
        patch.append({"op": "test", "path": path, "value": replacement.original})
        patch.append({"op": "replace", "path": path, "value": replacement.name})
        deletes.append(Delete(namespace, replacement.original, replacement.uid))
    kind = PatchStatus if release.captures_in_status else PatchSpec
    patches = [kind(namespace, vm["metadata"].get("name", ""), patch)] if patch else []
    return Writes((*creates, *patches, *deletes))


def _upgrade(
    vm: Manifest, matcher_field: MatcherField, created: CreatedRevisions, creates: list[Action], release: Release
) -> _Replacement | Problem | None:
    """Creates the new revision if the captured one has an older version; None if there is nothing to do."""
    matcher = matcher_field.matcher_of(vm)
    if matcher is None:
        return None
    captured = matcher.get("revisionName")
    if release.captures_in_status:
        captured = (matcher_field.reference_of(vm).get("controllerRevisionRef") or {}).get("name")
    if not captured:
        return None
    namespace = namespace_of(vm)
    original = created.get(namespace, captured)
    if isinstance(original, Problem):
        return original
    if original is None:
        return not_found("ControllerRevision", captured)
    if naming.is_latest(original):
        return None
    decoded = decode.decode(original, release)
    if decoded.error is not None:
        return Problem(decoded.error)
    if decoded.manifest is None:
        return Problem(f'the ControllerRevision "{captured}" holds no object', PANIC)
    upgraded = revision.controller_revision(vm, decoded.manifest, release)
    creates.append(Create(namespace, upgraded))
    name = upgraded["metadata"]["name"]
    existing = created.add(upgraded)
    if existing is not None:
        already_exists = Problem(f'controllerrevisions.apps "{name}" already exists', "AlreadyExists", 409)
        return existing if isinstance(existing, Problem) else already_exists
    return _Replacement(captured, original["metadata"].get("uid") or "", name)
