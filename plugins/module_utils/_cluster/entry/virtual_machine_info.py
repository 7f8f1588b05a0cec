"""The module virtual_machine_info: options, results."""

from __future__ import annotations

from itertools import groupby
from typing import Any, Final

from ..._resolver.api.matcher import ROLES
from ..._resolver.refresh.controller_revisions import unreferenced
from ..._resolver.refresh.export import VMExport, export_vms, manifests
from ..client.errors import TaskFailed
from ..client.session import Session
from ..read.expansion import Expansion, expand_vms
from ..read.kubevirt import kubevirt
from ..read.revisions import InspectedVM, inspect
from .argument_spec import AUTH, REQUESTS
from .outcome import Mode, Module, Outcome, Params, amount, reasons
from .selection import SELECTION, check_selection, selector, unselected
from .vm_results import refresh_result, vm_result

Result = dict[str, Any]

RESOURCES: Final = "resources"
REFRESH: Final = "refresh"
EXPANSION: Final = "expansion"

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
    "concurrency": {"type": "int", "default": 16},
    **REQUESTS,
}


def _run(params: Params, mode: Mode) -> Outcome:
    check_selection(params)
    session = Session(params, params["concurrency"])
    inspected = inspect(session, params["namespace"], params["names"], selector(params))
    problem = unselected(params, session, {vm.name for vm in inspected})
    if problem and params["names"] and params["export"] is not None:
        raise TaskFailed(problem)
    vms = [vm for vm in inspected if _is_requested(params, vm)]
    results = [_result(vm, params["include"]) for vm in vms]
    if EXPANSION in params["include"]:
        expansions = expand_vms(session, [vm.vm for vm in vms], params["concurrency"])
        results = [{**vm, EXPANSION: _expansion(expansion)} for vm, expansion in zip(results, expansions)]
    exports = _exports(params["export"], vms)
    results = [{**vm, "export": _export(export)} for vm, export in zip(results, exports)] if exports else results
    assumption = vms[0].kubevirt.assumption if vms else ""
    more = {"unreferenced": _unreferenced(params, inspected)} if REFRESH in params["include"] else {}
    version = kubevirt(session).version
    result = {"changed": False, "kubevirt_version": version, "virtual_machines": results, "unmatched": problem, **more}
    mode.warnings += filter(None, (assumption, problem))
    if params["export"] is not None:
        failures = [(vm.label, export.problem) for vm, export in zip(vms, exports) if export.problem]
        result["manifests"] = [] if failures else manifests(exports)
        if failures:
            count = f"{len(failures)} of {amount(len(vms), 'virtual machines')} cannot be exported"
            return Outcome({**result, "msg": f"{count}: {reasons(failures)[0]}"}, failed=True)
    return Outcome(result)


MODULE = Module(_SPEC, _run)


def _is_requested(params: Params, vm: InspectedVM) -> bool:
    """Whether the task is to return a VM. An option that is None takes any."""
    found = {role.matcher: (role.matcher_of(vm.vm) or {}).get("name") for role in ROLES}
    found |= {"drifted": vm.drift.drifted, "restart_required": vm.restart_required}
    return all(params[name] in (None, found[name]) for name in _FILTERS)


def _result(vm: InspectedVM, include: list[str]) -> Result:
    result = vm_result(vm, with_resources=RESOURCES in include)
    return {**result, **refresh_result(vm)} if REFRESH in include else result


def _exports(options: Params | None, vms: list[InspectedVM]) -> list[VMExport]:
    """Those of the VMs; none without the option."""
    if options is None or not vms:
        return []
    release, place, run_strategy = vms[0].kubevirt.release, options["target_namespace"], options["run_strategy"]
    return export_vms(((vm.vm, vm.objects) for vm in vms), release, place or "", run_strategy or "")


def _export(export: VMExport) -> Result:
    if export.problem:
        return {"problem": export.problem}
    return {"revisions": {role: revision["metadata"]["name"] for role, revision in export.revisions.items()}}


def _expansion(expansion: Expansion) -> Result:
    parts = ("server", "server_error", "resolver", "resolver_error")
    present = {part: value for part in parts if (value := getattr(expansion, part)) is not None}
    return {"equal": expansion.equal, "differences": expansion.differences, **present}


def _unreferenced(params: Params, vms: list[InspectedVM]) -> list[dict[str, str]]:
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
