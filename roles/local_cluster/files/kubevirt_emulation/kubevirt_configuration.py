"""The configuration in the cluster's KubeVirt object, and the emulated release."""

from __future__ import annotations

from typing import Any

from _resolver.admission import cluster
from _resolver.admission.cluster import Cluster
from _resolver.api.release import REFERENCE_POLICY, Release
from _resolver.instancetype.vmi import configuration, hot_plug
from _resolver.instancetype.vmi.cluster import plugs_volumes
from kubevirt_emulation import behaviour
from kubevirt_emulation.informer import Informer
from kubevirt_emulation.install.names import NAMESPACE

POLICIES = ("reference", "expand", "expandAll")


class KubeVirtConfiguration:
    """Reads the object on each access, so that changes apply at once.

    release, behaviour: of the emulated KubeVirt.
    """

    def __init__(self, cache: Informer, release: Release) -> None:
        self._cache = cache
        self.release = release
        self.behaviour = behaviour.of(release)

    @property
    def _kubevirt(self) -> dict[str, Any]:
        return self._cache.get((NAMESPACE, "kubevirt")) or {}

    @property
    def raw(self) -> dict[str, Any]:
        """`spec.configuration` of the KubeVirt object."""
        return (self._kubevirt.get("spec") or {}).get("configuration") or {}

    @property
    def architecture(self) -> str:
        """The architecture of VMs without one."""
        return self._kubevirt.get("status", {}).get("defaultArchitecture") or configuration.DEFAULT_ARCHITECTURE

    @property
    def defaults(self) -> configuration.Configuration:
        """The configuration of VM defaults."""
        return configuration.configuration(self.raw, self.architecture)

    @property
    def cluster(self) -> Cluster:
        """The configuration for the validation rules."""
        return cluster.read(self.raw, self.architecture, self.release)

    @property
    def reference_policy(self) -> str:
        """One of POLICIES."""
        if REFERENCE_POLICY in self.cluster.closed_gates():
            return "reference"
        return (self.raw.get("instancetype") or {}).get("referencePolicy") or "reference"

    @property
    def live_updates(self) -> bool:
        """Whether possible changes reach running guests."""
        return self.cluster.live_updates

    @property
    def plugs_volumes(self) -> bool:
        """Whether hotpluggable volumes of VMs are plugged into their guests."""
        return plugs_volumes(self.raw, self.release)

    @property
    def cpu_allocation_ratio(self) -> int:
        """The number of vCPUs that share a CPU of a node."""
        found = (self.raw.get("developerConfiguration") or {}).get("cpuAllocationRatio")
        return int(found or hot_plug.ALLOCATION_RATIO)
