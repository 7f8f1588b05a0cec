"""KubeVirt's validating webhooks for instancetypes and preferences.

They check little; the CRDs check required fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...api.release import NEWEST, Release
from ..apply import topology
from .admission import INVALID, Cause, Response, allowed, invalid

Manifest = dict[str, Any]

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


def preference(spec: Manifest, release: Release = NEWEST) -> Response:
    """The response to the canonical spec of a preference of either kind."""
    wanted = spec.get("cpu", {}).get("preferredCPUTopology")
    causes = [
        *(_topology_causes(wanted) if release.checks_topology_names else ()),
        *(_spread_causes(spec, release) if release.checks_spread_options else ()),
    ]
    if causes:
        return invalid(causes)
    plain = topology.NAMES.get(wanted)
    if plain != wanted and release.checks_topology_names:
        return allowed(
            [f"PreferredCPUTopology {wanted} is deprecated for removal in a future release, please use {plain} instead"]
        )
    return allowed()


def _topology_causes(wanted: str | None) -> Iterator[Cause]:
    if wanted is not None and wanted not in topology.NAMES:
        yield Cause(INVALID, f"unknown preferredCPUTopology {wanted}", "spec.cpu.preferredCPUTopology")


def _spread_causes(spec: Manifest, release: Release) -> Iterator[Cause]:
    """Spread options count only for a spread topology."""
    if topology.preferred(spec, release) != topology.SPREAD:
        return
    ratio, across = topology.spread_of(spec)
    if across not in _ACROSS:
        yield Cause(INVALID, f"across {across} is not supported", "spec.cpu.spreadOptions.across")
    elif across == topology.CORES_THREADS and ratio != _THREADS_PER_CORE:
        message = "only a ratio of 2 (1 core 2 threads) is allowed when spreading vCPUs over cores and threads"
        yield Cause(INVALID, message, "spec.cpu.spreadOptions.ratio")
