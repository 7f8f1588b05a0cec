"""The VMs and pools that refer to the objects of a catalog."""

from __future__ import annotations

from collections.abc import Callable

from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, qualified_name
from ..._resolver.api.matcher import MATCHER_FIELD_OF_KIND, ObjectKey, references
from ..._resolver.api.name_rules import first_names
from ..._resolver.kubevirt.instancetype import revision_names
from ..client.session import Session
from .optional_kinds import POOL, pools_as_vms

# The number of VMs that a message names.
_NAMED = 5


class CatalogUsers:
    """Lists VMs and pools once for each namespace, or once in all namespaces for the cluster-wide kinds."""

    def __init__(self, session: Session) -> None:
        self._vms = _Users(lambda namespace: session.list(KINDS["VirtualMachine"], namespace))
        self._pools = _Users(lambda namespace: pools_as_vms(session, namespace))

    def vms_using(self, object_key: ObjectKey) -> list[Manifest]:
        """The VMs that refer to the object, in order. Raises RequestFailed if VMs cannot be listed."""
        return self._vms.users_of(object_key)

    def all_using(self, object_key: ObjectKey) -> list[Manifest]:
        """The VMs that refer to the object, then the VirtualMachinePools whose next VMs will; see `pools_as_vms`.

        Raises RequestFailed if either cannot be listed.
        """
        return [*self._vms.users_of(object_key), *self._pools.users_of(object_key)]

    def drifting(self, object_key: ObjectKey) -> list[Manifest]:
        """The VMs that have captured the object, and so do not follow its change."""
        matcher_field = MATCHER_FIELD_OF_KIND[object_key.kind]
        return [
            vm
            for vm in self.vms_using(object_key)
            if matcher_field.recorded_in(vm) or revision_names.referenced_revision(vm, matcher_field).name
        ]


class _Users:
    """The users of objects, listed once for each namespace. listed: lists the users in a namespace, None for all."""

    def __init__(self, listed: Callable[[str | None], list[Manifest]]) -> None:
        self._listed = listed
        self._users: dict[str, dict[ObjectKey, list[Manifest]]] = {}

    def users_of(self, object_key: ObjectKey) -> list[Manifest]:
        # A list of all namespaces serves each of them.
        place = "" if "" in self._users else object_key.namespace
        if place not in self._users:
            listed = self._listed(place or None)
            users = self._users[place] = {}
            for vm in sorted(listed, key=qualified_name):
                for used in references(vm):
                    users.setdefault(used, []).append(vm)
        return self._users[place].get(object_key, [])


def labels(users: list[Manifest]) -> str:
    """`3 virtual machines (a/b, a/c, d/e) and 1 pool (a/p)`, with the names of the first few."""
    pools = [user for user in users if user.get("kind") == POOL]
    vms = [user for user in users if user.get("kind") != POOL]
    return " and ".join(_user_count(noun, some) for noun, some in (("virtual machine", vms), ("pool", pools)) if some)


def _user_count(noun: str, users: list[Manifest]) -> str:
    names = first_names(map(qualified_name, users), _NAMED)
    return f"{len(users)} {noun}{'s' if len(users) != 1 else ''} ({names})"
