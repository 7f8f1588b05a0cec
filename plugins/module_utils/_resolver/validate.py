"""KubeVirt's validating webhooks for VMs, instancetypes and preferences (rules 31 to 34 and 41).

Of the VM's webhook the steps that instancetypes and preferences take part in: apply, defaults, requirements. The
webhooks of instancetypes and preferences check little; that all required fields are there is up to the CRDs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from . import applier, conflict, defaults, find, requirements, schema, topology, unmarshal
from .admission import INVALID, NOT_FOUND, Cause, Response, allowed, bad_request, crashed, invalid
from .defaults import Configuration
from .errors import Crash
from .find import Lookup
from .matcher import INSTANCETYPE, ROLE_OF_KIND

__all__ = ["APPLY", "DEFAULTS", "REQUIREMENTS", "instancetype", "preference", "validate", "virtual_machine"]

Manifest = dict[str, Any]

# The steps of a VM's validation.
APPLY: Final = "apply"
DEFAULTS: Final = "defaults"
REQUIREMENTS: Final = "requirements"

_DEPRECATED_TOPOLOGIES: Final = frozenset(
    ("preferSockets", "preferCores", "preferThreads", "preferSpread", "preferAny")
)
_TOPOLOGIES: Final = frozenset(("sockets", "cores", "threads", "spread", "any")) | _DEPRECATED_TOPOLOGIES
_ACROSS: Final = (topology.SOCKETS_CORES, topology.CORES_THREADS, topology.SOCKETS_CORES_THREADS)
_THREADS_PER_CORE: Final = 2
_DEPRECATED_LAUNCH_SECURITY: Final = (
    "launchSecurity is deprecated and will be removed in a future release. Use preference instead."
)


def validate(
    kind: str,
    manifest: Manifest,
    objects: Lookup,
    operation: str = "CREATE",
    config: Configuration | None = None,
) -> Response:
    """The webhook's answer to a plain manifest of a kind: VirtualMachine, or an instancetype or preference.

    objects: where a VM's instancetype, preference and revisions are found. operation: other ones than CREATE and
    UPDATE are not looked at. config: the cluster's, for a VM. Raises KeyError for another kind.
    """
    role = None if kind == "VirtualMachine" else ROLE_OF_KIND[kind]
    if operation not in ("CREATE", "UPDATE"):
        return allowed()
    type_name = kind if role is None else role.kind
    try:
        canonical = schema.canonical(type_name, manifest)
    except schema.FieldError as error:
        return bad_request(unmarshal.message(type_name, manifest, kind) or str(error))
    if role is None:
        return virtual_machine(canonical, objects, config or Configuration())
    return (instancetype if role is INSTANCETYPE else preference)(canonical["spec"])


def virtual_machine(vm: Manifest, objects: Lookup, config: Configuration) -> Response:
    """The answer to a canonical VM, which is used up. What its matchers name and is not there does not count."""
    if vm["metadata"].get("deletionTimestamp"):
        return allowed()
    template = vm["spec"]["template"]
    if template is None:
        return crashed("the VirtualMachine has no template", APPLY)
    given = find.instancetype_spec(vm, objects).spec
    preferred = find.preference_spec(vm, objects).spec
    try:
        causes = _apply(template, given, preferred)
    except Crash as crash:
        return crashed(str(crash), APPLY)
    if causes:
        return invalid(causes, APPLY)
    problem = defaults.set_spec_defaults(template["spec"], config)
    if problem is not None:
        return bad_request(problem.message, DEFAULTS)
    unmet = requirements.unmet(given, preferred, template["spec"])
    if unmet is None:
        return allowed()
    message = f"failure checking preference requirements: {unmet.message}"
    return invalid([Cause(NOT_FOUND, message, ", ".join(unmet.conflicts))], REQUIREMENTS)


def _apply(template: Manifest, given: Manifest | None, preferred: Manifest | None) -> list[Cause]:
    """Applies both to the template; a spread that leaves a rest is told instead of conflicts."""
    spread = topology.spread_indivisible(given, preferred)
    if spread is not None:
        return [Cause(INVALID, spread.message, spread.field)]
    conflicts = applier.apply_in_place(template["metadata"], template["spec"], given, preferred)
    return [Cause(INVALID, conflict.webhook_message([one]), one.full_path()) for one in conflicts]


def instancetype(spec: Manifest) -> Response:
    """The answer to the canonical spec of an instancetype of either kind."""
    causes = list(_memory_causes(spec["memory"]))
    if causes:
        return invalid(causes)
    if "launchSecurity" in spec:
        return allowed(
            ["launchSecurity is deprecated and will be removed in a future release. Use preference instead."]
        )
    return allowed()


def _memory_causes(memory: Manifest) -> Iterator[Cause]:
    field = "spec.memory.overcommitPercent"
    percent = memory.get("overcommitPercent", 0)
    if not 0 <= percent <= 100:
        yield Cause(INVALID, f"{field} '{percent}': must be in range between 0 and 100.", field)
    if percent and "hugepages" in memory:
        yield Cause(INVALID, f"{field} and spec.memory.hugepages should not be requested together.", field)


def preference(spec: Manifest) -> Response:
    """The answer to the canonical spec of a preference of either kind."""
    wanted = spec.get("cpu", {}).get("preferredCPUTopology")
    causes = [*_topology_causes(wanted), *_spread_causes(spec)]
    if causes:
        return invalid(causes)
    if wanted in _DEPRECATED_TOPOLOGIES:
        plain = topology.preferred(spec)
        return allowed(
            [f"PreferredCPUTopology {wanted} is deprecated for removal in a future release, please use {plain} instead"]
        )
    return allowed()


def _topology_causes(wanted: str | None) -> Iterator[Cause]:
    if wanted is not None and wanted not in _TOPOLOGIES:
        yield Cause(INVALID, f"unknown preferredCPUTopology {wanted}", "spec.cpu.preferredCPUTopology")


def _spread_causes(spec: Manifest) -> Iterator[Cause]:
    """Spread options count only for a topology that is spread."""
    if topology.preferred(spec) != topology.SPREAD:
        return
    ratio, across = topology.spread_of(spec)
    if across not in _ACROSS:
        yield Cause(INVALID, f"across {across} is not supported", "spec.cpu.spreadOptions.across")
    elif across == topology.CORES_THREADS and ratio != _THREADS_PER_CORE:
        message = "only a ratio of 2 (1 core 2 threads) is allowed when spreading vCPUs over cores and threads"
        yield Cause(INVALID, message, "spec.cpu.spreadOptions.ratio")
