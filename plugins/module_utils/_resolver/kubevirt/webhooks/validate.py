"""KubeVirt's validating webhooks, as responses.

Those for instancetypes and preferences check little; the CRDs check required fields. That for VMs: the steps apply,
defaults and requirements, which involve instance types.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ...api import release_schema
from ...api.errors import Cause, FieldError, Panic, go_reason
from ...api.manifest import Manifest
from ...api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, MATCHER_FIELDS
from ...api.release import NEWEST, Release
from ..apply import applier, conflict, requirements, topology
from ..apply.requirements import Unmet
from ..apply.topology import SpreadError
from ..config.cluster import Cluster, KubeVirt
from ..find import find
from ..find.lookup import Problem
from ..vmi import defaults
from .response import INVALID, NOT_FOUND, Response, allowed, bad_request, crashed, invalid

_ACROSS: Final = (topology.SOCKETS_CORES, topology.CORES_THREADS, topology.SOCKETS_CORES_THREADS)
_THREADS_PER_CORE: Final = 2
_DEPRECATED_LAUNCH_SECURITY: Final = (
    "launchSecurity is deprecated and will be removed in a future release. Use preference instead."
)


def instancetype(spec: Manifest, release: Release = NEWEST) -> Response:
    """The response to the canonical spec of an instancetype of either kind."""
    causes = list(_memory_causes(spec["memory"]))
    if causes:
        return invalid(causes)
    warned = "launchSecurity" in spec and release.warns_of_launch_security
    return allowed([_DEPRECATED_LAUNCH_SECURITY] if warned else [])


def _memory_causes(memory: Manifest) -> Iterator[Cause]:
    field = "spec.memory.overcommitPercent"
    percent = memory.get("overcommitPercent", 0)
    if not 0 <= percent <= 100:
        yield Cause(INVALID, f"{field} '{percent}': must be in range between 0 and 100.", field)
    if percent and "hugepages" in memory:
        yield Cause(INVALID, f"{field} and spec.memory.hugepages should not be requested together.", field)


def preference(spec: Manifest) -> Response:
    """The response to the canonical spec of a preference of either kind."""
    topology_name = spec.get("cpu", {}).get("preferredCPUTopology")
    causes = list(_spread_causes(spec))
    if topology_name is not None and topology_name not in topology.NAMES:
        message = f"unknown preferredCPUTopology {topology_name}"
        causes.insert(0, Cause(INVALID, message, "spec.cpu.preferredCPUTopology"))
    if causes:
        return invalid(causes)
    short_name = topology.NAMES.get(topology_name)
    if short_name != topology_name:
        deprecated = f"PreferredCPUTopology {topology_name} is deprecated for removal in a future release"
        return allowed([f"{deprecated}, please use {short_name} instead"])
    return allowed()


def _spread_causes(spec: Manifest) -> Iterator[Cause]:
    """Spread options count only for a spread topology."""
    if topology.preferred(spec) != topology.SPREAD:
        return
    ratio, across = topology.spread_of(spec)
    if across not in _ACROSS:
        yield Cause(INVALID, f"across {across} is not supported", "spec.cpu.spreadOptions.across")
    elif across == topology.CORES_THREADS and ratio != _THREADS_PER_CORE:
        message = "only a ratio of 2 (1 core 2 threads) is allowed when spreading vCPUs over cores and threads"
        yield Cause(INVALID, message, "spec.cpu.spreadOptions.ratio")


# The steps of a VM's validation.
APPLY: Final = "apply"
DEFAULTS: Final = "defaults"
REQUIREMENTS: Final = "requirements"


def virtual_machine(vm: Manifest, cluster: Cluster) -> Response:
    """The response to a canonical VM, which is modified. Missing objects of its matchers do not count."""
    if vm["metadata"].get("deletionTimestamp"):
        return allowed()
    release, template = cluster.release, vm["spec"]["template"]
    if template is None:
        return crashed("the VirtualMachine has no template", APPLY)
    specs = []
    for matcher_field in MATCHER_FIELDS:
        effective = find.spec(vm, matcher_field, cluster.objects, release)
        if effective.error is not None and release.refuses_unknown_objects:
            message = f"Failure to find {matcher_field.matcher}: {effective.error.message}"
            return invalid([Cause(NOT_FOUND, message, f"spec.{matcher_field.matcher}")], APPLY)
        specs.append(effective.spec)
    instancetype_spec, preference_spec = specs
    try:
        found = verdict(template, instancetype_spec, preference_spec, cluster.kubevirt)
    except Panic as panic:
        return crashed(str(panic), APPLY)
    if found.spread is not None:
        return invalid([Cause(INVALID, found.spread.message, found.spread.field)], APPLY)
    if found.conflicts:
        described = ((conflict.cause_message(path, release), conflict.full_path(path)) for path in found.conflicts)
        return invalid((Cause(INVALID, message, field) for message, field in described), APPLY)
    if found.problem is not None:
        return bad_request(found.problem.message, DEFAULTS)
    return allowed() if found.unmet is None else _insufficient(found.unmet)


def _insufficient(requirement: Unmet) -> Response:
    message = f"failure checking preference requirements: {requirement.message}"
    return invalid([Cause(NOT_FOUND, message, ", ".join(requirement.conflicts))], REQUIREMENTS)


class Verdict(NamedTuple):
    """What KubeVirt has against a VM with an instancetype and a preference.

    spread: the vCPUs do not divide. conflicts: the VM's fields that the instancetype does not permit. problem: why
    defaults cannot be set. unmet: the first requirement of the preference that is not met.
    """

    spread: SpreadError | None
    conflicts: tuple[str, ...]
    problem: Problem | None
    unmet: Unmet | None


def verdict(
    template: Manifest, instancetype_spec: Manifest | None, preference_spec: Manifest | None, kubevirt: KubeVirt
) -> Verdict:
    """Applies canonical specs and the defaults to a VM's canonical template. Raises Panic where KubeVirt panics."""
    release, metadata, spec = kubevirt.release, template["metadata"], template["spec"]
    spread = topology.spread_indivisible(instancetype_spec, preference_spec)
    conflicts = applier.apply_in_place(metadata, spec, instancetype_spec, preference_spec, release)
    problem = defaults.set_spec_defaults(spec, kubevirt)
    unmet = requirements.unmet(instancetype_spec, preference_spec, spec, release)
    return Verdict(spread, tuple(conflicts), problem, unmet)


def validate(kind: str, manifest: Manifest, release: Release = NEWEST) -> Response:
    """The webhook's response to the plain manifest of an instancetype or a preference."""
    matcher_field = MATCHER_FIELD_OF_KIND[kind]
    try:
        canonical = release_schema.canonical(matcher_field.kind, manifest, release)
    except FieldError as error:
        return bad_request(go_reason(error))
    spec = canonical["spec"]
    return instancetype(spec, release) if matcher_field is INSTANCETYPE else preference(spec)
