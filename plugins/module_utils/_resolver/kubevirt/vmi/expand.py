"""A VM with its instancetype and preference applied, without matchers (KubeVirt ``pkg/instancetype/expand``)."""

from __future__ import annotations

from typing import NamedTuple

from ...api import release_schema
from ...api.errors import FieldError, Panic
from ...api.manifest import Manifest
from ...api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE
from ..apply import applier, conflict
from ..config.cluster import Cluster, KubeVirt
from ..find import find
from ..find import revision_store as revision
from ..find.lookup import PANIC, Problem
from . import defaults


class Expanded(NamedTuple):
    """An expanded VM.

    vm: the canonical VM; None with an error.
    """

    vm: Manifest | None = None
    error: Problem | None = None


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
    if all(matcher_field.matcher_of(vm) is None for matcher_field in MATCHER_FIELDS):
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
    problem = fill(template, instancetype.spec, preference.spec, cluster.kubevirt)
    if problem is not None:
        return Expanded(error=problem)
    for matcher_field in MATCHER_FIELDS:
        vm["spec"].pop(matcher_field.matcher, None)
        vm["status"].pop(matcher_field.reference, None)
    return Expanded(vm)


def fill(
    template: Manifest, instancetype: Manifest | None, preference: Manifest | None, kubevirt: KubeVirt
) -> Problem | None:
    """Applies instancetype, preference and defaults to a VM's canonical template.

    instancetype, preference: canonical specs or None. Returns a problem, after which the template is incomplete.
    """
    release = kubevirt.release
    spec = template["spec"]
    defaults.add_disks_for_volumes(spec)
    problem = defaults.add_network_interface(spec, kubevirt)
    if problem is not None:
        return problem
    try:
        conflicts = applier.apply_in_place(template["metadata"], spec, instancetype, preference, release)
    except Panic as panic:
        return Problem(str(panic), PANIC)
    if conflicts:
        return Problem(conflict.webhook_message(conflicts, release), "BadRequest", 400)
    return defaults.set_spec_defaults(spec, kubevirt)
