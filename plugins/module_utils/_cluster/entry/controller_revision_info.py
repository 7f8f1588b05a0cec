"""The module controller_revision_info."""

from __future__ import annotations

from itertools import groupby

from ..._resolver.refresh import unreferenced
from ..read.revisions import Inspected
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS
from .revisions import Outcome, inspected, tell
from .selection import SELECTION


@last_net
def run_info() -> None:
    """The module controller_revision_info."""
    module = make_module(argument_spec={**AUTH, **SELECTION, **REQUESTS})
    _session, seen = inspected(module)
    module.exit_json(
        changed=False, virtual_machines=[tell(one) for one in seen], unreferenced=_unreferenced(module.params, seen)
    )


def _unreferenced(options: Outcome, seen: list[Inspected]) -> list[dict[str, str]]:
    """The unreferenced revisions.

    Empty if the task selects VMs: only all VMs of a namespace show what is referenced. seen: sorted by namespace.
    """
    if options["names"] or options["label_selectors"]:
        return []
    told = []
    for namespace, group in groupby(seen, key=lambda one: one.namespace):
        members = list(group)
        idle = unreferenced.unreferenced([one.vm for one in members], members[0].revisions)
        told += [_tell_idle(namespace, one["metadata"]) for one in idle]
    return told


def _tell_idle(namespace: str, metadata: Outcome) -> dict[str, str]:
    owners = [owner["name"] for owner in metadata.get("ownerReferences") or [] if owner.get("kind") == "VirtualMachine"]
    return {
        "namespace": namespace,
        "name": metadata["name"],
        "virtual_machine": owners[0] if owners else "",
        "captured_at": metadata.get("creationTimestamp") or "",
    }
