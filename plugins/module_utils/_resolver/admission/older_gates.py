"""Feature gates that only older releases require."""

from __future__ import annotations

from collections.abc import Iterator

from ..instancetype.webhooks import gates
from .cause import Cause, Spec
from .cluster import Cluster


def architecture(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateArchitecture."""
    return gates.architecture(spec, path, cluster.architecture, cluster.closed_gates())


def persistent_state(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validatePersistentState."""
    return gates.persistent_state(spec, path, cluster.closed_gates())
