"""The module virtual_machine_info: options, results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from itertools import groupby
from typing import Any, Final, NamedTuple

from ..._resolver.api import release_schema
from ..._resolver.api.errors import KubeVirtError
from ..._resolver.api.kinds import Kind
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import MATCHER_FIELDS
from ..._resolver.api.release import NEWEST
from ..._resolver.api.tree import differences
from ..._resolver.change.controller_revisions import unreferenced
from ..._resolver.change.drift import Drift
from ..._resolver.kubevirt.cluster import Cluster
from ..._resolver.kubevirt.vm import expand as resolver
from ..._resolver.preflight.object_keys import keys_for_expansion
from ..._resolver.secrets.redaction import redact
from ..client.concurrency import map_concurrently
from ..client.errors import ApiError
from ..client.session import Session
from ..reads.kubevirt import kubevirt
from ..reads.lookup import ClusterLookup
from ..reads.revisions import inspect
from ..task import Task
from .module import Module, Params, Result
from .shared_options import (
    AUTH,
    CONCURRENCY,
    REQUESTS,
    SELECTION,
    check_selection,
    label_selector,
    report_unmatched,
    selection_problem,
)
from .vm_results import add_captured, refresh_result, vm_result
from .vm_table import table

_STORED: Final = Kind("", "subresources.kubevirt.io", "v1", "virtualmachines", True)
_DENIED: Final = (401, 403)
REFRESH: Final = "refresh"
EXPANSION: Final = "expansion"
CAPTURED: Final = "captured"

_FILTERS: dict[str, dict[str, Any]] = {
    "instancetype": {"type": "str"},
    "preference": {"type": "str"},
    "drifted": {"type": "bool"},
    "restart_required": {"type": "bool"},
}
_INCLUDED: Final = (REFRESH, EXPANSION, CAPTURED)


class Asked(NamedTuple):
    """A task and its result so far. vms: the VMs of the result's `virtual_machines`, in their order."""

    params: Params
    task: Task
    session: Session
    vms: list[Drift]
    result: Result


@dataclass(frozen=True)
class Addition:
    """A capability's part of the result, for tasks that ask for it.

    add: adds it. include: the value of the option `include` that asks for it; "" if one of its own options does.
    by_default: whether a task without `include` asks for it. needs_names: whether a name without a VM fails the task.
    """

    add: Callable[[Asked], None]
    include: str = ""
    by_default: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    needs_names: bool = False

    def is_asked_for(self, params: Params) -> bool:
        """Whether a task with these options asks for it."""
        return self.include in params["include"] or any(params[option] is not None for option in self.options)


def module(*additions: Addition) -> Module:
    """The module with what capabilities add to it."""
    included = [addition.include for addition in additions if addition.include]
    default = [addition.include for addition in additions if addition.by_default]
    choices = [*default, *_INCLUDED, *(name for name in included if name not in default)]
    include = {"type": "list", "elements": "str", "choices": choices, "default": default}
    spec = {**AUTH, **SELECTION, **_FILTERS, "include": include, **CONCURRENCY, **REQUESTS}
    for addition in additions:
        spec.update(addition.options)
    return Module(spec, partial(_run, additions))


def _run(additions: Sequence[Addition], params: Params, task: Task) -> Result:
    check_selection(params)
    session = task.connect(params)
    asked_for = [addition for addition in additions if addition.is_asked_for(params)]
    inspected = inspect(session, params["namespace"], params["names"], label_selector(params))
    problem = selection_problem(params, session, {vm.name for vm in inspected})
    if problem:
        required = bool(params["names"]) and any(addition.needs_names for addition in asked_for)
        report_unmatched(problem, task, required)
    vms = [vm for vm in inspected if _is_selected(params, vm)]
    results = [_result(vm, params["include"]) for vm in vms]
    if EXPANSION in params["include"]:
        expanded = expansions(session, [vm.vm for vm in vms], params["concurrency"])
        results = [{**vm, EXPANSION: expansion} for vm, expansion in zip(results, expanded)]
    more = {"unreferenced": _unreferenced(params, inspected)} if REFRESH in params["include"] else {}
    version = kubevirt(session).version
    result = {"changed": False, "kubevirt_version": version, "virtual_machines": results, "unmatched": problem, **more}
    result["table"] = table(vms, datetime.now(timezone.utc))
    for addition in asked_for:
        addition.add(Asked(params, task, session, vms, result))
    assumption = vms[0].cluster.kubevirt.assumption if vms else ""
    task.warnings += [assumption] if assumption else []
    return result


