"""Differences between KubeVirt releases, as values for the resolver's functions.

A `Release` describes the behaviour of a release. `_BEFORE` is the only table of differences, and only this module
compares versions. Which release knows a field is noted at the field (`fields/`, applied by `release_schema`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from .name_rules import quoted

Version = tuple[int, int, int]


class UnknownRelease(ValueError):
    """The text is not a known KubeVirt release; one line with the remedy."""


class Release(NamedTuple):
    """The behaviour of a KubeVirt release. The defaults are the newest release's."""

    # Major, minor and patch.
    version: Version

    # Any `memory` of a VM conflicts, even an empty one.
    any_memory_conflicts: bool = False
    # virt-api's message for the {path} of a conflict, virt-controller's for {paths}.
    conflict_cause: str = "VM field(s) {path} conflicts with selected instance type"
    conflict_list: str = "VM field(s) {paths} conflicts with selected instance type"

    # A machine preference without a type adds a machine without a type.
    leaves_empty_machine: bool = False
    # preferredPanicDeviceModel adds a panic device, instead of only setting the model of existing ones.
    creates_panic_device: bool = True

    # A VM's own guest memory counts for requirements instead of the instancetype's.
    vm_memory_counts: bool = True

    # A VM with a missing instancetype or preference is rejected, instead of only not started.
    refuses_unknown_objects: bool = False
    # A matcher without kind is stored with the cluster-wide one.
    sets_matcher_kind: bool = False
    # virt-api's message for a {field} together with inferFromVolume in a {matcher}, and the type of the cause.
    named_and_inferred: str = "{field} already set, should be cleared before setting inferFromVolume"
    named_and_inferred_type: str = "FieldValueNotSupported"
    # A VolumeSnapshot as the source of a volume may have labels of instancetype and preference.
    infers_from_snapshots: bool = True
    # The VM gets the architecture in the label of a DataSource.
    takes_architecture_of_sources: bool = True
    # An instancetype's launch security is deprecated.
    warns_of_launch_security: bool = True

    # The defaults of expanded VMs set requests.memory.
    requests_guest_memory: bool = False

    # The VM's status names the captured revision, instead of the matcher.
    captures_in_status: bool = True
    # virt-controller crashes when a VM starts whose status names the captured revision of a matcher that it no longer
    # has; patches of 2026 do not (KubeVirt issue 16071).
    crashes_without_matcher: bool = False
    # A captured revision counts only if labelled with the matcher's name.
    checks_captured_name: bool = True
    # Revisions of v1alpha1 and v1alpha2 are read.
    reads_old_revisions: bool = False
    # Instancetypes and preferences may be written as v1alpha1 and v1alpha2.
    serves_old_versions: bool = False

    # Without a rollout strategy, changes reach running guests.
    updates_live_by_default: bool = True
    # With the rollout strategy Stage, volumes wait for a restart, too.
    stages_volumes: bool = False
    # Volumes that a running VM gets wait for a restart, also hotpluggable ones.
    replaces_volumes: bool = False
    # A request plugs a volume only as a disk with the bus scsi.
    plugs_only_scsi: bool = False
    # The condition RestartRequired stays until a restart, also if the change is undone. Until then the guest takes no
    # change but plugged interfaces and volumes.
    keeps_restart_condition: bool = False
    # A pod network that a VM gets waits for a restart.
    restarts_for_pod_network: bool = True

    @property
    def minor_version(self) -> str:
        """``1.9``"""
        return ".".join(map(str, self.version[:2]))

    def has(self, version: str) -> bool:
        """Whether this release has a version (`1.6`) or a later one."""
        return self.version >= _version(version)

    def is_patched(self, versions: str) -> bool:
        """Whether this release is one of the given patches (`1.4.1 1.5.1`) or a later patch of the same minor
        version.
        """
        return any(self.version[:2] == patch[:2] and self.version >= patch for patch in map(_version, versions.split()))


NEWEST: Final = Release((1, 9, 0))
UPCOMING: Final = NEWEST._replace(version=(1, 10, 0))
"""The next release, as its sources were in July 2026."""

