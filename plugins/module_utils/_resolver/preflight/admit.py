"""A planned VM after admission, computed once for all checks, and once for VMs that admission cannot tell apart."""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from ..api.matcher import ROLES
from ..kubevirt.find import naming
from ..kubevirt.vmi.cluster import Cluster
from ..kubevirt.webhooks import mutate
from ..kubevirt.webhooks.admission import Response

Manifest = dict[str, Any]


class AdmissionResult(NamedTuple):
    """A VM and its admission.

    vm: before admission.

    admitted: the canonical VM that the validating webhook gets; None if the mutating webhook rejects the VM. refusal:
    the reason of the rejection.
    """

    vm: Manifest
    admitted: Manifest | None = None
    refusal: Response | None = None


def admit(vm: Manifest, live: Manifest | None, cluster: Cluster) -> AdmissionResult:
    """The VM as the mutating webhook changes it."""
    operation = "CREATE" if live is None else "UPDATE"
    mutated = mutate.mutate(vm, cluster.objects, live, operation, cluster.release)
    if mutated.vm is None:
        return AdmissionResult(vm, refusal=mutated.refusal)
    return AdmissionResult(vm, mutate.with_source_architecture(mutated.vm, cluster.objects, cluster.release))


# Admission reads neither these nor the status, but for the captured revisions.
_UNREAD: Final = frozenset({"name", "uid", "resourceVersion", "generation", "creationTimestamp"})


def admission_cache_key(vm: Manifest, live: Manifest | None, cluster: Cluster) -> str | None:
    """All that admission looks at in a planned VM, as one text; None for a VM that must be judged by itself.

    vm: after the plan. live: the VM before, None for a new one. A captured revision counts by its contents, because
    each VM has its own.
    """
    metadata = {key: value for key, value in vm["metadata"].items() if key not in _UNREAD}
    captured = []
    for role in ROLES:
        name = naming.referenced(vm, role, cluster.release).name
        if name:
            revision = cluster.objects.get("ControllerRevision", metadata.get("namespace") or "", name)
            if not isinstance(revision, dict):
                return None
            captured.append([naming.labels(revision).get(naming.NAME_LABEL), revision.get("data")])
    return json.dumps([metadata, vm.get("spec"), None if live is None else live.get("spec"), captured])
