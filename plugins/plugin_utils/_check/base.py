"""Compares two revisions of a repository: the changes for running guests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import NamedTuple

from ...module_utils._resolver.api.errors import FieldError, KubeVirtError, Panic
from ...module_utils._resolver.api.finding import NOTE, WARNING
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, ObjectKey, references
from ...module_utils._resolver.api.release_schema import canonical
from ...module_utils._resolver.api.schema import equal
from ...module_utils._resolver.choose.stored_choice import stored_choice
from ...module_utils._resolver.guest.effect import ASSUMED, RESTART, UNKNOWN, GuestEffect, admitted_effect, guest_effect
from ...module_utils._resolver.kubevirt.config.cluster import Cluster, KubeVirt
from ...module_utils._resolver.kubevirt.find.find import effective_spec
from ...module_utils._resolver.kubevirt.webhooks.mutate import admit
from .findings import LocatedFinding
from .objects import VM, DeclaredObject, KnownObjects, has_name


class ChangedGuest(NamedTuple):
    """The effect of a change on the guest of a VM.

    before, after: the result of `vmi.guest_figures`. needs: see `GuestEffect`.
    refresh: the instancetype or preference has changed, which the VM takes up by a refresh.
    """

    label: str
    file: str
    before: Manifest
    after: Manifest
    needs: str
    refresh: bool


def by_key(objects: Iterable[DeclaredObject]) -> dict[ObjectKey, Manifest]:
    """The objects of a revision by their keys. Objects without a name cannot be found again."""
    return {ObjectKey.of(declared.manifest): declared.manifest for declared in objects if has_name(declared.manifest)}


def compare(
    base: Mapping[ObjectKey, Manifest],
    base_lookup: KnownObjects,
    head: Sequence[DeclaredObject],
    head_lookup: KnownObjects,
    kubevirt: KubeVirt,
) -> Iterator[LocatedFinding]:
    """Findings for each changed VM whose running guest needs a restart, and for each changed instancetype or preference
    that VMs refer to.

    base: see `by_key`. base_lookup, head_lookup: the objects of a revision and those of the cluster. A VM that is not
    halted is assumed to run as the base declares it.
    """
    base_cluster, head_cluster = _clusters(base_lookup, head_lookup, kubevirt)
    vms = [declared.manifest for declared in head if declared.manifest["kind"] == VM]
    for declared, before in _pairs(base, head):
        try:
            declared = _with_earlier_choice(declared, before)
            if before.get("spec") == declared.manifest.get("spec"):
                continue
            if declared.manifest["kind"] == VM:
                yield from _restart(declared, before, base_cluster, head_cluster)
            elif declared.manifest["kind"] in MATCHER_FIELD_OF_KIND:
                yield from _changed(declared, before, vms, kubevirt)
        except (FieldError, Panic):
            # evaluate reports the errors of the object itself.
            continue


def guests(
    base: Mapping[ObjectKey, Manifest],
    base_lookup: KnownObjects,
    head: Sequence[DeclaredObject],
    head_lookup: KnownObjects,
    kubevirt: KubeVirt,
) -> Iterator[ChangedGuest]:
    """The guests of the VMs that change and that KubeVirt accepts before and after.

    An unchanged VM counts if its instancetype or preference changes. The arguments are those of `compare`.
    """
    base_cluster, head_cluster = _clusters(base_lookup, head_lookup, kubevirt)
    refreshed_cluster = Cluster(head_lookup, kubevirt)
    for declared, before in _pairs(base, head):
        if declared.manifest["kind"] != VM:
            continue
        try:
            declared = _with_earlier_choice(declared, before)
            admitted = admit(before, None, base_cluster).admitted
            if admitted is None:
                continue
            refresh = before.get("spec") == declared.manifest.get("spec")
            effect = (
                _refresh(admitted, base_cluster, refreshed_cluster)
                if refresh
                else admitted_effect(admitted, admit(declared.manifest, admitted, head_cluster), ASSUMED, head_cluster)
            )
        except (FieldError, Panic):
            continue
        if effect is not None and effect.guest_before and effect.guest_after:
            figures = effect.guest_before, effect.guest_after
            yield ChangedGuest(declared.label, declared.location.file, *figures, effect.needs, refresh)


def _refresh(vm: Manifest, before: Cluster, after: Cluster) -> GuestEffect | None:
    """The effect of a refresh of a VM; None if it has nothing to take up, or something is missing."""
    try:
        captured, current = (
            {field: effective_spec(vm, field, cluster.objects, cluster.release) for field in MATCHER_FIELDS}
            for cluster in (before, after)
        )
    except KubeVirtError:
        return None
    if captured == current:
        return None
    return guest_effect(vm, copy(vm), ASSUMED, after, captured, current)


def _clusters(base_lookup: KnownObjects, head_lookup: KnownObjects, kubevirt: KubeVirt) -> tuple[Cluster, Cluster]:
    """The cluster before the change and after it."""
    # The base overrides the head, because VMs keep their captured revisions.
    after = KnownObjects([*head_lookup.all, *base_lookup.all])
    return Cluster(base_lookup, kubevirt), Cluster(after, kubevirt)


def _pairs(
    base: Mapping[ObjectKey, Manifest], head: Sequence[DeclaredObject]
) -> Iterator[tuple[DeclaredObject, Manifest]]:
    """The objects of the head that the base has too, each with its manifest in the base."""
    for declared in head:
        before = base.get(ObjectKey.of(declared.manifest)) if has_name(declared.manifest) else None
        if before is not None:
            yield declared, before


def _with_earlier_choice(declared: DeclaredObject, before: Manifest) -> DeclaredObject:
    """The VM with what was chosen for its workload before, unless the workload or the size changes."""
    if declared.manifest["kind"] != VM:
        return declared
    choice_before, choice_after = stored_choice(before), stored_choice(declared.manifest)
    if (
        choice_before is None
        or choice_after is None
        or (choice_before.workload, choice_before.size) != (choice_after.workload, choice_after.size)
    ):
        return declared
    matchers = {matcher_field.matcher: before["spec"].get(matcher_field.matcher) for matcher_field in MATCHER_FIELDS}
    return declared._replace(manifest={**declared.manifest, "spec": {**declared.manifest["spec"], **matchers}})


def _restart(
    declared: DeclaredObject, before: Manifest, base_cluster: Cluster, head_cluster: Cluster
) -> Iterator[LocatedFinding]:
    admitted = admit(before, None, base_cluster).admitted
    if admitted is None:
        return
    effect = admitted_effect(admitted, admit(declared.manifest, admitted, head_cluster), ASSUMED, head_cluster)
    if effect.needs == RESTART:
        fields = ", ".join(str(change["field"]) for change in effect.changes[:3])
        message = f"the change needs a restart of a running guest: {effect.reason or fields}"
        yield declared.finding("needs-restart", WARNING, "spec", message)
    elif effect.needs == UNKNOWN:
        message = "the effect on a running guest is unknown until the errors of the VM are fixed"
        yield declared.finding("unchecked", NOTE, "spec", message)


def _changed(
    declared: DeclaredObject, before: Manifest, vms: Sequence[Manifest], kubevirt: KubeVirt
) -> Iterator[LocatedFinding]:
    matcher_field = MATCHER_FIELD_OF_KIND[declared.manifest["kind"]]
    spec_before, spec_after = (
        canonical(matcher_field.spec_type, manifest.get("spec"), kubevirt.release)
        for manifest in (before, declared.manifest)
    )
    users = sum(ObjectKey.of(declared.manifest) in references(vm) for vm in vms)
    if users and not equal(matcher_field.spec_type, spec_before, spec_after):
        message = f"{users} VM{'s' * (users != 1)} captured the object before the change; run refresh_revisions"
        yield declared.finding("changed-size", NOTE, "spec", message)
