"""The upgrade of captured revisions to the current version by virt-controller (KubeVirt ``pkg/instancetype/upgrade``).

A captured revision without the v1beta1 label is created again under its new name, and the old one is deleted. A
revision that only the matcher names stays; but before 1.5 that was the captured one.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import NamedTuple, Union

from ...api import behaviour
from ...api.errors import KubeVirtError, Panic
from ...api.manifest import Manifest, namespace_of
from ...api.matcher import MATCHER_FIELDS, MatcherField
from ...api.release import NEWEST, Release
from ..instancetype import decode, revision_names, revision_store
from ..instancetype.find import canonical_vm
from ..instancetype.lookup import Lookup, not_found


class Create(NamedTuple):
    """Creates a ControllerRevision (apps/v1; the manifest lacks apiVersion and kind)."""

    namespace: str
    manifest: Manifest


class Delete(NamedTuple):
    """Deletes a ControllerRevision. uid: its UID, "" if unknown; KubeVirt deletes by the name alone."""

    namespace: str
    name: str
    uid: str = ""


class PatchVM(NamedTuple):
    """Sends a JSON patch for the spec of a VM, or to a subresource."""

    namespace: str
    name: str
    patch: list[Manifest]
    subresource: str = ""


Action = Union[Create, Delete, PatchVM]


class CreatedRevisions:
    """The ControllerRevisions of a lookup, and the ones created since."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._created: dict[tuple[str, str], Manifest] = {}

    def get(self, namespace: str, name: str) -> Manifest | None:
        """The revision; None if it does not exist. Raises KubeVirtError for one that cannot be read."""
        return self._created.get((namespace, name)) or self._lookup.get("ControllerRevision", namespace, name)

    def add(self, manifest: Manifest) -> Manifest | None:
        """Creates a revision. Returns the existing object of that name, or None. Raises KubeVirtError like `get`."""
        key = namespace_of(manifest), manifest["metadata"]["name"]
        existing = self.get(*key)
        if existing is None:
            self._created[key] = manifest
        return existing


class _Replacement(NamedTuple):
    original: str
    uid: str
    name: str


def migrate(vm: Manifest, lookup: Lookup, release: Release = NEWEST) -> Iterator[Action]:
    """The writes of virt-controller for a VM (plain manifest) and the objects in the cluster, in order.

    All revisions are created before the VM is patched, and deleted after it. Raises KubeVirtError after the request
    that fails.
    """
    vm = canonical_vm(vm, release)
    namespace = namespace_of(vm)
    created = CreatedRevisions(lookup)
    patch: list[Manifest] = []
    deletes: list[Action] = []
    for matcher_field in MATCHER_FIELDS:
        replacement = yield from _migrate(vm, matcher_field, created, release)
        if replacement is None:
            continue
        path = f"/spec/{matcher_field.name}/revisionName"
        if release.has(behaviour.CAPTURES_IN_STATUS):
            path = f"/status/{matcher_field.reference}/controllerRevisionRef/name"
        patch.append({"op": "test", "path": path, "value": replacement.original})
        patch.append({"op": "replace", "path": path, "value": replacement.name})
        deletes.append(Delete(namespace, replacement.original, replacement.uid))
    if patch:
        part = "status" if release.has(behaviour.CAPTURES_IN_STATUS) else ""
        yield PatchVM(namespace, vm["metadata"].get("name", ""), patch, part)
    yield from deletes


def _migrate(
    vm: Manifest, matcher_field: MatcherField, created: CreatedRevisions, release: Release
) -> Generator[Action, None, _Replacement | None]:
    """Creates the new revision if the captured one has an older version; None if there is nothing to do."""
    matcher = matcher_field.matcher_of(vm)
    if matcher is None:
        return None
    captured = matcher.get("revisionName")
    if release.has(behaviour.CAPTURES_IN_STATUS):
        captured = (matcher_field.reference_of(vm).get("controllerRevisionRef") or {}).get("name")
    if not captured:
        return None
    namespace = namespace_of(vm)
    original = created.get(namespace, captured)
    if original is None:
        raise not_found("ControllerRevision", captured)
    if revision_names.is_latest(original):
        return None
    manifest = decode.decode(original, release)
    if manifest is None:
        raise Panic(f'the ControllerRevision "{captured}" holds no object')
    upgraded = revision_store.controller_revision(vm, manifest, release)
    yield Create(namespace, upgraded)
    name = upgraded["metadata"]["name"]
    if created.add(upgraded) is not None:
        raise KubeVirtError(f'controllerrevisions.apps "{name}" already exists', "AlreadyExists", 409)
    return _Replacement(captured, original["metadata"].get("uid") or "", name)