# Differences before a release, newest first: a release takes all rows above it, and later rows win.
_BEFORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "1.9.0": {
        "creates_panic_device": False,
        "infers_from_snapshots": False,
        "warns_of_launch_security": False,
    },
    "1.8.0": {
        "crashes_without_matcher": True,
        "keeps_restart_condition": True,
        "restarts_for_pod_network": False,
    },
    "1.7.0": {
        "any_memory_conflicts": True,
        "sets_matcher_kind": True,
        "named_and_inferred": "{field} should not be provided when InferFromVolume is used within the {matcher}",
        "named_and_inferred_type": "FieldValueNotFound",
        "takes_architecture_of_sources": False,
        "reads_old_revisions": True,
        "replaces_volumes": True,
    },
    # 1.6.2 removed the requests of memory, 1.6.3 restored them, 1.6.4 removed them again.
    "1.6.4": {"requests_guest_memory": True},
    "1.6.3": {"requests_guest_memory": False},
    "1.6.2": {"requests_guest_memory": True},
    "1.6.0": {
        "refuses_unknown_objects": True,
        "serves_old_versions": True,
        "updates_live_by_default": False,
        "stages_volumes": True,
        "plugs_only_scsi": True,
    },
    "1.5.2": {"checks_captured_name": False},
    "1.5.1": {"vm_memory_counts": False},
    "1.5.0": {
        "conflict_cause": "VM field {path} conflicts with selected instance type",
        "conflict_list": "VM fields {paths} conflict with selected instance type",
        "leaves_empty_machine": True,
        "captures_in_status": False,
        "crashes_without_matcher": False,
    },
}

_OLDEST: Final = (1, 4, 0)
_VERSION: Final = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:[-+].*)?")


def parse_release(version: str) -> Release:
    """The release for a text such as ``1.6``, ``v1.6.2`` or ``v1.4.0-rc.1``.

    Without a patch number it is the first of its minor version. Releases after the upcoming one behave like that.
    Raises UnknownRelease for other texts and for releases before 1.4.
    """
    remedy = "write 1.4 or later, such as 1.6 or v1.6.2"
    try:
        parsed = _version(version)
    except ValueError:
        raise UnknownRelease(f"{quoted(version)} is not a version of KubeVirt; {remedy}, in quotes") from None
    if parsed < _OLDEST:
        raise UnknownRelease(f"KubeVirt {version} is not supported; {remedy}")
    return _release(parsed)


def parse_known_release(version: str, newest: Release = NEWEST) -> Release:
    """Parses a release that a user names. Raises UnknownRelease like `parse_release`, and for one after `newest`."""
    release = parse_release(version)
    if _version(version)[:2] > newest.version[:2]:
        known = f"{OLDEST.minor_version} to {newest.minor_version}"
        raise UnknownRelease(f"this collection does not know KubeVirt {version}; write {known}, or a patch of these")
    return release


def is_newer(version: str) -> bool:
    """Whether a text such as ``v1.10.0`` means a later minor version than the newest release."""
    try:
        return _version(version)[:2] > NEWEST.version[:2]
    except ValueError:
        return False


def is_older(version: str, than: str) -> bool:
    """Whether a text means an earlier release than another; false if one of them is no version."""
    try:
        return _version(version) < _version(than)
    except ValueError:
        return False


@cache
def _version(text: str) -> Version:
    match = _VERSION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ValueError(text)
    major, minor, patch = match.groups(default="0")
    return int(major), int(minor), int(patch)


@cache
def _release(version: Version) -> Release:
    if version >= UPCOMING.version:
        return UPCOMING
    if version >= NEWEST.version:
        return NEWEST
    return NEWEST._replace(version=version, **differences(_BEFORE, version))


def differences(before: Mapping[str, Mapping[str, Any]], version: Version) -> dict[str, Any]:
    """The rows of a table such as `_BEFORE` that apply to a version."""
    result: dict[str, Any] = {}
    for release, row in before.items():
        if version < _version(release):
            result.update(row)
    return result


OLDEST: Final = _release(_OLDEST)
"""The oldest supported release."""
