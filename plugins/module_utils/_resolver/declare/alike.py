"""VMs that admission cannot tell apart, which a large task judges once."""

from __future__ import annotations

import json
from typing import Any, Final

from ..api.matcher import ROLES
from ..instancetype.find import naming
from ..instancetype.vmi.cluster import Cluster

Manifest = dict[str, Any]

# Admission reads neither these nor the status, but for the captured revisions.
_OWN: Final = frozenset({"name", "uid", "resourceVersion", "generation", "creationTimestamp"})


def features(vm: Manifest, live: Manifest | None, cluster: Cluster) -> str | None:
    """All that admission looks at in a planned VM, as one text; None for a VM that must be judged by itself.

    vm: after the plan. live: the VM before, None for a new one. A captured revision counts by its contents, because
    each VM has its own.
    """
    metadata = {key: value for key, value in vm["metadata"].items() if key not in _OWN}
    captured = []
    for role in ROLES:
        name = naming.referenced(vm, role, cluster.release).name
        if name:
            revision = cluster.objects.get("ControllerRevision", metadata.get("namespace") or "", name)
            if not isinstance(revision, dict):
                return None
            captured.append([naming.labels(revision).get(naming.NAME_LABEL), revision.get("data")])
    return json.dumps([metadata, vm.get("spec"), None if live is None else live.get("spec"), captured])
