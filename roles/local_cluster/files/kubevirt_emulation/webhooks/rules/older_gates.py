"""Feature gates that only older releases require."""

from __future__ import annotations

from collections.abc import Iterator

from _resolver.instancetype.webhooks import gates
from kubevirt_emulation.webhooks.rules.cause import Cause, Spec
from kubevirt_emulation.webhooks.rules.cluster import Cluster


def architecture(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateArchitecture."""
    return gates.architecture(spec, path, cluster.architecture, cluster.closed_gates())


def persistent_state(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validatePersistentState."""
    return gates.persistent_state(spec, path, cluster.closed_gates())
