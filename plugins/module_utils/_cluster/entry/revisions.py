"""Shared by the modules about ControllerRevisions: the selection of VMs and their results."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import ROLES
from ..._resolver.refresh.drift import needs
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.revisions import Inspected, inspect, tell_role, unknown_names
from .selection import selection, selector

Outcome = dict[str, Any]


def inspected(module: Any) -> tuple[Session, list[Inspected]]:
    options = selection(module)
    try:
        session = Session(options, options.get("concurrency", 16))
        seen = inspect(session, options["namespace"], options["names"], selector(options), guests=True)
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "LIST", BY_NAME["VirtualMachine"]))
    if seen and seen[0].kubevirt.doubt:
        module.warn(seen[0].kubevirt.doubt)
    missing = unknown_names(seen, options["names"] or [])
    if missing:
        module.fail_json(msg=f"names: no such virtual machine in {options['namespace']}: {', '.join(missing)}")
    return session, seen


def tell(seen: Inspected) -> Outcome:
    """An inspected VM as a module returns it."""
    found, effect = seen.drift, seen.drift.effect
    told: Outcome = {
        "name": seen.name,
        "namespace": seen.namespace,
        "drifted": found.drifted,
        "guest_before": effect.guest_before,
        "guest_after": effect.guest_after,
        "changes": list(effect.changes),
        "needs": needs(effect),
        "restart_required": seen.restart_required,
        "status": (seen.vm.get("status") or {}).get("printableStatus", ""),
    }
    if seen.restart_reason:
        told["restart_reason"] = seen.restart_reason
    if seen.guest_current is not None:
        told["guest_current"] = seen.guest_current
        told["outstanding"] = list(seen.outstanding.fields) if seen.outstanding is not None else []
    if effect.refusal:
        told["refusal"] = effect.refusal
    for role, part in zip(ROLES, (found.instancetype, found.preference)):
        if part is not None:
            told[role.matcher] = tell_role(part, role.reference_of(seen.vm))
    return told
