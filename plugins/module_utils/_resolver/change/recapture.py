"""The writes that make a VM capture its revisions again, so that one restart applies them, as values.

KubeVirt compares a running guest with the ControllerRevision of its start, which it writes once for each generation of
the VM. A refresh by the status does not change the generation; since KubeVirt 1.7 the condition RestartRequired then
outlives every restart. Therefore the generation is bumped first, by writes that leave the spec unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ..api.keys import REFRESH_ANNOTATION
from ..api.manifest import Manifest
from ..api.matcher import MATCHER_FIELDS, MatcherField
from ..api.tree import reverse_merge_patch
from ..kubevirt.vm.start import start_revision_name
from . import drift
from .drift import Drift, MatcherDrift

# Merge patches that bump a VM's generation by two and leave its spec unchanged.
BUMP_PATCHES: Final[tuple[Manifest, ...]] = tuple(
    {"spec": {"template": {"metadata": {"annotations": {REFRESH_ANNOTATION: value}}}}} for value in ("begun", None)
)
# A dry run of this harmless change shows whether KubeVirt still accepts the VM.
DRY_RUN_PATCH: Final[Manifest] = {"metadata": {"annotations": {REFRESH_ANNOTATION: "dry-run"}}}

_GENERATION: Final = r"-(\d+)$"


def bump_patches(vm: Manifest) -> tuple[Manifest, ...]:
    """The merge patches that bump the generation of a VM: BUMP_PATCHES, or only the second if an interrupted run sent
    the first.
    """
    return BUMP_PATCHES[1:] if is_bump_interrupted(vm) else BUMP_PATCHES


def is_bump_interrupted(vm: Manifest) -> bool:
    """Whether a run was interrupted between the patches that bump the generation of a VM."""
    metadata = vm["spec"].get("template", {}).get("metadata") or {}
    return REFRESH_ANNOTATION in (metadata.get("annotations") or {})


def must_bump_generation(before: Drift) -> bool:
    """Whether a refresh by the status must bump the generation: the guest was started from it, or a bump was
    interrupted.
    """
    return is_bump_interrupted(before.vm) or before.revision(start_revision_name(before.vm)) is not None


def keeps_restart_required(vm: Manifest, start: Manifest | None) -> bool:
    """Whether RestartRequired would outlive a restart, or the annotation of an interrupted run would.

    KubeVirt keeps the start revision of a generation, although the VM has captured other revisions since. start: the
    start revision of the VM's current generation, or None.
    """
    if is_bump_interrupted(vm):
        return True
    if start is None:
        return False
    spec = (start.get("data") or {}).get("spec") or {}
    return any(
        matcher_field.matcher_of(vm)
        and (spec.get(matcher_field.name) or {}).get("revisionName", "") != captured_name(vm, matcher_field)
        for matcher_field in MATCHER_FIELDS
    )


def captured_name(vm: Manifest, matcher_field: MatcherField) -> str:
    """The revision to which a VM refers, by its status or (up to KubeVirt 1.4) its spec; "" for none."""
    reference = matcher_field.reference_of(vm)
    if reference:
        return str((reference.get("controllerRevisionRef") or {}).get("name") or "")
    return str(matcher_field.matcher_or_empty(vm).get("revisionName") or "")


def stale_fields(vm: Manifest, before: Drift, matcher_fields: Iterable[MatcherField]) -> tuple[MatcherField, ...]:
    """The matcher fields of which the VM captured an older generation than the current one.

    virt-controller reads instancetypes and preferences from a cache, which may be behind. before: the drift before the
    refresh.
    """
    return tuple(
        matcher_field
        for matcher_field in matcher_fields
        if (part := before.parts.get(matcher_field))
        and matcher_field.matcher_of(vm)
        and _is_stale(captured_name(vm, matcher_field), part)
    )


def _is_stale(name: str, part: MatcherDrift) -> bool:
    if part.state == drift.DRIFTED and name == part.revision:
        return True
    generation = re.search(_GENERATION, name)
    if generation is None or part.current_generation is None or part.recreated:
        return False
    return int(generation.group(1)) < part.current_generation


def recapture_patch(matcher_fields: Iterable[MatcherField]) -> Manifest:
    """The merge patch of a VM's status that makes virt-controller capture again."""
    return {"status": {matcher_field.reference: {"controllerRevisionRef": None} for matcher_field in matcher_fields}}


def state_before(
    before: Drift, matcher_fields: Iterable[MatcherField], spec: Manifest | None = None
) -> Manifest | None:
    """The state of a VM before a change, {spec, revisions}; None if one of its revisions is lost.

    `spec` is the merge patch of the VM's spec that undoes the change, `revisions` has matcher → captured revision.
    before: the drift before the change. matcher_fields, spec: the changed matchers, and the patch of the spec.
    """
    undone, revisions = reverse_merge_patch(before.vm["spec"], spec or {}), {}
    for matcher_field in matcher_fields:
        part = before.parts.get(matcher_field)
        if part is None or not part.revision or part.state == drift.REVISION_LOST:
            return None
        matcher = matcher_field.matcher_or_empty(before.vm)
        undone[matcher_field.name] = {key: matcher.get(key) for key in ("kind", "name", "revisionName")}
        revisions[matcher_field.name] = part.revision
    return {"spec": undone, "revisions": revisions}


def rollback_patch(previous: Manifest) -> Manifest:
    """The merge patch that gives a VM back its previous state, see `state_before`, and pins it to its revisions."""
    spec = previous["spec"]
    pinned = {matcher: {**spec[matcher], "revisionName": name} for matcher, name in previous["revisions"].items()}
    return {"spec": {**spec, **pinned}}


def pins_to_remove(vm: Manifest, previous: Manifest) -> list[MatcherField]:
    """The matcher fields that `rollback_patch` pins and that had no pin; the VM keeps the revisions without them."""
    return [
        matcher_field
        for matcher_field in MATCHER_FIELDS
        if matcher_field.name in previous["revisions"]
        and matcher_field.reference_of(vm)
        and not previous["spec"][matcher_field.name].get("revisionName")
    ]


def unpin_patch(matcher_fields: Iterable[MatcherField]) -> Manifest:
    """The merge patch that removes pins; the VM keeps the pinned revisions."""
    return {"spec": {matcher_field.name: {"revisionName": None} for matcher_field in matcher_fields}}
