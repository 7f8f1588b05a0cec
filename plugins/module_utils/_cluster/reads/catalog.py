"""What a cluster has to do with a catalog: the VMs that refer to its objects, and its limits."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..._governance.checks import Violation, violations
from ..._governance.language import AUDIT, Limit
from ..._governance.policy import POLICY, limit_of
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.manifest import qualified_name
from ..._resolver.api.matcher import ROLE_OF_KIND, ObjectKey, references
from ..._resolver.catalog.labels import MANAGED_BY_LABEL, MANAGER
from ..._resolver.kubevirt.find import revision_names as naming
from ..client.errors import optional
from ..client.session import Session

Manifest = dict[str, Any]

# The number of VMs that a message names.
_NAMED = 5


def limits_of(session: Session) -> list[Limit] | None:
    """The limits of a cluster, by one LIST; None if its policies may not be read."""
    labels = f"{MANAGED_BY_LABEL}={MANAGER}"
    items = optional(lambda: session.list(BY_NAME[POLICY], None, labelSelector=labels), None)
    return None if items is None else [limit for item in items if (limit := limit_of(item)) is not None]


class ClusterLimits:
    """The limits of a cluster, read on first use with one LIST.

    Who may not read policies or namespaces learns of a violation from the API server.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._labels: dict[str, dict[str, str] | None] = {}

    def violations(self, manifest: Manifest, before: Manifest | None) -> list[Violation]:
        """What breaks the limits, without what is only audited. See `verdict.violations`."""
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
            live = optional(lambda: self._session.get(BY_NAME["Namespace"], None, namespace, metadata_only=True), None)
            self._labels[namespace] = None if live is None else live["metadata"].get("labels") or {}
        return self._labels[namespace]


class CatalogUsers:
    """Lists VMs once for each namespace, or once in all namespaces for the cluster-wide kinds."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._users: dict[str, dict[ObjectKey, list[Manifest]]] = {}

    def vms_using(self, object_key: ObjectKey) -> list[Manifest]:
        """The VMs that refer to the object, in order. Raises RequestFailed if VMs cannot be listed."""
        # Those of all namespaces are those of each.
        place = "" if "" in self._users else object_key.namespace
        if place not in self._users:
            vms = self._session.list(BY_NAME["VirtualMachine"], place or None)
            users = self._users[place] = {}
            for vm in sorted(vms, key=qualified_name):
                for used in references(vm):
                    users.setdefault(used, []).append(vm)
        return self._users[place].get(object_key, [])

    def drifting(self, object_key: ObjectKey) -> list[Manifest]:
        """The VMs that have captured the object, and so do not follow its change."""
        role = ROLE_OF_KIND[object_key.kind]
        return [vm for vm in self.vms_using(object_key) if naming.referenced(vm, role).name]


def labels(vms: list[Manifest]) -> str:
    """`3 virtual machines (a/b, a/c, d/e)`, with the names of the first few."""
    named = ", ".join(map(qualified_name, vms[:_NAMED]))
    more = f" and {len(vms) - _NAMED} more" if len(vms) > _NAMED else ""
    return f"{len(vms)} virtual machine{'s' if len(vms) != 1 else ''} ({named}{more})"
