"""A VM with its instancetype and preference applied, without matchers (KubeVirt ``pkg/instancetype/expand``)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ...api import release_schema
from ...api.errors import FieldError, Panic
from ...api.manifest import Manifest
from ...api.matcher import INSTANCETYPE, PREFERENCE, ROLES
from ..apply import applier, conflict
from ..config.cluster import Cluster, KubeVirt
from ..find import find
from ..find import revision_store as revision
from ..find.lookup import PANIC, Problem
from . import defaults


class Expanded(NamedTuple):
    """An expanded VM.

    vm: the canonical VM; None with an error.
    conflicts: full paths of the VM's fields that its instancetype does not permit; the error names them too.
    """

    vm: Manifest | None = None
    error: Problem | None = None
    conflicts: tuple[str, ...] = ()


def expand(vm: Manifest, cluster: Cluster) -> Expanded:
    """The VM as expand-spec returns it. vm: a plain manifest.

    A VM without matchers only becomes canonical. Like KubeVirt, does not check the preference's requirements or whether
    a spread divides.
    """
    try:
        vm = release_schema.canonical("VirtualMachine", vm, cluster.release)
    except FieldError as error:
        return Expanded(error=Problem(str(error), "BadRequest", 400))
    template = vm["spec"]["template"]
    if all(role.matcher_of(vm) is None for role in ROLES):
        if template is not None:
            template["spec"] = revision.as_written(template["spec"])
        return Expanded(vm)
    instancetype = find.spec(vm, INSTANCETYPE, cluster.objects, cluster.release)
    preference = find.spec(vm, PREFERENCE, cluster.objects, cluster.release)
    problem = instancetype.error or preference.error
    if problem is not None:
        return Expanded(error=problem)
    if template is None:
        return Expanded(error=Problem("the VirtualMachine has no template", PANIC))
    failed = fill(template, instancetype.spec, preference.spec, cluster.kubevirt)
    if failed is not None:
        return failed
    for role in ROLES:
        vm["spec"].pop(role.matcher, None)
        vm["status"].pop(role.reference, None)
    return Expanded(vm)


def fill_new(
    template: Manifest, instancetype: Manifest | None, preference: Manifest | None, kubevirt: KubeVirt
) -> Problem | None:
    """Like `fill`, for the VMI of a new VM: with the defaults that expand-spec leaves out."""
    release = kubevirt.release
    stores_request = release.requests_guest_memory or not release.expand_sets_defaults
    creating = release._replace(expand_sets_defaults=True, requests_guest_memory=stores_request)
    failed = fill(template, instancetype, preference, replace(kubevirt, release=creating))
    return failed.error if failed is not None else None


def fill(
    template: Manifest, instancetype: Manifest | None, preference: Manifest | None, kubevirt: KubeVirt
) -> Expanded | None:
    """Applies instancetype, preference and defaults to a VM's canonical template.

    instancetype, preference: canonical specs or None. Returns the failure, after which the template is incomplete.
    """
    release = kubevirt.release
    spec = template["spec"]
    if release.expand_sets_defaults:
        defaults.add_disks_for_volumes(spec)
        problem = defaults.add_network_interface(spec, kubevirt)
        if problem is not None:
            return Expanded(error=problem)
    try:
        conflicts = applier.apply_in_place(template["metadata"], spec, instancetype, preference, release)
    except Panic as panic:
        return Expanded(error=Problem(str(panic), PANIC))
    if conflicts:
        message = release.expand_conflict or conflict.webhook_message(conflicts, release)
        return Expanded(error=Problem(message, "BadRequest", 400), conflicts=tuple(conflict.paths(conflicts)))
    problem = defaults.set_spec_defaults(spec, kubevirt) if release.expand_sets_defaults else None
    return None if problem is None else Expanded(error=problem)
