"""VMs whose instancetype or preference KubeVirt no longer finds: it leaves their guests as they are.

virt-controller looks for both before it handles the power state, so that it does not even stop such a VM (KubeVirt 1.5
and later); earlier releases look at the start.
"""

from __future__ import annotations

from typing import Final

from ..api import behaviour
from ..api.errors import KubeVirtError
from ..api.manifest import Manifest
from ..api.matcher import MATCHER_FIELDS, MatcherField
from ..api.release import Release
from ..kubevirt.instancetype import find, revision_names
from ..kubevirt.instancetype.lookup import Lookup

_NOT_FOUND: Final = 404
_REFRESH: Final = "refresh the VM (controller_revision, state: refreshed)"


def lost_revision(vm: Manifest, matcher_field: MatcherField, lookup: Lookup, release: Release) -> str | None:
    """The line about the revision that a VM in the cluster captured, or names, and that is gone; None if it is not.

    A revision that the VM only names counts as captured: up to KubeVirt 1.4 it is, and a backup may restore it.
    """
    try:
        find.captured_revision(vm, matcher_field, lookup, release)
        return None
    except KubeVirtError as error:
        if error.code != _NOT_FOUND:
            return None
    name = revision_names.referenced_revision(vm, matcher_field, release).name
    powerless = (
        "neither start, stop nor restart the VM"
        if release.has(behaviour.CAPTURES_IN_STATUS)
        else "not start the VM again"
    )
    field = f"spec.{matcher_field.name}"
    return f"{field}: the captured revision {name} was deleted, so KubeVirt can {powerless}; {_REFRESH}"


def power_problem(vm: Manifest, lookup: Lookup, release: Release) -> str | None:
    """Why KubeVirt will not start, stop or restart a VM in the cluster, with the remedy; None if it will.

    An object that cannot be read is no problem.
    """
    for matcher_field in MATCHER_FIELDS:
        if text := lost_revision(vm, matcher_field, lookup, release):
            return text
        try:
            if find.captured_revision(vm, matcher_field, lookup, release) is None:
                find.live_object(vm, matcher_field, lookup)
        except KubeVirtError as error:
            if error.code == _NOT_FOUND:
                return f"spec.{matcher_field.name}.name: {error.message}; create it, or declare the VM with another"
    return None
