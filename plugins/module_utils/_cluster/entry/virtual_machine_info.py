"""The module virtual_machine_info."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final

from ..._resolver.api.kinds import BY_NAME, Kind
from ..._resolver.refresh.controller_revisions import unreferenced
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.expansion import Expansion, expand_vms
from ..read.info import Filter, tell
from ..read.revisions import Inspected, inspect
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS
from .revisions import tell as tell_refresh
from .selection import SELECTION, selection, selector

Told = dict[str, Any]

RESOURCES: Final = "resources"
REFRESH: Final = "refresh"
EXPANSION: Final = "expansion"

_EXPAND: Final = Kind("", "subresources.kubevirt.io", "v1", "virtualmachines/expand-spec", True)
_FILTERS: dict[str, dict[str, Any]] = {
    "instancetype": {"type": "str"},
    "preference": {"type": "str"},
    "drifted": {"type": "bool"},
    "restart_required": {"type": "bool"},
}
_INCLUDE: dict[str, Any] = {
    "type": "list",
    "elements": "str",
    "choices": [RESOURCES, REFRESH, EXPANSION],
    "default": [RESOURCES],
}


@last_net
def run_vm_info() -> None:
    """The module virtual_machine_info."""
    module = make_module(
        argument_spec={
            **AUTH,
            **SELECTION,
            **_FILTERS,
            "include": _INCLUDE,
            "concurrency": {"type": "int", "default": 16},
            **REQUESTS,
        }
    )
    options = selection(module)
    wanted = Filter(**{name: options[name] for name in _FILTERS})
    try:
        session = Session(options, options["concurrency"])
        every = inspect(session, options["namespace"], options["names"], selector(options), guests=True)
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "LIST", BY_NAME["VirtualMachine"]))
    seen = [one for one in every if wanted.takes(one)]
    vms = [_tell(one, options["include"]) for one in seen]
    if EXPANSION in options["include"]:
        try:
            expansions = expand_vms(session, [one.vm for one in seen], options["concurrency"])
        except (ApiError, ConnectionFailed) as error:
            module.fail_json(msg=explain(error, "GET", _EXPAND))
        vms = [{**vm, EXPANSION: _tell_expansion(one)} for vm, one in zip(vms, expansions)]
    if seen and (doubt := seen[0].kubevirt.doubt):
        module.warn(doubt)
    more = {"unreferenced": _unreferenced(options, every)} if REFRESH in options["include"] else {}
    module.exit_json(changed=False, virtual_machines=vms, **more)


def _tell(seen: Inspected, include: list[str]) -> Told:
    told = tell(seen, resolved=RESOURCES in include)
    return {**told, **tell_refresh(seen)} if REFRESH in include else told


def _tell_expansion(one: Expansion) -> Told:
    parts = ("server", "server_error", "resolver", "resolver_error")
    told = {part: value for part in parts if (value := getattr(one, part)) is not None}
    return {"equal": one.equal, "differences": one.differences, **told}


def _unreferenced(options: Told, every: list[Inspected]) -> list[dict[str, str]]:
    """The unreferenced revisions.

    Empty if the task selects VMs: only all VMs of a namespace show what is referenced. every: sorted by namespace.
    """
    if options["names"] or options["label_selectors"]:
        return []
    told = []
    for namespace, group in groupby(every, key=lambda one: one.namespace):
        members = list(group)
        idle = unreferenced([one.vm for one in members], members[0].revisions)
        told += [_tell_idle(namespace, one["metadata"]) for one in idle]
    return told


def _tell_idle(namespace: str, metadata: Told) -> dict[str, str]:
    owners = [owner["name"] for owner in metadata.get("ownerReferences") or [] if owner.get("kind") == "VirtualMachine"]
    return {
        "namespace": namespace,
        "name": metadata["name"],
        "virtual_machine": owners[0] if owners else "",
        "captured_at": metadata.get("creationTimestamp") or "",
    }
