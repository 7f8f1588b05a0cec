"""Moves of VMs to another instancetype, preference or template, and the way back, as values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from ..api import release_schema, schema
from ..api.errors import FieldError, KubeVirtError, value_or_none
from ..api.manifest import Manifest
from ..api.matcher import MATCHER_FIELDS, MatcherField
from ..api.name_rules import did_you_mean
from ..api.release import Release
from ..api.state import OBSOLETE, state_of
from ..api.tree import apply_merge_patch
from ..api.type_remedies import type_remedy
from ..kubevirt.cluster import Cluster
from ..kubevirt.instancetype import decode, find
from ..kubevirt.instancetype.lookup import Lookup
from . import drift, recapture
from .drift import Drift
from .revision_change import EXPANDED, RevisionChange

DEPRECATED: Final = "deprecated"
"""Instead of names: to the replacements that deprecated and obsolete objects name."""

_TEMPLATE: Final = "VirtualMachineInstanceTemplateSpec"
_NOT_FOUND: Final = 404
_UNREADY: Final = {
    drift.NOT_CAPTURED: "KubeVirt has not captured its {} yet; try again later",
    drift.REVISION_LOST: "it has lost the revision of its {}, so that there is no way back; refresh it first",
}


class _Refused(Exception):
    """Why a VM cannot move, on one line. unmet: see RevisionChange."""

    def __init__(self, text: str, unmet: bool = False) -> None:
        super().__init__(text)
        self.unmet = unmet


def move(
    before: Drift,
    matcher_fields: Iterable[MatcherField],
    replace: Mapping[str, str] | Mapping[MatcherField, str] | str | None,
    patch: Manifest | None,
) -> RevisionChange:
    """Gives a VM other objects and another template.

    matcher_fields: the matcher fields that may change. replace: name, or matcher field → name of the object instead, of
    the same kind; or DEPRECATED. patch: a merge patch of the template.
    """
    vm, cluster = before.vm, before.cluster
    spec: Manifest = {}
    after = dict(before.captured)
    due: list[MatcherField] = []
    try:
        for matcher_field, part in before.parts.items():
            if not replace or matcher_field not in matcher_fields:
                continue
            target = _target(vm, matcher_field, replace, cluster.objects)
            if target == part.name:
                continue
            due.append(matcher_field)
            if part.expanded:
                raise _Refused(EXPANDED)
            spec[matcher_field.name] = {"name": target, "revisionName": None}
            after[matcher_field] = _target_spec(vm, matcher_field, target, cluster)
            if part.state == drift.UNKNOWN:
                raise _Refused(f"{part.kind} {part.name} cannot be read: {part.problem}")
            if part.state in _UNREADY:
                raise _Refused(_UNREADY[part.state].format(matcher_field.name), unmet=True)
        if patch and _changes(vm["spec"].get("template") or {}, patch, cluster.release):
            spec["template"] = patch
    except _Refused as refusal:
        return RevisionChange(tuple(due) or MATCHER_FIELDS, refusal=str(refusal), unmet=refusal.unmet)
    if not spec:
        return RevisionChange()
    change = RevisionChange(tuple(due), spec, previous=recapture.state_before(before, due, spec))
    return _with_effect(change, before, after)


def restore(before: Drift, previous_state: Manifest) -> RevisionChange:
    """Gives a VM back its matchers, their revisions and the patched fields from before a move.

    previous_state: `RevisionChange.previous` of the move.
    """
    vm = before.vm
    names: dict[str, str] = previous_state["revisions"]
    due = tuple(matcher_field for matcher_field in MATCHER_FIELDS if matcher_field.name in names)
    same = all(recapture.captured_name(vm, matcher_field) == names[matcher_field.name] for matcher_field in due)
    if same and apply_merge_patch(vm["spec"], previous_state["spec"]) == vm["spec"]:
        return RevisionChange()
    after = dict(before.captured)
    for matcher_field in due:
        name = names[matcher_field.name]
        revision = before.revision(name)
        if revision is None:
            return RevisionChange(due, refusal=f"the previous revision {name} does not exist any more")
        try:
            after[matcher_field] = decode.spec(revision, matcher_field, before.cluster.release)
        except KubeVirtError as error:
            return RevisionChange(due, refusal=f"cannot read the revision {name}: {error.message}")
    spec = recapture.rollback_patch(previous_state)["spec"]
    pins = recapture.pins_to_remove(vm, previous_state)
    afterwards = recapture.unpin_patch(pins) if pins else None
    change = RevisionChange(due, spec, expected=names, afterwards=afterwards)
    return _with_effect(change, before, after)


def patch_problem(patch: Manifest, release: Release) -> str:
    """Says what is wrong with a patch of a template, and in which field; "" if nothing is.

    Nulls remove fields. Volumes are not for a patch, which would replace the whole list in all VMs.
    """
    if isinstance(patch.get("spec"), dict) and "volumes" in patch["spec"]:
        return "spec.volumes: a patch would replace the whole list; declare the VMs with virtual_machine instead"
    for field in release_schema.unknown(_TEMPLATE, patch, release):
        return f"{field.path}: this KubeVirt has no such field{did_you_mean(field.name, schema.TYPES[field.type_name])}"
    try:
        schema.as_declared(_TEMPLATE, patch)
    except FieldError as error:
        return f"{error}{type_remedy(error.reason)}"
    return ""


def _target(vm: Manifest, matcher_field: MatcherField, replace: Mapping[Any, str] | str, objects: Lookup) -> str:
    """The name of the object that a VM gets, which may be the one that it has."""
    names = [str((matcher_field.named_in(vm) or {}).get("name", ""))]
    while True:
        name = names[-1]
        if replace == DEPRECATED:
            manifest = value_or_none(find.live_object, _with_name(vm, matcher_field, name), matcher_field, objects)
            target = state_of(manifest or {}).replacement
        else:
            target = replace.get(matcher_field) or replace.get(name, "") if isinstance(replace, Mapping) else ""
        if not target or target == name:
            return name
        if target in names:
            raise _Refused(f"the replacements are a cycle: {' > '.join((*names, target))}; remove one of them")
        names.append(target)


def _target_spec(vm: Manifest, matcher_field: MatcherField, name: str, cluster: Cluster) -> Manifest | None:
    """The canonical spec of the object instead."""
    try:
        target = find.live_object(_with_name(vm, matcher_field, name), matcher_field, cluster.objects) or {}
    except KubeVirtError as error:
        raise _Refused(f"the replacement {name} cannot be read: {error.message}", error.code == _NOT_FOUND) from error
    if state_of(target).name == OBSOLETE:
        raise _Refused(f"the replacement {name} is obsolete; name another {matcher_field.name}")
    return release_schema.canonical(matcher_field.spec_type, target.get("spec"), cluster.release)


def _with_name(vm: Manifest, matcher_field: MatcherField, name: str) -> Manifest:
    matcher = {**(matcher_field.named_in(vm) or {}), "name": name}
    return {**vm, "spec": {**vm["spec"], matcher_field.name: matcher}}


def _changes(template: Manifest, patch: Manifest, release: Release) -> bool:
    """Whether a patch changes a template."""
    try:
        before, after = (
            release_schema.canonical(_TEMPLATE, value, release)
            for value in (template, apply_merge_patch(template, patch))
        )
    except FieldError as error:
        raise _Refused(f"the patch does not fit the VM: {error}") from error
    return not schema.equal(_TEMPLATE, before, after)


def _with_effect(
    change: RevisionChange, before: Drift, after: Mapping[MatcherField, Manifest | None]
) -> RevisionChange:
    """The change with its effect, or with KubeVirt's refusal."""
    moved = {**before.vm, "spec": apply_merge_patch(before.vm["spec"], change.spec or {})}
    effect = drift.effect_of(before, moved, after)
    if effect.refusal:
        return RevisionChange(
            change.matcher_fields or MATCHER_FIELDS, refusal=f"KubeVirt would reject the VM: {effect.refusal}"
        )
    return change._replace(effect=effect)
