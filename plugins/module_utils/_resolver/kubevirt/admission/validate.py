"""KubeVirt's validating webhooks, as responses.

The webhooks of instancetypes and preferences check little, because their CRDs check required fields. This module
has the part of the webhook of VMs that concerns instance types.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...api import behaviour, release_schema
from ...api.errors import Cause, FieldError, KubeVirtError, Panic, go_reason
from ...api.manifest import Manifest
from ...api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, MATCHER_FIELDS
from ...api.release import NEWEST, Release
from ..cluster import Cluster
from ..instancetype import conflict, find, topology
from ..instancetype.conflict import ConflictError
from ..instancetype.requirements import UnmetRequirement
from ..instancetype.topology import SpreadError
from .apply import apply_and_check
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
    warned = "launchSecurity" in spec and release.has(behaviour.WARNS_OF_LAUNCH_SECURITY)
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
    specs: list[Manifest | None] = []
    for matcher_field in MATCHER_FIELDS:
        try:
            specs.append(find.effective_spec(vm, matcher_field, cluster.objects, release))
        except KubeVirtError as error:
            if release.has(behaviour.REFUSES_UNKNOWN_OBJECTS):
                message = f"Failure to find {matcher_field.name}: {error.message}"
                return invalid([Cause(NOT_FOUND, message, f"spec.{matcher_field.name}")], APPLY)
            specs.append(None)
    try:
        apply_and_check(template, specs[0], specs[1], cluster.kubevirt)
    except Panic as panic:
        return crashed(panic.message, APPLY)
    except SpreadError as error:
        return invalid([Cause(INVALID, error.message, error.field)], APPLY)
    except ConflictError as error:
        described = ((conflict.cause_message(path, release), conflict.full_path(path)) for path in error.conflicts)
        return invalid((Cause(INVALID, message, field) for message, field in described), APPLY)
    except UnmetRequirement as error:
        message = f"failure checking preference requirements: {error.message}"
        return invalid([Cause(NOT_FOUND, message, ", ".join(error.fields))], REQUIREMENTS)
    except KubeVirtError as error:
        return bad_request(error.message, DEFAULTS)
    return allowed()


def validate(kind: str, manifest: Manifest, release: Release = NEWEST) -> Response:
    """The webhook's response to the plain manifest of an instancetype or a preference."""
    matcher_field = MATCHER_FIELD_OF_KIND[kind]
    try:
        canonical = release_schema.canonical(matcher_field.kind, manifest, release)
    except FieldError as error:
        return bad_request(go_reason(error))
    spec = canonical["spec"]
    return instancetype(spec, release) if matcher_field is INSTANCETYPE else preference(spec)
