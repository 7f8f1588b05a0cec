"""Compares two revisions of a repository: the changes for running guests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Final, NamedTuple

from ...module_utils._resolver.api.errors import FieldError, KubeVirtError, Panic, value_or_none
from ...module_utils._resolver.api.finding import NOTE, WARNING
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, ObjectKey, references
from ...module_utils._resolver.api.name_rules import first_names
from ...module_utils._resolver.api.release_schema import canonical
from ...module_utils._resolver.api.schema import equal
from ...module_utils._resolver.api.tree import value_at
from ...module_utils._resolver.guest.effect import LIVE, NOTHING, RESTART, UNKNOWN, UNREAD_VMI, GuestEffect
from ...module_utils._resolver.guest.predict import admitted_effect, guest_effect
from ...module_utils._resolver.kubevirt.admission.mutate import admit
from ...module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from ...module_utils._resolver.kubevirt.instancetype import infer
from ...module_utils._resolver.kubevirt.instancetype.find import effective_spec
from ...module_utils._resolver.kubevirt.vm.readiness import run_strategy
from .check_extension import CheckExtension
from .checked_objects import VM, CheckedObject, KnownObjects, has_name
from .evaluate import shown_change
from .findings import LocatedFinding

NEEDS_RESTART: Final = "needs-restart"
_SHOWN: Final = 3
# Where the spec of a VMI has named items.
_DEVICES: Final = ("domain", "devices")
_WITH_ITEMS: Final = ("domain", "volumes", "networks")


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


def by_key(objects: Iterable[CheckedObject]) -> dict[ObjectKey, Manifest]:
    """The objects of a revision by their keys. Objects without a name cannot be found again."""
    return {ObjectKey.of(declared.manifest): declared.manifest for declared in objects if has_name(declared.manifest)}


class Comparison:
    """The changes of a revision against an earlier one.

    pairs: the objects of both, as they update the earlier ones. base_lookup, head_lookup: the objects of a revision and
    of the cluster. A VM that is not halted is assumed to run as the base declares it.
    """

    def __init__(
        self,
        pairs: Sequence[tuple[CheckedObject, Manifest]],
        base_lookup: KnownObjects,
        head: Sequence[CheckedObject],
        head_lookup: KnownObjects,
        kubevirt: KubeVirt,
    ) -> None:
        self._pairs = pairs
        self._before, self._refreshed = Cluster(base_lookup, kubevirt), Cluster(head_lookup, kubevirt)
        vms = {declared.label: declared.manifest for declared in head if declared.manifest["kind"] == VM}
        self._users = Counter(key for vm in vms.values() for key in references(_inferred(vm, self._refreshed)))
        # The base overrides the head, because VMs keep their captured revisions.
        self._after = Cluster(KnownObjects([*head_lookup.all, *base_lookup.all]), kubevirt)

    def findings(self) -> Iterator[LocatedFinding]:
        """Findings for each changed VM whose running guest needs a restart, and for each changed instancetype or
        preference that VMs refer to.
        """
        for declared, before in self._pairs:
            try:
                if before.get("spec") == declared.manifest.get("spec"):
                    continue
                if declared.manifest["kind"] == VM:
                    yield from self._restart(declared, before)
                elif declared.manifest["kind"] in MATCHER_FIELD_OF_KIND:
                    yield from self._changed(declared, before)
            except (FieldError, Panic):
                # evaluate reports the errors of the object itself.
                continue

    def guests(self) -> Iterator[ChangedGuest]:
        """The guests of the VMs that change and that KubeVirt accepts before and after.

        An unchanged VM counts if its instancetype or preference changes.
        """
        for declared, before in self._pairs:
            if declared.manifest["kind"] != VM:
                continue
            try:
                effect = self._effect(declared, before)
            except (FieldError, Panic):
                continue
            if effect is not None and effect.guest_before and effect.guest_after:
                figures = effect.guest_before, effect.guest_after
                refresh = before.get("spec") == declared.manifest.get("spec")
                yield ChangedGuest(declared.label, declared.location.file, *figures, effect.needs, refresh)

    def _effect(self, declared: CheckedObject, before: Manifest) -> GuestEffect | None:
        """The effect of the change or, if the VM is the same, of a refresh; None without either."""
        admitted = admit(before, None, self._before).admitted
        if admitted is None:
            return None
        if before.get("spec") == declared.manifest.get("spec"):
            return self._refresh(admitted)
        return admitted_effect(admitted, admit(declared.manifest, admitted, self._after), UNREAD_VMI, self._after)

    def _refresh(self, vm: Manifest) -> GuestEffect | None:
        """The effect of a refresh of a VM; None if it has nothing to take up, or something is missing."""
        try:
            captured, current = (
                {field: effective_spec(vm, field, cluster.objects, cluster.release) for field in MATCHER_FIELDS}
                for cluster in (self._before, self._refreshed)
            )
        except KubeVirtError:
            return None
        return (
            None if captured == current else guest_effect(vm, copy(vm), UNREAD_VMI, self._refreshed, captured, current)
        )

    def _restart(self, declared: CheckedObject, before: Manifest) -> Iterator[LocatedFinding]:
        effect = self._effect(declared, before)
        if effect is not None and effect.needs == RESTART:
            fields = _by_item(effect.by_restart or [str(change["field"]) for change in effect.changes])
            reason = f": {effect.reason}" if effect.requested else ""
            message = f"a running guest gets {first_names(fields, _SHOWN)} only by a restart{reason}"
            yield declared.finding(NEEDS_RESTART, WARNING, _written_at(declared.manifest, before, fields), message)
        elif effect is not None and effect.needs in (NOTHING, LIVE) and effect.changes:
            shown = first_names(map(shown_change, effect.changes), _SHOWN)
            when = "a running guest gets it live" if effect.needs == LIVE else "the guest gets it at its next start"
            fields = [str(change["field"]) for change in effect.changes]
            yield declared.finding("changed", NOTE, _written_at(declared.manifest, before, fields), f"{shown}: {when}")
        elif effect is not None and effect.needs == UNKNOWN:
            message = "the effect on a running guest is unknown until the errors of the VM are fixed"
            yield declared.finding("unchecked", NOTE, "spec", message)

    def _changed(self, declared: CheckedObject, before: Manifest) -> Iterator[LocatedFinding]:
        matcher_field = MATCHER_FIELD_OF_KIND[declared.manifest["kind"]]
        spec_before, spec_after = (
            canonical(matcher_field.spec_type, manifest.get("spec"), self._after.release)
            for manifest in (before, declared.manifest)
        )
        users = self._users[ObjectKey.of(declared.manifest)]
        if users and not equal(matcher_field.spec_type, spec_before, spec_after):
            message = f"{users} VM{'s' * (users != 1)} captured the object before the change; run refresh_revisions"
            yield declared.finding("changed-size", NOTE, "spec", message)


def _inferred(vm: Manifest, cluster: Cluster) -> Manifest:
    """The VM with the instancetype and preference that it infers, if the objects that decide are known."""
    if not any(matcher_field.matcher_or_empty(vm).get("inferFromVolume") for matcher_field in MATCHER_FIELDS):
        return vm
    return value_or_none(infer.infer, vm, cluster.objects, cluster.release) or vm


def _by_item(fields: Iterable[str]) -> list[str]:
    """The fields, with a device, volume or network instead of several fields of it."""
    items: dict[str, list[str]] = {}
    for field in fields:
        steps = field.split(".")
        depth = len(_DEVICES) + 2 if tuple(steps[:2]) == _DEVICES else 2
        items.setdefault(".".join(steps[:depth]) if steps[0] in _WITH_ITEMS else field, []).append(field)
    return [item if len(same) > 1 or same[0] == f"{item}.name" else same[0] for item, same in items.items()]


def _written_at(vm: Manifest, before: Manifest, fields: Sequence[str]) -> str:
    """The path of the first of these fields that a VM sets itself; else of the matcher that it changes."""
    for field in fields:
        path, value = "spec.template.spec", value_at(vm, ("spec", "template", "spec"))
        for step in field.split("."):
            if isinstance(value, list):
                index = next((index for index, item in enumerate(value) if item.get("name") == step), None)
                path, value = (path, None) if index is None else (f"{path}[{index}]", value[index])
            elif isinstance(value, dict) and step in value:
                path, value = f"{path}.{step}", value[step]
            else:
                break
        else:
            return path
    for matcher_field in MATCHER_FIELDS:
        if matcher_field.matcher_of(before) != matcher_field.matcher_of(vm):
            return f"spec.{matcher_field.name}"
    return "spec.template.spec"


def as_updated(declared: CheckedObject, before: Manifest, extensions: Iterable[CheckExtension] = ()) -> CheckedObject:
    """The object as it updates an earlier one.

    A VM keeps what extensions say, and its run strategy unless its task declares one.
    """
    if declared.manifest["kind"] != VM:
        return declared
    kept: Manifest = {}
    for extension in extensions:
        kept.update(extension.kept(declared.manifest, before))
    if declared.keeps_power:
        kept["runStrategy"] = run_strategy(before)
    if not kept:
        return declared
    return declared._replace(manifest={**declared.manifest, "spec": {**declared.manifest["spec"], **kept}})
