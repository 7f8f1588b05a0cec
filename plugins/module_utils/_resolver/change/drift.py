"""Whether a VM's captured revisions match its instancetype and preference, and the effect of a refresh."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from ..api import managed_fields, records, release_schema, schema
from ..api.errors import KubeVirtError, value_or_none
from ..api.manifest import Manifest, metadata_of, namespace_of
from ..api.matcher import MATCHER_FIELDS, PREFERENCE, MatcherField
from ..api.release import Release
from ..api.state import state_of
from ..api.tree import differences
from ..guest.effect import RESTART, UNREAD_VMI, GuestEffect, MaybeVMI
from ..guest.effect import UNKNOWN as UNKNOWN_EFFECT
from ..guest.predict import guest_effect
from ..kubevirt.admission.apply import apply_and_check
from ..kubevirt.cluster import Cluster, KubeVirt
from ..kubevirt.instancetype import decode, find, revision_names
from ..kubevirt.instancetype.find import Specs
from ..kubevirt.instancetype.lookup import Lookup, get_readable
from ..kubevirt.vm.readiness import has_guest

CURRENT: Final = "current"
DRIFTED: Final = "drifted"
# The object was deleted; the VM keeps its captured revision.
GONE: Final = "gone"
# The revision was deleted: the VM cannot start again.
REVISION_LOST: Final = "revision_lost"
# No revision is captured yet.
NOT_CAPTURED: Final = "not_captured"
# The live object or the revision is unreadable.
UNKNOWN: Final = "unknown"


class MatcherDrift(NamedTuple):
    """The drift of a VM's instancetype or preference.

    state: CURRENT, DRIFTED, GONE, REVISION_LOST, NOT_CAPTURED or UNKNOWN. kind, name: the object.
    revision: the revision to which the VM refers, or "". pinned: the user pinned it.
    generation: the one of the captured object. current_generation: the one of the live object.
    recreated: the live object is a new object of the same name. changes: the changed fields of the spec, [{field,
    before, after}].
    captured_at: the creation time of the revision. changed_at: the time of the last change of the live object. Both as
    the API server writes times, "" if unknown.
    problem: why the state is UNKNOWN, else "".
    expanded: the VM has the values, and their revision in a record.
    object_state, replacement, obsolete_from: the state of the live object (see `api.state`), "" if there is none.
    """

    state: str
    kind: str
    name: str
    revision: str
    pinned: bool
    generation: int | None
    current_generation: int | None
    recreated: bool
    changes: tuple[dict[str, Any], ...]
    captured_at: str
    changed_at: str
    problem: str = ""
    expanded: bool = False
    object_state: str = ""
    replacement: str = ""
    obsolete_from: str = ""

    @property
    def facts(self) -> dict[str, Any]:
        """The fields as results have them: `expanded` only where it is so."""
        return {
            **{name: value for name, value in self._asdict().items() if name != "expanded" or value},
            "changes": list(self.changes),
        }


class Drift(NamedTuple):
    """The drift of a VM.

    vm, vmi, cluster: the VM, its VMI, and what it was judged by. parts, captured, current: values by the matcher fields
    that the VM has. captured, current: the canonical specs of the captured revisions, and as KubeVirt would capture
    them now; None for one that cannot be read. pending: earlier changes that the guest lacks. effect: the effect of
    a refresh. own_revisions, revisions: the ControllerRevisions that the VM owns, and all of its namespace; () unless
    they have been listed.
    """

    vm: Manifest
    vmi: MaybeVMI
    cluster: Cluster
    parts: dict[MatcherField, MatcherDrift]
    captured: dict[MatcherField, Manifest | None]
    current: dict[MatcherField, Manifest | None]
    pending: GuestEffect
    effect: GuestEffect
    own_revisions: Sequence[Manifest] = ()
    revisions: Sequence[Manifest] = ()

    @property
    def drifted(self) -> bool:
        return any(part.state == DRIFTED for part in self.parts.values())

    @property
    def namespace(self) -> str:
        return str(self.vm["metadata"]["namespace"])

    @property
    def name(self) -> str:
        return str(self.vm["metadata"]["name"])

    @property
    def label(self) -> str:
        return f"{self.namespace}/{self.name}"

    def revision(self, name: str) -> Manifest | None:
        """A ControllerRevision of its namespace; None if there is none or the user may not read it."""
        return get_readable(self.cluster.objects, "ControllerRevision", self.namespace, name)

    @property
    def applied_specs(self) -> dict[MatcherField, Manifest | None]:
        """The captured specs that KubeVirt applies; it does not apply specs whose values the VM has itself."""
        return records.of_revisions(self.vm, self.captured)

    @property
    def known_vmi(self) -> Manifest | None:
        """The VMI; None if there is none or the user may not read it."""
        return None if self.vmi is UNREAD_VMI else self.vmi

    @property
    def restart_required(self) -> bool:
        """Whether the guest needs a restart to match the VM."""
        return self.pending.needs == RESTART

    @property
    def restart_reason(self) -> str:
        """Why the guest needs a restart, or why KubeVirt asks for one; "" for neither."""
        return self.pending.reason

    @property
    def guest_current(self) -> bool | None:
        """Whether the guest has everything that the VM declares; None without a guest, or if it is unknown."""
        return self.pending.guest_current if self.known_vmi is not None and has_guest(self.vm) else None


def drift(vm: Manifest, vmi: MaybeVMI, cluster: Cluster) -> Drift:
    """The drift of a VM.

    vmi: its VMI, see `guest.effect`. cluster: the objects in it include ControllerRevisions, instancetypes and
    preferences.
    """
    parts, captured, current = {}, {}, {}
    for matcher_field in MATCHER_FIELDS:
        if (matcher := matcher_field.named_in(vm)) or matcher_field.recorded_in(vm) is not None:
            parts[matcher_field], captured[matcher_field], current[matcher_field] = _matcher_drift(
                vm, matcher_field, matcher or {}, cluster.objects, cluster.release
            )
    readable = all(part.state in (CURRENT, DRIFTED, GONE) for part in parts.values())
    pending = guest_effect(vm, vm, vmi, cluster, records.of_revisions(vm, captured) if readable else None)
    before = Drift(vm, vmi, cluster, parts, captured, current, pending, pending)
    return before._replace(effect=refresh_effect(before, tuple(parts)))


def refresh_effect(before: Drift, matcher_fields: Iterable[MatcherField]) -> GuestEffect:
    """The effect of a refresh of some matcher fields."""
    refreshed = {
        matcher_field
        for matcher_field in matcher_fields
        if before.current[matcher_field] != before.captured[matcher_field]
    }
    lost = before.pending.needs == UNKNOWN_EFFECT
    if not refreshed and not lost:
        refusal = _refusal(before.vm, before.captured, before.cluster.kubevirt)
        return before.pending if refusal is None else before.pending._replace(refusal=refusal)
    specs = {
        matcher_field: before.current[matcher_field] if matcher_field in refreshed else spec
        for matcher_field, spec in before.captured.items()
    }
    after = revision_names.without_revisions(before.vm, before.parts)
    if any(before.parts[matcher_field].expanded for matcher_field in refreshed):
        try:
            after = reexpanded(before, refreshed)
        except KubeVirtError as error:
            return before.pending._replace(refusal=error.message)
    return effect_of(before, after, specs)


def reexpanded(before: Drift, matcher_fields: Iterable[MatcherField]) -> Manifest:
    """An expanded VM with the values of the current objects of some matcher fields.

    Raises KubeVirtError as KubeVirt refuses the VM with them.
    """
    from ..declare import expanded

    objects = {}
    for matcher_field, part in before.parts.items():
        if part.expanded:
            matcher = matcher_field.named_in(before.vm) or {}
            lookup = before.cluster.objects
            objects[matcher_field] = (
                find.named_object(matcher_field, matcher, before.namespace, lookup)
                if matcher_field in matcher_fields
                else matcher_field.recorded_in(before.vm) or {}
            )
    named = None
    if PREFERENCE in before.parts and PREFERENCE not in objects:
        named = (before.current if PREFERENCE in matcher_fields else before.captured)[PREFERENCE]
    return expanded.reexpanded(before.vm, objects, before.cluster.kubevirt, named)


def effect_of(before: Drift, after: Manifest, specs: Specs) -> GuestEffect:
    """The effect of a change of a VM and of its revisions; if KubeVirt would reject the VM, the effect of no change.

    after: the VM afterwards, a plain manifest. specs: the specs of its revisions afterwards.
    """
    refusal = _refusal(after, specs, before.cluster.kubevirt)
    if refusal is not None:
        return before.pending._replace(refusal=refusal)
    specs = records.of_revisions(after, specs)
    return guest_effect(before.vm, after, before.vmi, before.cluster, before.applied_specs, specs)


def _matcher_drift(
    vm: Manifest, matcher_field: MatcherField, matcher: Manifest, objects: Lookup, release: Release
) -> tuple[MatcherDrift, Manifest | None, Manifest | None]:
    """The drift, and the canonical specs: the captured ones, and the ones that KubeVirt would capture now."""
    reference = revision_names.referenced_revision(vm, matcher_field, release)
    revision, revision_error = records.revision_of(vm, matcher_field), None
    is_expanded = revision is not None
    if not is_expanded:
        revision, revision_error = _found(find.captured_revision, vm, matcher_field, objects, release)
    live, live_error = _found(find.named_object, matcher_field, matcher, namespace_of(vm), objects)
    captured = value_or_none(revision_spec, revision, matcher_field, release) if revision is not None else None
    current = None
    if live is not None:
        current = release_schema.canonical(matcher_field.spec_type, live.get("spec"), release)
    same = captured is not None and current is not None and schema.equal(matcher_field.spec_type, captured, current)
    problem = ""
    if is_expanded and captured is None:
        state, problem = UNKNOWN, f"the annotation {matcher_field.record} is unreadable"
    elif not is_expanded and not reference.name:
        state = NOT_CAPTURED
    elif captured is None:
        state, problem = _unread(revision_error, REVISION_LOST)
    elif current is None:
        state, problem = _unread(live_error, GONE)
    else:
        state = CURRENT if same else DRIFTED
    data = (revision or {}).get("data") or {}
    metadata = data.get("metadata") or {}
    live_metadata = (live or {}).get("metadata") or {}
    part = MatcherDrift(
        state=state,
        kind=matcher_field.kind_of(matcher) or str(matcher.get("kind")),
        name=str(matcher.get("name", "")),
        revision="" if is_expanded else reference.name,
        pinned=reference.pinned,
        generation=metadata.get("generation"),
        current_generation=live_metadata.get("generation"),
        recreated=bool(metadata.get("uid") and live_metadata.get("uid") and metadata["uid"] != live_metadata["uid"]),
        changes=tuple(differences(captured, current)) if state == DRIFTED else (),
        captured_at=str(metadata_of(revision or {}).get("creationTimestamp") or ""),
        changed_at=managed_fields.changed_at(live or {}),
        problem=problem,
        expanded=is_expanded,
    )
    if live is not None:
        object_state = state_of(live)
        part = part._replace(
            object_state=object_state.name,
            replacement=object_state.replacement,
            obsolete_from=object_state.obsolete_from,
        )
    return part, captured if captured is not None else current, current if current is not None else captured


def _found(read: Callable[..., Manifest | None], *arguments: Any) -> tuple[Manifest | None, KubeVirtError | None]:
    """The object that a function of `find` returns, and its error."""
    try:
        return read(*arguments), None
    except KubeVirtError as error:
        return None, error


def _unread(error: KubeVirtError | None, deleted: str) -> tuple[str, str]:
    """The state for a missing or unreadable object, and the reason. deleted: the state for a deleted object."""
    if error is None or error.code == 404:
        return deleted, ""
    return UNKNOWN, error.message


def revision_spec(revision: Manifest, matcher_field: MatcherField, release: Release) -> Manifest:
    """The spec in a revision, also in an API version that only older releases read. Raises KubeVirtError."""
    try:
        return decode.spec(revision, matcher_field, release)
    except KubeVirtError:
        alpha = value_or_none(decode.spec, revision, matcher_field, decode.READS_ALPHA)
        if alpha is None:
            raise
        return alpha


def _refusal(vm: Manifest, specs: Specs, kubevirt: KubeVirt) -> str | None:
    """Why KubeVirt would reject a VM with these specs, in its words; or None."""
    release = kubevirt.release
    named = records.of_revisions(vm, specs)
    instancetype, preference = (named.get(matcher_field) for matcher_field in MATCHER_FIELDS)
    template = release_schema.canonical("VirtualMachineInstanceTemplateSpec", vm["spec"].get("template"), release)
    try:
        apply_and_check(template, instancetype, preference, kubevirt)
    except KubeVirtError as error:
        return error.message
    return None
