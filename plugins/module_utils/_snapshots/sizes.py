"""The revisions of a VM before it is copied, and of its copy."""

from __future__ import annotations

from collections.abc import Mapping

from .._resolver.api.manifest import Manifest, Progress
from .._resolver.api.matcher import MATCHER_FIELDS, MatcherField
from .._resolver.change import move, revision_change
from .._resolver.change.controller_revisions import is_captured
from .._resolver.change.drift import Drift
from .._resolver.change.recapture import captured_name
from .._resolver.change.revision_change import RevisionChange
from .._resolver.change.step import state_until

Sizes = Mapping[MatcherField, str]
"""Matcher → the name of the object that a copy gets instead."""


def pinned(vm: Drift) -> RevisionChange:
    """Pins the revisions of a stopped VM. KubeVirt copies its spec, but names them in its status alone; the copy of a
    running VM has the revisions of the guest's start.
    """
    matchers = [matcher for field in MATCHER_FIELDS if (matcher := field.matcher_of(vm.vm))]
    if (vm.vm.get("status") or {}).get("created") or all(matcher.get("revisionName") for matcher in matchers):
        return RevisionChange()
    return revision_change.pin(vm, MATCHER_FIELDS, revision_change.CURRENT)


def resized(vm: Drift, sizes: Sizes) -> RevisionChange:
    """Gives a VM other objects of the kinds that it has."""
    lacking = [field.name for field in sizes if field not in vm.parts]
    if lacking:
        return RevisionChange(refusal=f"{lacking[0]}: the VM has none that another could replace; leave the option out")
    return move.move(vm, sizes, sizes, None)


def capture_progress(vm: Manifest | None) -> Progress:
    """Whether KubeVirt has captured the revisions of a VM."""
    done = vm is not None and all(is_captured(vm, field) for field in MATCHER_FIELDS)
    return state_until(lambda _live: done, vm, "KubeVirt to capture the revisions")


def captured(vm: Manifest) -> dict[str, str]:
    """The revisions of a VM by matcher."""
    return {field.name: captured_name(vm, field) for field in MATCHER_FIELDS if field.matcher_of(vm)}
