"""Which copies of a VM lose its captured revisions, so that a restored VM may have another size."""

from __future__ import annotations

from typing import Any, Final

from ..api.matcher import ROLES
from ..api.release import Release
from ..instancetype.find import naming

Manifest = dict[str, Any]

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
