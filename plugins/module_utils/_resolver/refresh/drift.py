"""Whether a VM's captured revisions match its instancetype and preference, and the effect of a refresh."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ..api import managed_fields as ownership
from ..api import release_schema, schema
from ..api.errors import Panic
from ..api.manifest import Manifest, metadata_of
from ..api.matcher import ROLES, Role
from ..api.release import Release, parse_release
from ..api.state import state_of
from ..api.tree import copy, differences
from ..kubevirt.apply import applier
from ..kubevirt.apply.conflict import webhook_message
from ..kubevirt.find import decode, find, lookup, naming
from ..kubevirt.find.lookup import Lookup
from ..kubevirt.vmi import live_update, vmi
from ..kubevirt.vmi.cluster import KubeVirt
from ..kubevirt.vmi.live_update import LIVE, NOTHING, RESTART
from ..kubevirt.vmi.vmi import guest
from ..kubevirt.webhooks.validate import verdict

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


# The newest release that reads revisions of v1alpha1 and v1alpha2.
READS_ALPHA: Final = parse_release("1.6")


class RoleDrift(NamedTuple):
    """The drift of a VM's instancetype or preference.

    state: CURRENT, DRIFTED, GONE, REVISION_LOST, NOT_CAPTURED or UNKNOWN. kind, name: of the object.
    revision: the revision to which the VM refers, or "". pinned: the user pinned it.
    generation: of the captured object. current_generation: of the live object.
    recreated: the live object is a new object of the same name. changes: of the spec, [{field, before, after}].
    captured_at: when the revision was created. changed_at: when the live object last changed. Both as the API server
    writes times, "" if unknown.
    problem: why the state is UNKNOWN, else "".
    object_state, replacement, obsolete_from: of the live object (see `api.state`), "" if there is none.
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
    object_state: str = ""
    replacement: str = ""
    obsolete_from: str = ""


class Effect(NamedTuple):
    """The effect of other specs on a VM.

    guest_before, guest_after: the guest's figures. changes: all fields of the VMI's spec that differ. refusal: why
    KubeVirt would reject the VM, in its words, or None.
    applies_live: a running guest can probably take the changes without a restart.
    """

    guest_before: dict[str, Any]
    guest_after: dict[str, Any]
    changes: tuple[dict[str, Any], ...] = ()
    refusal: str | None = None
    applies_live: bool = True


class Drift(NamedTuple):
    """The drift of a VM.

    parts, captured: of the roles that the VM has. captured: the canonical specs of the captured revisions; None for one
    that cannot be read. effect: of a refresh.
    """

    parts: dict[Role, RoleDrift]
    captured: dict[Role, Manifest | None]
    effect: Effect

    @property
    def drifted(self) -> bool:
        return any(part.state == DRIFTED for part in self.parts.values())


def drift(vm: Manifest, objects: Lookup, kubevirt: KubeVirt) -> Drift:
    """The drift of a VM. objects: looks up ControllerRevisions, instancetypes and preferences."""
    parts, captured, current = {}, {}, {}
    for role in ROLES:
        if matcher := role.matcher_of(vm):
            parts[role], captured[role], current[role] = _role_drift(vm, role, matcher, objects, kubevirt.release)
    return Drift(parts, captured, effect(vm, captured, current, kubevirt))


def effect(
    vm: Manifest,
    before: Mapping[Role, Manifest | None],
    after: Mapping[Role, Manifest | None],
    kubevirt: KubeVirt,
    moved: Manifest | None = None,
) -> Effect:
    """The effect of changing a VM's specs from `before` to `after`.

    vm: a plain manifest. moved: the VM afterwards, if its template changes too.
    """
    before_vmi, refusal = _apply_specs(vm, before, kubevirt)
    # Most VMs of a fleet have not drifted.
    if after != before or moved is not None:
        after_vmi, refusal = _apply_specs(moved or vm, after, kubevirt)
    else:
        after_vmi = before_vmi
    if refusal is not None:
        return Effect(guest(before_vmi), guest(before_vmi), refusal=refusal)
    changes = tuple(differences(before_vmi, after_vmi))
    live = kubevirt.live_updates and (
        not changes or live_update.changes_live(moved or vm, before_vmi, after_vmi, kubevirt)
    )
    return Effect(guest(before_vmi), guest(after_vmi), changes, applies_live=live)


