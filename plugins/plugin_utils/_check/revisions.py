"""The captured revisions of VMs that were read from a cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ...module_utils._resolver.api.errors import FieldError, KubeVirtError, Panic
from ...module_utils._resolver.api.finding import NOTE
from ...module_utils._resolver.api.manifest import Manifest, namespace_of
from ...module_utils._resolver.api.matcher import MATCHER_FIELDS, MatcherField, ObjectKey, references
from ...module_utils._resolver.api.name_rules import first_names
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.change.drift import DRIFTED, Drift, drift
from ...module_utils._resolver.guest.effect import RESTART, UNREAD_VMI
from ...module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from ...module_utils._resolver.kubevirt.instancetype import find, revision_names
from .checked_objects import REVISION, VM, CheckedObject, KnownObjects
from .evaluate import shown_change
from .findings import LocatedFinding

_SHOWN = 3


def without_unknown(
    objects: Sequence[CheckedObject], lookup: KnownObjects, release: Release
) -> tuple[list[CheckedObject], list[LocatedFinding]]:
    """The objects, and one note: VMs whose revisions are not among the files count with the objects of today."""
    result, changed, names = [], [], list[str]()
    for declared in objects:
        unknown = _unknown(declared.manifest, lookup, release) if declared.manifest["kind"] == VM else {}
        if unknown:
            changed.append(declared)
            names += unknown.values()
            declared = declared._replace(manifest=revision_names.without_revisions(declared.manifest, unknown))
        result.append(declared)
    if not changed:
        return result, []
    missing = f"the {REVISION} {names[0]} is" if len(names) == 1 else f"{len(names)} {REVISION}s, as {names[0]}, are"
    message = (
        f"{missing} not among the checked files, so today's instancetype and preference are checked; pass what"
        " `kubectl get controllerrevisions -A -o yaml` prints with --objects"
    )
    return result, [changed[0].finding("unchecked", NOTE, "spec", message)]


def _unknown(vm: Manifest, lookup: KnownObjects, release: Release) -> dict[MatcherField, str]:
    """The revisions of a VM of a cluster that may exist there, if the objects themselves are known."""
    result = {}
    for matcher_field in MATCHER_FIELDS:
        reference = revision_names.referenced_revision(vm, matcher_field, release)
        # Older releases pin what they capture. A manifest that someone wrote has no UID.
        if reference.name and (not reference.pinned or vm["metadata"].get("uid")):
            try:
                lookup.get(REVISION, namespace_of(vm), reference.name)
            except KubeVirtError:
                if _is_known(vm, matcher_field, lookup):
                    result[matcher_field] = reference.name
    return result


def _is_known(vm: Manifest, matcher_field: MatcherField, lookup: KnownObjects) -> bool:
    try:
        return find.live_object(vm, matcher_field, lookup) is not None
    except KubeVirtError:
        return False


def findings(
    objects: Sequence[CheckedObject], declared_keys: Collection[ObjectKey], lookup: KnownObjects, kubevirt: KubeVirt
) -> Iterator[LocatedFinding]:
    """Notes about the VMs whose captured revisions differ from objects in files.

    declared_keys: the keys of what files declare: the built-in catalog may be older or newer than a cluster's.
    """
    cluster = Cluster(lookup, kubevirt)
    for declared in objects:
        vm = declared.manifest
        captured = vm["kind"] == VM and any(
            matcher_field.recorded_in(vm)
            or revision_names.referenced_revision(vm, matcher_field, kubevirt.release).name
            for matcher_field in MATCHER_FIELDS
        )
        if not captured or not any(key in declared_keys for key in references(vm)):
            continue
        try:
            found = drift(vm, UNREAD_VMI, cluster)
        except (FieldError, KubeVirtError, Panic):
            # evaluate reports what is wrong with the VM.
            continue
        for matcher_field, part in found.parts.items():
            key = ObjectKey(part.kind, "" if part.kind == matcher_field.cluster_kind else namespace_of(vm), part.name)
            if part.state == DRIFTED and key in declared_keys:
                changes = first_names(map(shown_change, part.changes), _SHOWN)
                message = f"the captured revision of {part.name} differs from the object: {changes}; {_taken_up(found)}"
                yield declared.finding("changed-size", NOTE, f"spec.{matcher_field.name}", message)


def _taken_up(found: Drift) -> str:
    """The way by which the VM gets the object."""
    if found.effect.refusal is not None:
        return f"KubeVirt refuses the VM with it: {found.effect.refusal}"
    return f"the VM takes it up by a refresh{' and a restart' if found.effect.needs == RESTART else ''}"
