"""Compares two revisions of a repository: the changes for running guests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._resolver.api.errors import FieldError, Panic
from ...module_utils._resolver.api.finding import NOTE, WARNING
from ...module_utils._resolver.api.matcher import MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, ObjectKey, references
from ...module_utils._resolver.api.release_schema import canonical
from ...module_utils._resolver.api.schema import equal
from ...module_utils._resolver.choose.stored_choice import stored_choice
from ...module_utils._resolver.guest.effect import ASSUMED, RESTART, UNKNOWN, admitted_effect
from ...module_utils._resolver.kubevirt.config.cluster import Cluster, KubeVirt
from ...module_utils._resolver.kubevirt.webhooks.mutate import admit
from .findings import LocatedFinding
from .objects import VM, Declared, KnownObjects, has_name

Manifest = dict[str, Any]


class ChangedGuest(NamedTuple):
    """What a change does to the guest of a VM. before, after: see `vmi.guest`. needs: of `GuestEffect`."""

    label: str
    file: str
    before: Manifest
    after: Manifest
    needs: str


def by_key(objects: Iterable[Declared]) -> dict[ObjectKey, Manifest]:
    """The objects of a revision by their keys. Objects without a name cannot be found again."""
    return {ObjectKey.of(entry.manifest): entry.manifest for entry in objects if has_name(entry.manifest)}


def compare(
    base: Mapping[ObjectKey, Manifest],
    base_lookup: KnownObjects,
    head: Sequence[Declared],
    head_lookup: KnownObjects,
    kubevirt: KubeVirt,
) -> Iterator[LocatedFinding]:
    """Findings for each changed VM whose running guest needs a restart, and for each changed instancetype or preference
    that VMs refer to.

    base: see `by_key`. base_lookup, head_lookup: the objects of a revision and those of the cluster. A VM that is not
    halted is assumed to run as the base declares it.
    """
    base_cluster, head_cluster = _clusters(base_lookup, head_lookup, kubevirt)
    vms = [entry.manifest for entry in head if entry.manifest["kind"] == VM]
    for entry, before in _pairs(base, head):
        try:
            entry = _with_earlier_choice(entry, before)
            if before.get("spec") == entry.manifest.get("spec"):
                continue
            if entry.manifest["kind"] == VM:
                yield from _restart(entry, before, base_cluster, head_cluster)
            elif entry.manifest["kind"] in MATCHER_FIELD_OF_KIND:
                yield from _changed(entry, before, vms, kubevirt)
        except (FieldError, Panic):
            # evaluate reports the errors of the object itself.
            continue


def guests(
    base: Mapping[ObjectKey, Manifest],
    base_lookup: KnownObjects,
    head: Sequence[Declared],
    head_lookup: KnownObjects,
    kubevirt: KubeVirt,
) -> Iterator[ChangedGuest]:
    """The guests of the changed VMs that KubeVirt accepts before and after; the arguments are those of `compare`."""
    base_cluster, head_cluster = _clusters(base_lookup, head_lookup, kubevirt)
    for entry, before in _pairs(base, head):
        if entry.manifest["kind"] != VM:
            continue
        try:
            entry = _with_earlier_choice(entry, before)
            admitted = admit(before, None, base_cluster).admitted
            if before.get("spec") == entry.manifest.get("spec") or admitted is None:
                continue
            effect = admitted_effect(admitted, admit(entry.manifest, admitted, head_cluster), ASSUMED, head_cluster)
        except (FieldError, Panic):
            continue
        if effect.guest_before and effect.guest_after:
            figures = effect.guest_before, effect.guest_after
            yield ChangedGuest(entry.label, entry.location.file, *figures, effect.needs)


def _clusters(base_lookup: KnownObjects, head_lookup: KnownObjects, kubevirt: KubeVirt) -> tuple[Cluster, Cluster]:
    """The cluster before the change and after it."""
    # The base overrides the head, because VMs keep their captured revisions.
    after = KnownObjects([*head_lookup.all, *base_lookup.all])
    return Cluster(base_lookup, kubevirt), Cluster(after, kubevirt)


def _pairs(base: Mapping[ObjectKey, Manifest], head: Sequence[Declared]) -> Iterator[tuple[Declared, Manifest]]:
    """The objects of the head that the base has too, each with its manifest in the base."""
    for entry in head:
        before = base.get(ObjectKey.of(entry.manifest)) if has_name(entry.manifest) else None
        if before is not None:
            yield entry, before


def _with_earlier_choice(entry: Declared, before: Manifest) -> Declared:
    """The VM with what was chosen for its workload before, unless the workload or the size changes."""
    if entry.manifest["kind"] != VM:
        return entry
    choice_before, choice_after = stored_choice(before), stored_choice(entry.manifest)
    if (
        choice_before is None
        or choice_after is None
        or (choice_before.workload, choice_before.size) != (choice_after.workload, choice_after.size)
    ):
        return entry
    matchers = {matcher_field.matcher: before["spec"].get(matcher_field.matcher) for matcher_field in MATCHER_FIELDS}
    return entry._replace(manifest={**entry.manifest, "spec": {**entry.manifest["spec"], **matchers}})


def _restart(
    entry: Declared, before: Manifest, base_cluster: Cluster, head_cluster: Cluster
) -> Iterator[LocatedFinding]:
    admitted = admit(before, None, base_cluster).admitted
    if admitted is None:
        return
    effect = admitted_effect(admitted, admit(entry.manifest, admitted, head_cluster), ASSUMED, head_cluster)
    if effect.needs == RESTART:
        fields = ", ".join(str(change["field"]) for change in effect.changes[:3])
        message = f"the change needs a restart of a running guest: {effect.reason or fields}"
        yield entry.finding("needs-restart", WARNING, "spec", message)
    elif effect.needs == UNKNOWN:
        message = "the effect on a running guest is unknown until the errors of the VM are fixed"
        yield entry.finding("unchecked", NOTE, "spec", message)


def _changed(
    entry: Declared, before: Manifest, vms: Sequence[Manifest], kubevirt: KubeVirt
) -> Iterator[LocatedFinding]:
    matcher_field = MATCHER_FIELD_OF_KIND[entry.manifest["kind"]]
    spec_before, spec_after = (
        canonical(matcher_field.spec_type, manifest.get("spec"), kubevirt.release)
        for manifest in (before, entry.manifest)
    )
    users = sum(ObjectKey.of(entry.manifest) in references(vm) for vm in vms)
    if users and not equal(matcher_field.spec_type, spec_before, spec_after):
        message = f"{users} VM{'s' * (users != 1)} captured the object before the change; run refresh_revisions"
        yield entry.finding("changed-size", NOTE, "spec", message)
