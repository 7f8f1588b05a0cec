"""A planned VM after admission, computed once for all checks."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..instancetype.vmi.cluster import Cluster
from ..instancetype.webhooks import architecture, mutate
from ..instancetype.webhooks.admission import Response

Manifest = dict[str, Any]


class Outlook(NamedTuple):
    """vm: before admission.
    admitted: the canonical VM that the validating webhook gets; None if the mutating webhook rejects the VM. refusal:
    the reason of the rejection.
    """

    vm: Manifest
    admitted: Manifest | None = None
    refusal: Response | None = None


def admit(vm: Manifest, live: Manifest | None, cluster: Cluster) -> Outlook:
    """The VM as the mutating webhook changes it."""
    operation = "CREATE" if live is None else "UPDATE"
    mutated = mutate.mutate(vm, cluster.objects, live, operation, cluster.release)
    if mutated.vm is None:
        return Outlook(vm, refusal=mutated.refusal)
    return Outlook(vm, architecture.of_sources(mutated.vm, cluster.objects, cluster.release))
