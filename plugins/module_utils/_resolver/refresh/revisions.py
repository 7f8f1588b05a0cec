"""The ControllerRevisions of a namespace, by name and by owner, and which copies of a VM lose theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..api.matcher import ROLES
from ..api.release import Release
from ..kubevirt.find import naming

Manifest = dict[str, Any]


class Revisions:
    """The ControllerRevisions of one namespace, indexed once for all its VMs. Also a find.Lookup of them.

    by_name: name → revision. by_owner: UID of an owner, such as a VM → its revisions.
    """

    def __init__(self, revisions: Iterable[Manifest] = ()) -> None:
        self.by_name = {one["metadata"]["name"]: one for one in revisions}
        self.by_owner: dict[str, list[Manifest]] = {}
        for one in self.by_name.values():
            for uid in {owner.get("uid", "") for owner in one["metadata"].get("ownerReferences") or []}:
                self.by_owner.setdefault(uid, []).append(one)

    def __iter__(self) -> Iterator[Manifest]:
        return iter(self.by_name.values())

    def get(self, _kind: str, _namespace: str, name: str) -> Manifest | None:
        """See find.Lookup."""
        return self.by_name.get(name)


BACKUP: Final = "backup"
# Also a clone, which is a snapshot and its restore.
SNAPSHOT: Final = "snapshot"


def lost_by(vm: Manifest, release: Release) -> list[str]:
    """BACKUP, SNAPSHOT, both or neither.

    Both copy the spec without the status. A snapshot of a VM with a VMI contains the spec of the guest's start, in
    which KubeVirt has named the revisions.
    """
    references = (naming.referenced(vm, role, release) for role in ROLES if role.matcher_of(vm))
    if not any(one.name and not one.pinned for one in references):
        return []
    return [BACKUP] if (vm.get("status") or {}).get("created") else [BACKUP, SNAPSHOT]
