"""A planned VM as it will be: merged, and as admission leaves it. Computed once for all that judges it."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..api import managed_fields as ownership
from ..api.tree import copy
from ..instancetype.vmi.cluster import Cluster
from ..instancetype.webhooks import architecture, mutate
from ..instancetype.webhooks.admission import Response
from .plan import Plan

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


def outlook(plan: Plan, live: Manifest | None, cluster: Cluster) -> Outlook:
    """What becomes of a VM when its plan is carried out. live: as it is, None where there is none."""
    return admit(result(plan, live), live, cluster)


def admit(vm: Manifest, live: Manifest | None, cluster: Cluster) -> Outlook:
    """What the mutating webhook makes of a VM."""
    operation = "CREATE" if live is None else "UPDATE"
    mutated = mutate.mutate(vm, cluster.objects, live, operation, cluster.release)
    if mutated.vm is None:
        return Outlook(vm, operation, refusal=mutated.refusal)
    return Outlook(vm, operation, architecture.of_sources(mutated.vm, cluster.objects, cluster.release))


def result(plan: Plan, live: Manifest | None) -> Manifest:
    """The object as it will be when the plan is carried out, before admission."""
    if live is None:
        return plan.manifest
    result = copy(live)
    for field in ownership.declared(plan.before):
        ownership.take(result, field)
    for field, value in plan.first.items():
        if value is None:
            ownership.take(result, field)
        else:
            ownership.put(result, field, value)
    for field, value in ownership.declared(plan.manifest).items():
        ownership.put(result, field, value)
    return result
