"""The module capacity_info."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..._cluster.client.errors import TaskFailed
from ..._cluster.client.session import Session
from ..._cluster.modules.module import Module, Params, Result
from ..._cluster.modules.shared_options import AUTH, REQUESTS, SELECTION, check_selection, select_vms
from ..._cluster.reads.kubevirt import kubevirt
from ..._cluster.task import Task
from ..._resolver.api import formats
from ..._resolver.api.errors import FieldError
from ..._resolver.api.matcher import MATCHER_FIELDS, MatcherField
from ..._resolver.kubevirt.instancetype.revision_names import without_revisions
from ..pod.render import KEEP, MIGRATE, RESTART, joint_verdict
from .reads import read_placement, read_quota_effects

QUOTA: Final = "quota"
PLACEMENT: Final = "placement"

_REFRESHED: dict[str | None, tuple[MatcherField, ...]] = {
    None: (),
    "both": MATCHER_FIELDS,
    **{matcher_field.name: (matcher_field,) for matcher_field in MATCHER_FIELDS},
}
_SPEC: dict[str, dict[str, Any]] = {
    "checks": {"type": "list", "elements": "str", "choices": [QUOTA, PLACEMENT], "default": [QUOTA, PLACEMENT]},
    "manifests": {"type": "list", "elements": "dict"},
    "refreshed": {"type": "str", "choices": ["both", "instancetype", "preference"]},
    "running": {"type": "str", "choices": [KEEP, RESTART, MIGRATE], "default": KEEP},
    "drain": {"type": "list", "elements": "str", "default": []},
    "instancetypes": {"type": "list", "elements": "str", "default": []},
}


def _run(params: Params, task: Task) -> Result:
    check_selection(params)
    if not params["checks"]:
        raise TaskFailed("checks: is empty; name quota, placement or both")
    session, warnings = task.connect(params), task.warnings
    vms = select_vms(params, session, task) if params["manifests"] is None else _declared(params)
    result, check_warnings = run_checks(
        session, [without_revisions(vm, _REFRESHED[params["refreshed"]]) for vm in vms], params, task
    )
    warnings += filter(None, dict.fromkeys((*check_warnings, kubevirt(session).assumption)))
    fits = all(verdict["fits"] for verdict in (*result["virtual_machines"], *result["drained"]))
    return {"changed": False, "fits": fits, **result}


MODULE = Module({**AUTH, **SELECTION, **_SPEC, **REQUESTS}, _run, {"mutually_exclusive": [("manifests", "names")]})


def run_checks(session: Session, vms: list[Result], params: Params, task: Task) -> tuple[Result, list[str]]:
    """(what the checks say of the VMs, together and each by itself; warnings)."""
    moved = RESTART if params["running"] == RESTART else MIGRATE
    checks: dict[str, Callable[[], tuple[Result, list[str]]]] = {
        QUOTA: lambda: read_quota_effects(session, vms, params["running"]),
        PLACEMENT: lambda: read_placement(session, vms, params["drain"], params["instancetypes"], moved, task),
    }
    result: Result = {"quotas": [], "drained": [], "instancetypes": []}
    warnings: list[str] = []
    verdicts: dict[str, list[Result]] = {}
    for name, check in checks.items():
        if name in params["checks"]:
            check_result, check_warnings = check()
            verdicts[name] = check_result.pop("virtual_machines")
            result.update(check_result)
            warnings += check_warnings
    by_vm = [dict(zip(verdicts, vm_verdicts)) for vm_verdicts in zip(*verdicts.values())]
    return {**result, "virtual_machines": [_vm_verdict(checked, params["running"]) for checked in by_vm]}, warnings


def _vm_verdict(verdicts: dict[str, Result], running: str) -> Result:
    """One VM's verdicts by check, as one. A guest that is to migrate fits where its migration does."""
    first = next(iter(verdicts.values()))
    head = {name: first[name] for name in ("name", "namespace")}
    by_check = [{**part, **part.get("migration", {})} if running == MIGRATE else part for part in verdicts.values()]
    parts = {check: {name: part[name] for name in part if name not in head} for check, part in verdicts.items()}
    return {**head, **joint_verdict(by_check), **parts}


def _declared(params: Params) -> list[Result]:
    """The manifests; the task's namespace is their default. Raises FieldError."""
    vms = []
    for index, manifest in enumerate(params["manifests"]):
        metadata = manifest.get("metadata") or {}
        if not isinstance(metadata, dict) or not isinstance(manifest.get("spec"), dict):
            raise FieldError(f"manifests[{index}]", "is not a VirtualMachine manifest")
        try:
            formats.checked("VirtualMachineSpec", manifest["spec"], False)
        except FieldError as error:
            raise error.with_parent(f"manifests[{index}].spec") from None
        namespace = metadata.get("namespace") or params["namespace"] or ""
        vms.append({**manifest, "metadata": {**metadata, "namespace": namespace}})
    return vms
