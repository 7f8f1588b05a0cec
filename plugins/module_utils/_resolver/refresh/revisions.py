"""The ControllerRevisions of a namespace, found by name and by owner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

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
