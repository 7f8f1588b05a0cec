"""What the KubeVirt object of the cluster says, and which release of KubeVirt reads it."""

from __future__ import annotations

from typing import Any

from _resolver.api.release import Release
from _resolver.instancetype.vmi import defaults
from kubevirt_emulation import behaviour
from kubevirt_emulation.informer import Informer
from kubevirt_emulation.install.names import NAMESPACE

POLICIES = ("reference", "expand", "expandAll")


class KubeVirtConfiguration:
    """Read at each question, so that a change counts at once.

    release, behaviour: how the KubeVirt that is emulated computes and behaves.
    """

    def __init__(self, cache: Informer, release: Release) -> None:
        self._cache = cache
        self.release = release
        self.behaviour = behaviour.of(release)

    @property
    def raw(self) -> dict[str, Any]:
        """`spec.configuration` of the KubeVirt object."""
        kubevirt = self._cache.get((NAMESPACE, "kubevirt")) or {}
        return (kubevirt.get("spec") or {}).get("configuration") or {}

    @property
    def defaults(self) -> defaults.Configuration:
        """What decides on the defaults of VMs."""
        return defaults.configuration(self.raw)

    @property
    def reference_policy(self) -> str:
        """One of POLICIES."""
        if behaviour.REFERENCE_POLICY in self.closed_gates():
            return "reference"
        return (self.raw.get("instancetype") or {}).get("referencePolicy") or "reference"

    @property
    def live_updates(self) -> bool:
        """Whether changes reach running guests, as far as they can."""
        default = "LiveUpdate" if self.behaviour.changes_guests else "Stage"
        return (self.raw.get("vmRolloutStrategy") or default) != "Stage"

    def feature_gates(self) -> list[str]:
        """The feature gates that are open."""
        return (self.raw.get("developerConfiguration") or {}).get("featureGates") or []

    def closed_gates(self) -> frozenset[str]:
        """The feature gates that the release asks for and that are not open."""
        return self.behaviour.gates.difference(self.feature_gates())
