"""The limits of a cluster, and whether VMs break them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ..._cluster.client.errors import value_or_default
from ..._cluster.client.session import Session
from ..._resolver.api.finding import Finding
from ..._resolver.api.keys import FIELD_MANAGER, MANAGED_BY_LABEL
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest
from ..checks import violations
from ..language import AUDIT, Limit, as_data
from ..policy import POLICY, limit_of


def limits_of(session: Session) -> list[Limit] | None:
    """The limits of a cluster, by one LIST; None if its policies may not be read."""
    labels = f"{MANAGED_BY_LABEL}={FIELD_MANAGER}"
    items = value_or_default(lambda: session.list(KINDS[POLICY], None, labelSelector=labels), None)
    return None if items is None else [limit for item in items if (limit := limit_of(item)) is not None]


def read_limits(session: Session, _objects: Sequence[Manifest]) -> list[dict[str, Any]] | None:
    """The limits of a cluster as data; None if its policies may not be read."""
    found = limits_of(session)
    return None if found is None else [as_data(limit) for limit in found]


class ClusterLimits:
    """The limits of a cluster, read on first use with one LIST.

    Who may not read policies or namespaces learns of a violation from the API server.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._labels: dict[str, dict[str, str] | None] = {}

    def violations(self, manifest: Manifest, before: Manifest | None) -> list[Finding]:
        """The violations of limits that deny or warn. See `checks.violations`."""
        namespace = manifest["metadata"].get("namespace") or ""
        limits = [limit for limit in self._limits if limit.action != AUDIT]
        labels: dict[str, str] | None = {}
        if any(limit.namespace_labels for limit in limits):
            labels = self._labels_of(namespace)
            limits = limits if labels is not None else [limit for limit in limits if not limit.namespace_labels]
        return list(violations(limits, manifest, before, namespace, labels or {}))

    @cached_property
    def _limits(self) -> list[Limit]:
        return limits_of(self._session) or []

    def _labels_of(self, namespace: str) -> dict[str, str] | None:
        if namespace not in self._labels:
            live = value_or_default(
                lambda: self._session.get(KINDS["Namespace"], None, namespace, metadata_only=True), None
            )
            self._labels[namespace] = None if live is None else live["metadata"].get("labels") or {}
        return self._labels[namespace]
