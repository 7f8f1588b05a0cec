"""The conversion of a VM's revisions of older API versions, whatever the release of KubeVirt.

virt-controller converts such revisions itself, but from 1.7 on it reads none before v1beta1, and it changes only the
reference in the status. The conversion here makes its writes (KubeVirt ``pkg/instancetype/upgrade``) where the VM has
the reference.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Final

from ..api.manifest import Manifest, namespace_of
from ..api.matcher import MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, MatcherField
from ..api.release import NEWEST, Release
from ..kubevirt.find import decode
from ..kubevirt.find import revision_names as naming
from ..kubevirt.find.lookup import Lookup, Problem
from ..kubevirt.revision.migrate import Action, Create, Delete, PatchSpec, PatchStatus, Writes, upgrade
from .drift import READS_ALPHA

_REVISION: Final = "ControllerRevision"
# KubeVirt sets these fields of v1alpha1 and v1alpha2 also if they were empty, and they then conflict with a VM's own.
_OPTIONAL: Final = ("model", "dedicatedCPUPlacement", "isolateEmulatorThread")


def convert(vm: Manifest, lookup: Lookup, shared: Container[str] = ()) -> Writes:
    """The writes that give a VM its revisions in the current API version, with the same content.

    They continue a conversion that was cut off. lookup: the ControllerRevisions of the VM's namespace. shared: names of
    revisions to which other VMs refer, which therefore stay. The release does not matter: no cluster has stored fields
    that the newest does not know.
    """
    references = {matcher_field: naming.referenced(vm, matcher_field) for matcher_field in MATCHER_FIELDS}
    names = {reference.name for reference in references.values()}
    writes = upgrade(_with_status(vm, references), _ReadableRevisions(vm, names, lookup), NEWEST)
    if writes.error is not None:
        return Writes(error=writes.error)
    in_spec = {
        f"/status/{matcher_field.reference}/controllerRevisionRef/name": f"/spec/{matcher_field.matcher}/revisionName"
        for matcher_field, reference in references.items()
        if reference.pinned
    }
    actions: list[Action] = []
    for action in writes.actions:
        if isinstance(action, Create):
            existing = lookup.get(_REVISION, action.namespace, action.manifest["metadata"]["name"])
            if existing is None:
                actions.append(action)
            elif problem := _difference(existing, action.manifest):
                return Writes(error=problem)
        elif isinstance(action, PatchStatus):
            spec = [{**step, "path": in_spec[step["path"]]} for step in action.patch if step["path"] in in_spec]
            status = [step for step in action.patch if step["path"] not in in_spec]
            actions += [PatchSpec(action.namespace, action.name, spec)] if spec else []
            actions += [PatchStatus(action.namespace, action.name, status)] if status else []
        elif not (isinstance(action, Delete) and action.name in shared):
            actions.append(action)
    return Writes(tuple(actions))


def has_unreadable_revision(vm: Manifest, lookup: Lookup, release: Release) -> bool:
    """Whether a VM refers to a revision that the release does not read, and that `convert` converts."""
    for matcher_field in MATCHER_FIELDS:
        name = naming.referenced(vm, matcher_field, release).name
        revision = lookup.get(_REVISION, namespace_of(vm), name) if name else None
        if revision is None or isinstance(revision, Problem) or decode.decode(revision, release).error is None:
            continue
        if decode.decode(revision, READS_ALPHA).error is None:
            return True
    return False


def _with_status(vm: Manifest, references: Mapping[MatcherField, naming.Reference]) -> Manifest:
    """The VM as if its status named the revisions that count for it."""
    named = {
        matcher_field.reference: {"controllerRevisionRef": {"name": reference.name}}
        for matcher_field, reference in references.items()
        if reference.name
    }
    return {**vm, "status": named}


class _ReadableRevisions:
    """The revisions of a VM, those of older API versions as KubeVirt would convert them. Others count as missing."""

    def __init__(self, vm: Manifest, names: Container[str], lookup: Lookup) -> None:
        self._vm, self._names, self._lookup = vm, names, lookup

    def get(self, kind: str, namespace: str, name: str) -> Manifest | Problem | None:
        """See find.Lookup."""
        if name not in self._names:
            return None
        revision = self._lookup.get(kind, namespace, name)
        if revision is None or isinstance(revision, Problem) or decode.decode(revision, NEWEST).error is None:
            return revision
        decoded = decode.decode(revision, READS_ALPHA)
        return revision if decoded.manifest is None else {**revision, "data": self._modern(revision, decoded.manifest)}

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


def _difference(existing: Manifest | Problem, expected: Manifest) -> Problem | None:
    """Why a revision that exists already is not the expected one; None if it is."""
    if isinstance(existing, Problem):
        return existing
    if naming.is_latest(existing) and decode.decode(existing, NEWEST) == decode.decode(expected, NEWEST):
        return None
    name = expected["metadata"]["name"]
    return Problem(f'controllerrevisions.apps "{name}" already exists with other content', "AlreadyExists", 409)
