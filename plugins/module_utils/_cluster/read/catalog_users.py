"""The VMs that refer to instancetypes and preferences; lists VMs on first use."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import ROLE_OF_KIND, ObjectKey, references
from ..._resolver.kubevirt.find import naming
from ..client.session import Session

Manifest = dict[str, Any]

# The number of VMs that a message names.
_NAMED = 5


class CatalogUsers:
    """Lists VMs once for each namespace, or once in all namespaces for the cluster-wide kinds."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._vms: dict[str, list[Manifest]] = {}
        self._by_key: dict[str, dict[ObjectKey, list[Manifest]]] = {}

    def vms_using(self, object_key: ObjectKey) -> list[Manifest]:
        """The VMs that refer to the object, in order. Raises ApiError or ConnectionFailed if VMs cannot be listed."""
        where = self._read(object_key.namespace)
        return self._by_key[where].get(object_key, [])

    def drifting(self, object_key: ObjectKey) -> list[Manifest]:
        """The VMs that have captured the object, and so do not follow its change."""
        role = ROLE_OF_KIND[object_key.kind]
        return [vm for vm in self.vms_using(object_key) if naming.referenced(vm, role).name]

    def _read(self, namespace: str) -> str:
        """Lists the VMs of a namespace ("" for all) once. Returns their key."""
        if "" in self._vms:
            return ""
        if namespace not in self._vms:
            vms, _version = self._session.list(BY_NAME["VirtualMachine"], namespace or None)
            users: dict[ObjectKey, list[Manifest]] = {}
            for vm in sorted(vms, key=label):
                for object_key in references(vm):
                    users.setdefault(object_key, []).append(vm)
            self._vms[namespace], self._by_key[namespace] = vms, users
        return namespace


def label(vm: Manifest) -> str:
    return f"{vm['metadata']['namespace']}/{vm['metadata']['name']}"


def labels(vms: list[Manifest]) -> str:
    """`3 virtual machines (a/b, a/c, d/e)`, with the names of the first few."""
    named = ", ".join(label(vm) for vm in vms[:_NAMED])
    more = f" and {len(vms) - _NAMED} more" if len(vms) > _NAMED else ""
    return f"{len(vms)} virtual machine{'s' if len(vms) != 1 else ''} ({named}{more})"
