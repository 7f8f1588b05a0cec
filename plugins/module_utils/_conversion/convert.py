"""The conversion of a VM's revisions of older API versions, whatever the release of KubeVirt.

virt-controller converts such revisions itself, but from 1.7 on it reads none before v1beta1, and it changes only the
reference in the status. The conversion here makes its writes (KubeVirt ``pkg/instancetype/upgrade``) where the VM has
the reference.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Final

from .._resolver.api.errors import KubeVirtError, value_or_none
from .._resolver.api.manifest import Manifest, namespace_of
from .._resolver.api.matcher import MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, MatcherField
from .._resolver.api.release import NEWEST, Release
from .._resolver.kubevirt.instancetype import decode, revision_names
from .._resolver.kubevirt.instancetype.lookup import Lookup, get_readable
from .._resolver.kubevirt.vm.migrate_revisions import Action, Create, Delete, PatchVM, migrate

_REVISION: Final = "ControllerRevision"
# KubeVirt sets these fields of v1alpha1 and v1alpha2 also if they were empty, and they then conflict with a VM's own.
_OPTIONAL: Final = ("model", "dedicatedCPUPlacement", "isolateEmulatorThread")


def convert(vm: Manifest, lookup: Lookup, shared_names: Container[str] = ()) -> list[Action]:
    """The writes that give a VM its revisions in the current API version, with the same content.

    They continue a conversion that was cut off. lookup: the ControllerRevisions of the VM's namespace. shared_names:
    names of revisions to which other VMs refer, which therefore stay. The release does not matter: no cluster has
    stored fields that the newest does not know. Raises KubeVirtError.
    """
    references = {
        matcher_field: revision_names.referenced_revision(vm, matcher_field) for matcher_field in MATCHER_FIELDS
    }
    names = {reference.name for reference in references.values()}
    due = migrate(_with_status(vm, references), _ReadableRevisions(vm, names, lookup), NEWEST)
    in_spec = {
        f"/status/{matcher_field.reference}/controllerRevisionRef/name": f"/spec/{matcher_field.name}/revisionName"
        for matcher_field, reference in references.items()
        if reference.pinned
    }
    actions: list[Action] = []
    for action in due:
        if isinstance(action, Create):
            existing = lookup.get(_REVISION, action.namespace, action.manifest["metadata"]["name"])
            if existing is None:
                actions.append(action)
            else:
                _check_same(existing, action.manifest)
        elif isinstance(action, PatchVM):
            spec = [{**step, "path": in_spec[step["path"]]} for step in action.patch if step["path"] in in_spec]
            status = [step for step in action.patch if step["path"] not in in_spec]
            actions += [PatchVM(action.namespace, action.name, spec)] if spec else []
            actions += [PatchVM(action.namespace, action.name, status, "status")] if status else []
        elif not (isinstance(action, Delete) and action.name in shared_names):
            actions.append(action)
    return actions


def has_unreadable_revision(vm: Manifest, lookup: Lookup, release: Release) -> bool:
    """Whether a VM refers to a revision that the release does not read, and that `convert` converts."""
    for matcher_field in MATCHER_FIELDS:
        name = revision_names.referenced_revision(vm, matcher_field, release).name
        revision = get_readable(lookup, _REVISION, namespace_of(vm), name) if name else None
        if revision is not None and not _reads(release, revision) and _reads(decode.READS_ALPHA, revision):
            return True
    return False


def _reads(release: Release, revision: Manifest) -> bool:
    try:
        decode.decode(revision, release)
    except KubeVirtError:
        return False
    return True


def _with_status(vm: Manifest, references: Mapping[MatcherField, revision_names.RevisionReference]) -> Manifest:
    """The VM as if its status named the revisions that count for it."""
    named = {
        matcher_field.reference: {"controllerRevisionRef": {"name": reference.name}}
        for matcher_field, reference in references.items()
        if reference.name
    }
    return {**vm, "status": named}


class _ReadableRevisions:
    """The revisions of a VM; older API versions as KubeVirt would convert them. Others count as missing."""

    def __init__(self, vm: Manifest, names: Container[str], lookup: Lookup) -> None:
        self._vm, self._names, self._lookup = vm, names, lookup

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        """See find.Lookup."""
        if name not in self._names:
            return None
        revision = self._lookup.get(kind, namespace, name)
        if revision is None or _reads(NEWEST, revision):
            return revision
        manifest = value_or_none(decode.decode, revision, decode.READS_ALPHA)
        return revision if manifest is None else {**revision, "data": self._modern(revision, manifest)}

    def _modern(self, revision: Manifest, manifest: Manifest) -> Manifest:
        matcher_field, spec = MATCHER_FIELD_OF_KIND[manifest["kind"]], manifest["spec"]
        if "cpu" in spec:
            cpu = {key: value for key, value in spec["cpu"].items() if value or key not in _OPTIONAL}
            manifest = {**manifest, "spec": {**spec, "cpu": cpu}}
        if "kind" in revision["data"]:
            return manifest
        # Only the spec is stored. With KubeVirt's name for it, the revision would not count for the matcher.
        matcher = matcher_field.matcher_or_empty(self._vm)
        kind = matcher_field.kind_of(matcher) or manifest["kind"]
        return {**manifest, "kind": kind, "metadata": {"name": matcher.get("name", "")}}


def _check_same(existing: Manifest, expected: Manifest) -> None:
    """Raises KubeVirtError if a revision that exists already has other content than the expected one."""
    content = value_or_none(decode.decode, existing, NEWEST)
    if not revision_names.is_latest(existing) or content != decode.decode(expected, NEWEST):
        name = expected["metadata"]["name"]
        message = f'controllerrevisions.apps "{name}" already exists with other content'
        raise KubeVirtError(message, "AlreadyExists", 409)