def needs(change: Effect) -> str:
    """The way of a change into a running guest: nothing, live_update or restart."""
    if not change.changes:
        return NOTHING
    return LIVE if change.applies_live else RESTART


def _role_drift(
    vm: Manifest, role: Role, matcher: Manifest, objects: Lookup, release: Release
) -> tuple[RoleDrift, Manifest | None, Manifest | None]:
    """The drift, and the canonical specs: as captured, and as KubeVirt would capture them now."""
    reference = naming.referenced(vm, role, release)
    revision = find.captured(vm, role, objects, release)
    live = find.live(vm, role, objects, release)
    captured = revision_spec(revision.manifest, role, release).spec if revision.manifest is not None else None
    current = None
    if live.manifest is not None:
        current = release_schema.canonical(role.spec_type, live.manifest.get("spec"), release)
    same = captured is not None and current is not None and schema.equal(role.spec_type, captured, current)
    problem = ""
    if not reference.name:
        state = NOT_CAPTURED
    elif captured is None:
        state, problem = _unread(revision.error, REVISION_LOST)
    elif current is None:
        state, problem = _unread(live.error, GONE)
    else:
        state = CURRENT if same else DRIFTED
    data = (revision.manifest or {}).get("data") or {}
    metadata = data.get("metadata") or {}
    live_metadata = (live.manifest or {}).get("metadata") or {}
    part = RoleDrift(
        state=state,
        kind=role.kind_of(matcher) or str(matcher.get("kind")),
        name=str(matcher.get("name", "")),
        revision=reference.name,
        pinned=reference.pinned,
        generation=metadata.get("generation"),
        current_generation=live_metadata.get("generation"),
        recreated=bool(metadata.get("uid") and live_metadata.get("uid") and metadata["uid"] != live_metadata["uid"]),
        changes=tuple(differences(captured, current)) if state == DRIFTED else (),
        captured_at=str(metadata_of(revision.manifest or {}).get("creationTimestamp") or ""),
        changed_at=ownership.changed_at(live.manifest or {}),
        problem=problem,
    )
    if live.manifest is not None:
        object_state = state_of(live.manifest)
        part = part._replace(
            object_state=object_state.name,
            replacement=object_state.replacement,
            obsolete_from=object_state.obsolete_from,
        )
    return part, captured if captured is not None else current, current if current is not None else captured


def _unread(error: lookup.Problem | None, deleted: str) -> tuple[str, str]:
    """The state for a missing or unreadable object, and the reason. deleted: the state for a deleted object."""
    if error is None or error.code == 404:
        return deleted, ""
    return UNKNOWN, error.message


def revision_spec(revision: Manifest, role: Role, release: Release) -> decode.DecodedSpec:
    """The spec in a revision, also in an API version that only older releases read; else the release's error."""
    decoded = decode.spec(revision, role, release)
    if decoded.error is None:
        return decoded
    alpha = decode.spec(revision, role, READS_ALPHA)
    return alpha if alpha.error is None else decoded


def _apply_specs(
    vm: Manifest, specs: Mapping[Role, Manifest | None], kubevirt: KubeVirt
) -> tuple[Manifest, str | None]:
    """The resulting VMI spec, with the disks and the interface that KubeVirt adds; and why KubeVirt would reject the
    VM.
    """
    release = kubevirt.release
    instancetype, preference = (specs.get(role) for role in ROLES)
    template = release_schema.canonical("VirtualMachineInstanceTemplateSpec", vm["spec"].get("template"), release)
    spec: Manifest = template["spec"]
    try:
        found = verdict(copy(template), instancetype, preference, kubevirt)
        # Revisions do not affect whether an interface can be attached.
        vmi.attach(spec, preference, kubevirt)
        applier.apply_in_place(template["metadata"], spec, instancetype, preference, release)
    except Panic as panic:
        return spec, str(panic)
    for disk in spec["domain"]["devices"].get("disks", ()):
        # virt-api adds the disk type to the VMI, a preference with devices adds it to the VM; the guest is the same.
        if not disk.keys() & {"disk", "lun", "cdrom"}:
            disk["disk"] = {}
    if found.conflicts and found.spread is None:
        return spec, webhook_message(found.conflicts, release)
    refusal = found.spread or found.unmet
    return spec, refusal.message if refusal is not None else None
