"""The writes that give a VM other revisions (refresh, pin, unpin), as values. `_cluster` sends them.

KubeVirt 1.5 and later: the VM's status refers to the captured revision. A revisionName in the spec overrides it and is
copied to the status; removing the revisionName keeps the pinned revision. virt-controller captures again only after the
reference is cleared. Up to 1.4: the spec names the captured revision, and removing the name captures again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ..api.errors import KubeVirtError, value_or_none
from ..api.manifest import Manifest, labels_of
from ..api.matcher import MATCHER_FIELDS, MatcherField
from ..api.tree import apply_merge_patch, merge_patch_between
from ..guest.effect import GuestEffect
from ..kubevirt.instancetype import decode, revision_names
from ..kubevirt.instancetype.revision_names import generation_of
from . import drift
from .drift import Drift

PREVIOUS: Final = "previous"
CURRENT: Final = "current"
EXPANDED: Final = (
    "the VM has expanded sizes, which have no ControllerRevision; declare it with virtual_machine to change its"
    " instancetype or preference"
)


class RevisionChange(NamedTuple):
    """A change of a VM's revisions.

    matcher_fields: the matchers that change. spec: a merge patch of the VM's spec, or None.
    recapture: whether virt-controller is to capture again what `spec` does not name.
    effect: the effect on the guest. refusal: one line that says why the change is impossible. unmet: because something
    does not exist or was not done yet, which an earlier task of a play may do.
    expected: matcher → the revision name afterwards, if known.
    afterwards: a merge patch of the VM's spec once virt-controller has captured the revisions, or None.
    previous: the state before the change, see `recapture.state_before`; None unless the VM moves.
    annotations: the annotations that change with the spec of an expanded VM.
    """

    matcher_fields: tuple[MatcherField, ...] = ()
    spec: Manifest | None = None
    recapture: bool = False
    effect: GuestEffect | None = None
    refusal: str | None = None
    expected: dict[str, str] | None = None
    afterwards: Manifest | None = None
    previous: Manifest | None = None
    unmet: bool = False
    annotations: Manifest | None = None

    @property
    def due(self) -> bool:
        return bool(self.matcher_fields or self.spec) and self.refusal is None


def refresh(before: Drift, matcher_fields: Iterable[MatcherField]) -> RevisionChange:
    """Captures the current generation of drifted objects, and of objects whose revision was lost."""
    states = (drift.DRIFTED, drift.REVISION_LOST)
    outdated = {
        matcher_field: part
        for matcher_field, part in before.parts.items()
        if matcher_field in matcher_fields and part.state in states
    }
    due = tuple(outdated)
    if not due:
        return RevisionChange()
    effect = before.effect if len(due) == len(before.parts) else drift.refresh_effect(before, due)
    if effect.refusal:
        return RevisionChange(due, refusal=f"KubeVirt would reject the VM after a refresh: {effect.refusal}")
    if any(part.expanded for part in outdated.values()):
        return _expanded_again(before, due, effect)
    pinned = [matcher_field for matcher_field, part in outdated.items() if part.pinned]
    if any(matcher_field.reference_of(before.vm) for matcher_field in pinned):
        text = "the VM is pinned by revisionName; unpin it first (state: unpinned)"
        return RevisionChange(due, refusal=text, unmet=True)
    # Without a reference in the status the VM follows KubeVirt up to 1.4.
    spec = {matcher_field.name: {"revisionName": None} for matcher_field in pinned}
    return RevisionChange(due, spec or None, recapture=len(pinned) < len(due), effect=effect)


def _expanded_again(before: Drift, due: tuple[MatcherField, ...], effect: GuestEffect) -> RevisionChange:
    """Writes the values of the current objects to an expanded VM, and records them.

    The status of a VM that named them before refers to their revisions, which its names would bring back.
    """
    patch = merge_patch_between(before.vm, drift.reexpanded(before, due))
    annotations = patch["metadata"]["annotations"]
    recapture = any(matcher_field.reference_of(before.vm).get("controllerRevisionRef") for matcher_field in due)
    return RevisionChange(due, patch.get("spec", {}), recapture, effect, annotations=annotations)


def pin(before: Drift, matcher_fields: Iterable[MatcherField], requested: str | Mapping[str, str]) -> RevisionChange:
    """Pins a VM to a named revision, to its previous revisions (PREVIOUS), to its present revisions (CURRENT), or to a
    revision for each matcher.

    requested: a name, PREVIOUS, CURRENT, or matcher → name; all names of a mapping must be valid.
    """
    vm, release = before.vm, before.cluster.release
    if any(part.expanded for part in before.parts.values()):
        return RevisionChange(tuple(before.parts), refusal=EXPANDED, unmet=True)
    targets, refusal = _targets(before, matcher_fields, requested)
    if refusal is not None:
        return refusal
    names = {matcher_field: target["metadata"]["name"] for matcher_field, target in targets.items()}
    due = tuple(
        matcher_field
        for matcher_field in targets
        if matcher_field.matcher_or_empty(vm).get("revisionName") != names[matcher_field]
    )
    if not due:
        return RevisionChange()
    specs = dict(before.captured)
    for matcher_field in due:
        try:
            specs[matcher_field] = decode.spec(targets[matcher_field], matcher_field, release)
        except KubeVirtError as error:
            return RevisionChange(due, refusal=f"cannot read the revision {names[matcher_field]}: {error.message}")
    spec = {matcher_field.name: {"revisionName": names[matcher_field]} for matcher_field in due}
    pinned = {**vm, "spec": apply_merge_patch(vm["spec"], spec)}
    effect = drift.effect_of(before, pinned, specs)
    if effect.refusal:
        return RevisionChange(due, refusal=f"KubeVirt would reject the VM with that revision: {effect.refusal}")
    return RevisionChange(
        due, spec, effect=effect, expected={matcher_field.name: names[matcher_field] for matcher_field in due}
    )


def _targets(
    before: Drift, matcher_fields: Iterable[MatcherField], requested: str | Mapping[str, str]
) -> tuple[dict[MatcherField, Manifest], RevisionChange | None]:
    """The revisions to pin, or the refusal."""
    targets: dict[MatcherField, Manifest] = {}
    vm, release = before.vm, before.cluster.release
    for matcher_field in matcher_fields:
        name = requested if isinstance(requested, str) else requested.get(matcher_field.name)
        if not name or not matcher_field.matcher_of(vm):
            continue
        if name == CURRENT:
            name = revision_names.referenced_revision(vm, matcher_field, release).name
        target = _previous(before, matcher_field) if name == PREVIOUS else _named(before, name, matcher_field)
        if target is not None:
            targets[matcher_field] = target
        elif not isinstance(requested, str):
            text = f"the VM's {matcher_field.name} has no revision {name}"
            return {}, RevisionChange((matcher_field,), refusal=text, unmet=True)
    refused = RevisionChange(MATCHER_FIELDS, refusal=_nothing_to_pin(requested), unmet=True)
    return targets, None if targets else refused


def _nothing_to_pin(requested: str | Mapping[str, str]) -> str:
    if requested == PREVIOUS:
        return "the VM has no earlier revision"
    if requested == CURRENT:
        return "the VM has not captured its revisions yet"
    if not isinstance(requested, str):
        return "no given revision belongs to the instancetype or preference of the VM"
    return f"the VM's instancetype and preference have no revision {requested}"


def unpin(vm: Manifest, matcher_fields: Iterable[MatcherField]) -> RevisionChange:
    """Removes the pins; the VM keeps the pinned revisions until it is refreshed."""
    pinned = [
        matcher_field for matcher_field in matcher_fields if matcher_field.matcher_or_empty(vm).get("revisionName")
    ]
    if not pinned:
        return RevisionChange()
    if not all(matcher_field.reference_of(vm) for matcher_field in pinned):
        text = (
            "up to KubeVirt 1.4 the VM has its revision in spec, and to remove it captures a new one; use"
            " state: refreshed"
        )
        return RevisionChange(tuple(pinned), refusal=text)
    expected = {matcher_field.name: matcher_field.matcher_or_empty(vm)["revisionName"] for matcher_field in pinned}
    return RevisionChange(
        tuple(pinned), {matcher_field.name: {"revisionName": None} for matcher_field in pinned}, expected=expected
    )


def _previous(before: Drift, matcher_field: MatcherField) -> Manifest | None:
    """The revision before the newest that the VM has captured; or its present revision, if that is even older.

    The result does not depend on the present revision, so that a second rollback does not go further back.
    """
    matcher = matcher_field.matcher_or_empty(before.vm)
    own = [
        revision
        for revision in before.own_revisions
        if labels_of(revision).get(revision_names.NAME_LABEL) == matcher.get("name")
        and labels_of(revision).get(revision_names.KIND_LABEL) == matcher_field.kind_of(matcher)
    ]
    own.sort(key=generation_of)
    names = [revision["metadata"]["name"] for revision in own]
    current = revision_names.referenced_revision(before.vm, matcher_field).name
    if len(own) < 2 or current not in names:
        return None
    return own[min(len(own) - 2, names.index(current))]


def _named(before: Drift, name: str, matcher_field: MatcherField) -> Manifest | None:
    revision = before.revision(name)
    if revision is None or value_or_none(decode.spec, revision, matcher_field, before.cluster.release) is None:
        return None
    return revision