def _is_selected(params: Params, vm: Drift) -> bool:
    """Whether the task is to return a VM. An option that is None takes any."""
    found = {matcher_field.name: matcher_field.matcher_or_empty(vm.vm).get("name") for matcher_field in MATCHER_FIELDS}
    found |= {"drifted": vm.drifted, "restart_required": vm.restart_required}
    return all(params[name] in (None, found[name]) for name in _FILTERS)


def _result(vm: Drift, include: list[str]) -> Result:
    result = vm_result(vm)
    if REFRESH in include:
        result.update(refresh_result(vm))
    if CAPTURED in include:
        add_captured(vm, result)
    return result


def expansions(session: Session, vms: list[Manifest], concurrency: int) -> list[Result]:
    """VMs of the cluster as virt-api and as the resolver expands them, in order, without secrets.

    {equal, differences: [{field, server, resolver}]} and of either side the spec or the error. Equal errors are equal.
    Raises ApiError if the user may not, and ConnectionFailed.
    """
    if not vms:
        return []
    lookup = ClusterLookup(session)
    cluster = lookup.cluster
    lookup.gather(key for vm in vms for key in keys_for_expansion(vm, cluster.release))
    expanded = map_concurrently(lambda vm: _server_expansion(session, vm), vms, concurrency)
    return [_compared(vm, by_server, cluster) for vm, by_server in zip(vms, expanded)]


def _server_expansion(session: Session, vm: Manifest) -> Manifest | str:
    """The VM as virt-api expands it, or the error."""
    path = _STORED.path(vm["metadata"]["namespace"], vm["metadata"]["name"], "expand-spec")
    try:
        # virt-api responds with 500 if it cannot expand a VM; a retry does not help.
        expanded: Manifest = session.request("GET", path, final=(500,))
    except ApiError as error:
        if error.code in _DENIED:
            raise
        return str(error)
    return expanded


def _compared(vm: Manifest, expanded: Manifest | str, cluster: Cluster) -> Result:
    own, own_error, server = None, "", None
    try:
        own = resolver.expand(vm, cluster)["spec"]
    except KubeVirtError as error:
        own_error = error.message
    if not isinstance(expanded, str):
        server = release_schema.canonical("VirtualMachine", expanded, cluster.release)["spec"]
    server, resolved = redact(server, own)
    server_part = {"server_error": expanded} if isinstance(expanded, str) else {"server": server}
    parts: Result = {**server_part, **({"resolver_error": own_error} if own_error else {"resolver": resolved})}
    if isinstance(expanded, str) or own_error:
        # The server's message has a prefix.
        equal = isinstance(expanded, str) and bool(own_error) and expanded.endswith(own_error)
        return {"equal": equal, "differences": [], **parts}
    found = [
        {"field": difference["field"], "server": difference["before"], "resolver": difference["after"]}
        for difference in differences(server, resolved)
    ]
    # Fields that the resolver does not know are also differences.
    unknown = release_schema.unknown("VirtualMachineSpec", expanded.get("spec"), NEWEST)
    found += [{"field": field.path, "server": field.value, "resolver": None} for field in unknown]
    return {"equal": not found, "differences": found, **parts}


def _unreferenced(params: Params, vms: list[Drift]) -> list[dict[str, str]]:
    """The unreferenced revisions. vms: sorted by namespace.

    Empty if the task selects VMs: only all VMs of a namespace show what is referenced.
    """
    if params["names"] or params["label_selectors"]:
        return []
    results = []
    for namespace, group in groupby(vms, key=lambda vm: vm.namespace):
        members = list(group)
        revisions = unreferenced([vm.vm for vm in members], members[0].revisions)
        results += [_revision(namespace, revision["metadata"]) for revision in revisions]
    return results


def _revision(namespace: str, metadata: Result) -> dict[str, str]:
    owners = [owner["name"] for owner in metadata.get("ownerReferences") or [] if owner.get("kind") == "VirtualMachine"]
    return {
        "namespace": namespace,
        "name": metadata["name"],
        "virtual_machine": owners[0] if owners else "",
        "captured_at": metadata.get("creationTimestamp") or "",
    }
