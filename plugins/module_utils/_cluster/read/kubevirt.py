"""What the cluster's KubeVirt is: its release and the configuration that decides on defaults."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._resolver.api import release
from ..._resolver.api.kinds import Kind
from ..._resolver.api.release import NEWEST, Release
from ..._resolver.instancetype.vmi.defaults import DEFAULT_ARCHITECTURE, Configuration, configuration
from ..._resolver.instancetype.vmi.resources import CPU_ALLOCATION_RATIO
from ..client.errors import ApiError
from ..client.session import Session

__all__ = ["KubeVirt", "kubevirt"]

_KUBEVIRT = Kind("KubeVirt", "kubevirt.io", "v1", "kubevirts", True)


class KubeVirt(NamedTuple):
    """configuration: what decides on VMs' defaults. release: how it behaves. cpu_allocation_ratio: vCPUs for each CPU.
    live_updates: whether changes of a VM reach its running guest; else all of them wait for a restart.

    known: whether that was read; otherwise these are the defaults of the newest release.
    version: the release in the cluster's own words (``v1.6.2``), also of a build of one's own; "" if not known.
    """

    configuration: Configuration = Configuration()
    release: Release = NEWEST
    cpu_allocation_ratio: int = CPU_ALLOCATION_RATIO
    known: bool = False
    live_updates: bool = True
    version: str = ""


def kubevirt(session: Session) -> KubeVirt:
    """Reads the cluster's KubeVirt object; without the right to do so, or without an object, defaults.

    Raises ConnectionFailed.
    """
    try:
        items, _version = session.list(_KUBEVIRT)
    except ApiError:
        return KubeVirt()
    if not items:
        return KubeVirt()
    status: dict[str, Any] = items[0].get("status") or {}
    spec: dict[str, Any] = (items[0].get("spec") or {}).get("configuration") or {}
    version = str(status.get("observedKubeVirtVersion") or "")
    ratio = (spec.get("developerConfiguration") or {}).get("cpuAllocationRatio")
    return KubeVirt(
        configuration(spec, status.get("defaultArchitecture") or DEFAULT_ARCHITECTURE),
        _release(version),
        int(ratio) if ratio else CPU_ALLOCATION_RATIO,
        known=True,
        live_updates=spec.get("vmRolloutStrategy") != "Stage",
        version=version,
    )


def _release(version: str) -> Release:
    try:
        return release.of(version)
    except release.UnknownRelease:
        # A build of one's own.
        return NEWEST
