"""What KubeVirt releases do differently, as values that the resolver's functions take.

A `Release` says how a release behaves; `_BEFORE` is the one table of differences and this the one module that compares
versions. Which fields a release knows is noted at the fields (`fields/`, applied by `release_schema`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from .names import shown

Version = tuple[int, int, int]


class UnknownRelease(ValueError):
    """The text names no KubeVirt release whose behaviour is known; one line says what to write."""


class Release(NamedTuple):
    """How a KubeVirt release behaves. The defaults are the newest release's, and so is the reading of each name.

    version: (major, minor, patch).

    CPU topology:
    unknown_topologies: names that later releases know. Preferring one gives a single vCPU.
    spreads_single_vcpu: one vCPU is spread too, which leaves no socket.
    spread_rest_message: what virt-api says of vCPUs that do not divide; "" for the message with numbers.
    spread_needs_instancetype: a spread without instancetype crashes virt-api.

    Conflicts:
    any_memory_conflicts: any `memory` of a VM conflicts, an empty one too.
    conflict_cause: what virt-api says of one path. conflict_list: what virt-controller says of {paths}.
    expand_conflict: what expand-spec says; "" for conflict_list.

    Preferences:
    overrides_boot_settings: preferredUseBiosSerial and preferredUseSecureBoot win over the VM.
    masquerades_any_interface: preferredInterfaceMasquerade does not look at the interface's binding and network.
    gives_every_disk_an_io_thread: preferredDiskDedicatedIoThread does not look at the bus.
    leaves_empty_machine: a machine preference without a type leaves a machine without a type.
    creates_panic_device: preferredPanicDeviceModel gives a VM a panic device, not only a model to those that it has.

    Requirements:
    vm_memory_counts: a VM's own guest memory counts instead of the instancetype's.
    names_spread_by_across: `across` decides what a spread provides, instead of cores and sockets.
    checks_requirements_first: of the VM as it was written, before anything is applied to it.

    Webhooks:
    refuses_unknown_objects: a VM whose instancetype or preference is not there is refused, not just not started.
    sets_matcher_kind: a matcher without kind is stored with the cluster-wide one.
    named_and_inferred, named_and_inferred_type: what virt-api says of a {field} beside inferFromVolume in a {matcher},
    and the type of that cause.
    infers_from_snapshots: a VolumeSnapshot, as the source of a volume, has labels of instancetype and preference too.
    takes_architecture_of_sources: the architecture that a DataSource is labelled with becomes that of the VM.
    storage_class_fields: where in a data volume template the storage class of the preference goes.
    checks_topology_names: preferences with unknown topologies are refused, deprecated names warned of.
    checks_spread_options: preferences with spread options that cannot be are refused.
    warns_of_launch_security: that of an instancetype is deprecated.

    Expand:
    expand_sets_defaults: not only instancetype and preference are applied.
    requests_guest_memory: the defaults set requests.memory.
    finding_needs_kind: the matchers (fields of a VM's spec) whose empty kind is refused.

    Revisions:
    revision_name: of {vm}, {object}, {version}, {uid}, {generation}.
    labels_revisions: a new revision has the labels of its object.
    captures_in_status: the captured revision is named in the VM's status, not in its matcher.
    checks_captured_name: a captured revision counts only if labelled with the matcher's name.
    storing_needs_kind: no revision is stored for a matcher without kind.
    old_revisions: how revisions of v1alpha1 and v1alpha2 are read: "" not at all; "strict", specs only if all their
    fields are known; "lenient", as much of them as is known.
    upgrades_revisions: revisions of older versions are created again.

    Running guests:
    updates_live_by_default: without a rollout strategy changes reach running guests.
    live_update_gate: the feature gate without which none does; "" for none.

    Feature gates:
    gates: those that have to be open for what other releases do without: MULTI_ARCHITECTURE, PERSISTENT_STATE,
    REFERENCE_POLICY.
    """

    version: Version

    unknown_topologies: frozenset[str] = frozenset()
    spreads_single_vcpu: bool = False
    spread_rest_message: str = ""
    spread_needs_instancetype: bool = False

    any_memory_conflicts: bool = False
    conflict_cause: str = "VM field(s) {path} conflicts with selected instance type"
    conflict_list: str = "VM field(s) {paths} conflicts with selected instance type"
    expand_conflict: str = ""

    overrides_boot_settings: bool = False
    masquerades_any_interface: bool = False
    gives_every_disk_an_io_thread: bool = False
    leaves_empty_machine: bool = False
    creates_panic_device: bool = True

    vm_memory_counts: bool = True
    names_spread_by_across: bool = True
    checks_requirements_first: bool = False

    refuses_unknown_objects: bool = False
    sets_matcher_kind: bool = False
    named_and_inferred: str = "{field} already set, should be cleared before setting inferFromVolume"
    named_and_inferred_type: str = "FieldValueNotSupported"
    infers_from_snapshots: bool = True
    takes_architecture_of_sources: bool = True
    storage_class_fields: tuple[str, ...] = ("pvc", "storage")
    checks_topology_names: bool = True
    checks_spread_options: bool = True
    warns_of_launch_security: bool = True

    expand_sets_defaults: bool = True
    requests_guest_memory: bool = False
    finding_needs_kind: frozenset[str] = frozenset()

    revision_name: str = "{vm}-{object}-{version}-{uid}-{generation}"
    labels_revisions: bool = True
    captures_in_status: bool = True
    checks_captured_name: bool = True
    storing_needs_kind: bool = False
    old_revisions: str = ""
    upgrades_revisions: bool = True

    updates_live_by_default: bool = True
    live_update_gate: str = ""

    gates: frozenset[str] = frozenset()

    def has(self, version: str) -> bool:
        """Whether this release is of a version (`1.6`) or later."""
        return self.version >= _version(version)

    def is_patched(self, versions: str) -> bool:
        """Whether this release is one of the given patches (`1.4.1 1.5.1`) or a later one of the same minor version."""
        return any(self.version[:2] == patch[:2] and self.version >= patch for patch in map(_version, versions.split()))


NEWEST: Final = Release((1, 9, 0))

MULTI_ARCHITECTURE: Final = "MultiArchitecture"
PERSISTENT_STATE: Final = "VMPersistentState"
REFERENCE_POLICY: Final = "InstancetypeReferencePolicy"

_SHORT_TOPOLOGIES: Final = frozenset(("sockets", "cores", "threads", "spread", "any"))

# What was different before a release, newest first: a release takes all rows above it, a later row wins.
_BEFORE: Final[tuple[tuple[str, Mapping[str, Any]], ...]] = (
    ("1.9.0", {"creates_panic_device": False, "infers_from_snapshots": False, "warns_of_launch_security": False}),
    ("1.8.0", {"gates": frozenset((MULTI_ARCHITECTURE,))}),
    (
        "1.7.0",
        {
            "any_memory_conflicts": True,
            "sets_matcher_kind": True,
            "named_and_inferred": "{field} should not be provided when InferFromVolume is used within the {matcher}",
            "named_and_inferred_type": "FieldValueNotFound",
            "storing_needs_kind": True,
            "old_revisions": "strict",
        },
    ),
    # The requests of memory went with 1.6.2, were back in 1.6.3, and went again.
    ("1.6.4", {"requests_guest_memory": True}),
    ("1.6.3", {"requests_guest_memory": False}),
    ("1.6.2", {"requests_guest_memory": True}),
    (
        "1.6.0",
        {
            "refuses_unknown_objects": True,
            "takes_architecture_of_sources": False,
            "updates_live_by_default": False,
            "gates": frozenset((MULTI_ARCHITECTURE, PERSISTENT_STATE, REFERENCE_POLICY)),
        },
    ),
    ("1.5.2", {"checks_captured_name": False}),
    ("1.5.1", {"vm_memory_counts": False}),
    (
        "1.5.0",
        {
            "conflict_cause": "VM field {path} conflicts with selected instance type",
            "conflict_list": "VM fields {paths} conflict with selected instance type",
            "leaves_empty_machine": True,
            "captures_in_status": False,
            "live_update_gate": "VMLiveUpdateFeatures",
        },
    ),
    (
        "1.4.0",
        {
            "unknown_topologies": _SHORT_TOPOLOGIES,
            "conflict_list": "VM field conflicts with selected Instancetype: {paths}",
            "checks_topology_names": False,
            "expand_conflict": "cannot expand instancetype to VM",
        },
    ),
    (
        "1.3.1",
        {
            "expand_sets_defaults": False,
            "requests_guest_memory": False,
            "finding_needs_kind": frozenset(("preference",)),
        },
    ),
    (
        "1.3.0",
        {
            "spreads_single_vcpu": True,
            "spread_rest_message": "Instancetype CPU Guest is not divisible by PreferSpreadSocketToCoreRatio",
            "gives_every_disk_an_io_thread": True,
            "names_spread_by_across": False,
            "checks_spread_options": False,
            "revision_name": "{vm}-{object}-{uid}-{generation}",
            "old_revisions": "lenient",
            "upgrades_revisions": False,
        },
    ),
    ("1.2.0", {"spread_needs_instancetype": True}),
    (
        "1.1.0",
        {
            "unknown_topologies": _SHORT_TOPOLOGIES | {"preferSpread", "preferAny"},
            "conflict_cause": "VM field conflicts with selected Instancetype",
            "masquerades_any_interface": True,
        },
    ),
    (
        "1.0.1",
        {
            "overrides_boot_settings": True,
            "checks_requirements_first": True,
            "storage_class_fields": ("pvc",),
            "labels_revisions": False,
        },
    ),
)

_OLDEST: Final = (1, 0, 0)
_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+].*)?")


def of(version: str) -> Release:
    """The release that a text such as ``1.6``, ``v1.6.2`` or ``v1.4.0-rc.1`` names.

    Without a patch number it is the first of its minor version; releases later than the newest known behave like that.
    Raises UnknownRelease for other texts and for releases before 1.0.
    """
    known = "write 1.0 or later, such as 1.6 or v1.6.2"
    try:
        wanted = _version(version)
    except ValueError:
        raise UnknownRelease(f"{shown(version)} is not a version of KubeVirt; {known}, in quotes") from None
    if wanted < _OLDEST:
        raise UnknownRelease(f"KubeVirt {version} is not supported; {known}")
    return _release(wanted)


@cache
def _version(text: str) -> Version:
    match = _VERSION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(text)
    major, minor, patch = match.groups(default="0")
    return int(major), int(minor), int(patch)


@cache
def _release(version: Version) -> Release:
    if version >= NEWEST.version:
        return NEWEST
    return NEWEST._replace(version=version, **differences(_BEFORE, version))


def differences(before: Iterable[tuple[str, Mapping[str, Any]]], version: Version) -> dict[str, Any]:
    """What of a table such as `_BEFORE` holds for a version."""
    found: dict[str, Any] = {}
    for release, row in before:
        if version < _version(release):
            found.update(row)
    return found
