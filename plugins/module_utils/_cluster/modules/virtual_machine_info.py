"""The module virtual_machine_info: options, results."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import groupby
from typing import Any, Final

from ..._resolver.api import release_schema
from ..._resolver.api.errors import KubeVirtError
from ..._resolver.api.kinds import Kind
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import MATCHER_FIELDS
from ..._resolver.api.release import NEWEST
from ..._resolver.api.tree import differences
from ..._resolver.change.controller_revisions import unreferenced
from ..._resolver.change.drift import Drift
from ..._resolver.change.export import VMExport, export_vms, manifests
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
from .results import counted_noun, summarize_failures
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
from .vm_results import VMFacts, add_captured, refresh_result, vm_result

_STORED: Final = Kind("", "subresources.kubevirt.io", "v1", "virtualmachines", True)
_DENIED: Final = (401, 403)
RESOURCES: Final = "resources"
REFRESH: Final = "refresh"
EXPANSION: Final = "expansion"
CAPTURED: Final = "captured"
DIAGNOSIS: Final = "diagnosis"

_FILTERS: dict[str, dict[str, Any]] = {
    "instancetype": {"type": "str"},
    "preference": {"type": "str"},
    "drifted": {"type": "bool"},
    "restart_required": {"type": "bool"},
}
_INCLUDE: dict[str, Any] = {
    "type": "list",
    "elements": "str",
    "choices": [RESOURCES, REFRESH, EXPANSION, CAPTURED, DIAGNOSIS],
    "default": [RESOURCES],
}
_EXPORT: dict[str, Any] = {
    "type": "dict",
    "options": {
        "target_namespace": {"type": "str"},
        "run_strategy": {"type": "str", "choices": ["Always", "Halted", "Manual", "Once", "RerunOnFailure"]},
    },
}
_SPEC: dict[str, dict[str, Any]] = {
    **AUTH,
    **SELECTION,
    **_FILTERS,
    "include": _INCLUDE,
    "export": _EXPORT,
    **CONCURRENCY,
    **REQUESTS,
}


Diagnosis = Callable[[Session, "list[Drift]", "str | None", "list[str]"], "list[Result]"]
"""The diagnosis of each VM, of the VMs, their namespace or None, and the list of warnings to add to."""


def module(resources: VMFacts | None = None, diagnosis: Diagnosis | None = None) -> Module:
    """The module. resources: returns the facts of a VM at its next start. diagnosis: diagnoses VMs."""
    return Module(_SPEC, partial(_run, resources=resources, diagnosis=diagnosis))


def _run(params: Params, task: Task, resources: VMFacts | None, diagnosis: Diagnosis | None) -> Result:
    check_selection(params)
    session = task.connect(params)
    inspected = inspect(session, params["namespace"], params["names"], label_selector(params))
    problem = selection_problem(params, session, {vm.name for vm in inspected})
    if problem:
        report_unmatched(problem, task, required=bool(params["names"]) and params["export"] is not None)
    vms = [vm for vm in inspected if _is_selected(params, vm)]
    results = [_result(vm, params["include"], resources) for vm in vms]
    if EXPANSION in params["include"]:
        expanded = expansions(session, [vm.vm for vm in vms], params["concurrency"])
        results = [{**vm, EXPANSION: expansion} for vm, expansion in zip(results, expanded)]
    if DIAGNOSIS in params["include"] and diagnosis is not None:
        diagnoses = diagnosis(session, vms, params["namespace"], task.warnings)
        results = [{**vm, DIAGNOSIS: found} for vm, found in zip(results, diagnoses)]
    exports = _exports(params["export"], vms)
    results = [{**vm, "export": _export(export)} for vm, export in zip(results, exports)] if exports else results
    assumption = vms[0].cluster.kubevirt.assumption if vms else ""
    more = {"unreferenced": _unreferenced(params, inspected)} if REFRESH in params["include"] else {}
    version = kubevirt(session).version
    result = {"changed": False, "kubevirt_version": version, "virtual_machines": results, "unmatched": problem, **more}
    task.warnings += [assumption] if assumption else []
    if params["export"] is not None:
        failures = [(vm.label, export.problem) for vm, export in zip(vms, exports) if export.problem]
        result["manifests"] = [] if failures else manifests(exports)
        if failures:
            count = f"{len(failures)} of {counted_noun(len(vms), 'virtual machines')} cannot be exported"
            return {**result, "msg": f"{count}: {summarize_failures(failures)[0]}", "failed": True}
    return result


def _is_selected(params: Params, vm: Drift) -> bool:
    """Whether the task is to return a VM. An option that is None takes any."""
    found = {matcher_field.name: matcher_field.matcher_or_empty(vm.vm).get("name") for matcher_field in MATCHER_FIELDS}
    found |= {"drifted": vm.drifted, "restart_required": vm.restart_required}
    return all(params[name] in (None, found[name]) for name in _FILTERS)


def _result(vm: Drift, include: list[str], resources: VMFacts | None) -> Result:
    result = vm_result(vm, resources if RESOURCES in include else None)
    if REFRESH in include:
        result.update(refresh_result(vm))
    if CAPTURED in include:
        add_captured(vm, result)
    return result


def _exports(options: Params | None, vms: list[Drift]) -> list[VMExport]:
    """The exports of VMs; empty without the option `export`."""
    if options is None or not vms:
        return []
    release, place, run_strategy = vms[0].cluster.release, options["target_namespace"], options["run_strategy"]
    return export_vms(((vm.vm, vm.cluster.objects) for vm in vms), release, place or "", run_strategy or "")


def _export(export: VMExport) -> Result:
    if export.problem:
        return {"problem": export.problem}
    return {
        "revisions": {
            matcher_field: revision["metadata"]["name"] for matcher_field, revision in export.revisions.items()
        }
    }


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
