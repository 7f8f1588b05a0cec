"""What a cluster has to do with a catalog: the VMs that refer to its objects, and its limits."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import qualified_name
from ..._resolver.api.matcher import MATCHER_FIELD_OF_KIND, ObjectKey, references
from ..._resolver.kubevirt.find import revision_names as naming
from ..client.session import Session

Manifest = dict[str, Any]

# The number of VMs that a message names.
_NAMED = 5


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
            vms = self._session.list(KINDS["VirtualMachine"], place or None)
            users = self._users[place] = {}
            for vm in sorted(vms, key=qualified_name):
                for used in references(vm):
                    users.setdefault(used, []).append(vm)
        return self._users[place].get(object_key, [])

    def drifting(self, object_key: ObjectKey) -> list[Manifest]:
        """The VMs that have captured the object, and so do not follow its change."""
        matcher_field = MATCHER_FIELD_OF_KIND[object_key.kind]
        return [vm for vm in self.vms_using(object_key) if naming.referenced(vm, matcher_field).name]


def labels(vms: list[Manifest]) -> str:
    """`3 virtual machines (a/b, a/c, d/e)`, with the names of the first few."""
    named = ", ".join(map(qualified_name, vms[:_NAMED]))
    more = f" and {len(vms) - _NAMED} more" if len(vms) > _NAMED else ""
    return f"{len(vms)} virtual machine{'s' if len(vms) != 1 else ''} ({named}{more})"
