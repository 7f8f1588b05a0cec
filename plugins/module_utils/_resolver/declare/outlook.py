"""A planned VM as admission leaves it. Computed once for all that judges it."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..instancetype.vmi.cluster import Cluster
from ..instancetype.webhooks import architecture, mutate
from ..instancetype.webhooks.admission import Response

Manifest = dict[str, Any]


class Outlook(NamedTuple):
    """vm: the VM before admission. operation: CREATE or UPDATE.

    admitted: the canonical VM as it goes on to be validated; None where the mutating webhook refuses it.
    refusal: why it does.
    """

    vm: Manifest
    operation: str
    admitted: Manifest | None = None
    refusal: Response | None = None


def admit(vm: Manifest, live: Manifest | None, cluster: Cluster) -> Outlook:
    """What the mutating webhook makes of a VM."""
    operation = "CREATE" if live is None else "UPDATE"
    mutated = mutate.mutate(vm, cluster.objects, live, operation, cluster.release)
    if mutated.vm is None:
        return Outlook(vm, operation, refusal=mutated.refusal)
    return Outlook(vm, operation, architecture.of_sources(mutated.vm, cluster.objects, cluster.release))
