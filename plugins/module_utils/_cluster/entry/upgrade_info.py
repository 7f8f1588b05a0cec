"""The module upgrade_info: options, results."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from ..._resolver.api.errors import FieldError
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.manifest import path_of
from ..._resolver.api.matcher import ROLE_OF_KIND, references
from ..._resolver.api.release import UnknownRelease
from ..._resolver.catalog.upgrade import ObjectChange
from ..._resolver.kubevirt.admission.cluster_config import config_of
from ..._resolver.kubevirt.vmi.cluster import KubeVirt, at_release
from ..._resolver.refresh.drift import needs
from ..._resolver.upgrade.steps import Step, settings, steps
from ..._resolver.upgrade.templates import TemplateChange
from ..._resolver.upgrade.vm import Admission, Admissions, VMChange
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.upgrade import UpgradeImpact, upgrade_impact
from .argument_spec import AUTH, REQUESTS
from .outcome import Mode, Module, Outcome, Params, TaskFailed
from .selection import SELECTION, check_selection, selected

Result = dict[str, Any]

_SPEC: dict[str, dict[str, Any]] = {
    "kubevirt_version": {"type": "str"},
    "kubevirt_configuration": {"type": "dict"},
    "catalog": {"type": "list", "elements": "dict", "default": []},
}


def _run(params: Params, _mode: Mode) -> Outcome:
    check_selection(params)
    warnings: list[str] = []
    try:
        catalog = [_checked(index, manifest) for index, manifest in enumerate(params["catalog"])]
        session = Session(params)
        after = _after(kubevirt(session), params)
        impact = upgrade_impact(session, selected(params, session, warnings), params["namespace"], after, catalog)
    except (ApiError, ConnectionFailed) as error:
        raise TaskFailed(explain(error, "LIST", BY_NAME["VirtualMachine"])) from error
    except FieldError as error:
        raise TaskFailed(str(error)) from error
    warnings += [warning for warning in (*impact.warnings, impact.before.assumption) if warning]
    return Outcome({"changed": False, **_result(impact)}, warnings=warnings)


MODULE = Module({**AUTH, **SELECTION, **_SPEC, **REQUESTS}, _run)


def _after(before: KubeVirt, params: Params) -> KubeVirt:
    try:
        after = at_release(before, params["kubevirt_version"] or "", params["kubevirt_configuration"])
        config_of(after)
        return after
    except UnknownRelease as error:
        raise TaskFailed(f"kubevirt_version: {error}") from error
    except ValueError as error:
        message = f"kubevirt_configuration: {error}; pass spec.configuration of a KubeVirt object"
        raise TaskFailed(message) from error


def _checked(index: int, manifest: Result) -> Result:
    """A manifest of the option `catalog`. Raises FieldError."""
    metadata = manifest.get("metadata")
    if (
        manifest.get("kind") not in ROLE_OF_KIND
        or not isinstance(metadata, dict)
        or not metadata.get("name")
        or not isinstance(manifest.get("spec"), dict)
    ):
        raise FieldError(
            f"catalog[{index}]",
            "is no manifest of an instancetype or preference; convert catalogs with the filter catalog_objects",
        )
    return manifest


def _result(impact: UpgradeImpact) -> Result:
    users: dict[Any, list[str]] = defaultdict(list)
    for vm in impact.vms:
        for object_key in references(vm.vm):
            users[object_key].append(vm.label)
    before, after = impact.before, impact.after
    planned_steps = steps(impact.vms, impact.objects, before, after, impact.templates, impact.admissions)
    by_vm = (impact.admissions or Admissions({}, [])).vms
    return {
        "kubevirt": {"before": _version(before), "after": _version(after)},
        "settings": settings(before, after),
        "steps": [_step(step) for step in planned_steps],
        "virtual_machines": [_vm(vm, by_vm.get(path_of(vm.vm), Admission())) for vm in impact.vms],
        "quotas": impact.admissions.quotas if impact.admissions else [],
        "templates": [_template(template) for template in impact.templates],
        "objects": [_object(item, users[item.object_key]) for item in impact.objects if item.affected],
    }


def _version(side: KubeVirt) -> str:
    return side.version.removeprefix("v") or ".".join(map(str, side.release.version))


def _step(step: Step) -> Result:
    return {**step._asdict(), "virtual_machines": list(step.virtual_machines), "templates": list(step.templates)}


def _start_fields(change: VMChange | TemplateChange, manifest: Result) -> Result:
    """The result fields that VMs and templates have in common."""
    result: Result = {
        "name": manifest["metadata"]["name"],
        "namespace": manifest["metadata"]["namespace"],
        "changes": list(change.changes),
        "guest_before": change.before.guest,
        "guest_after": change.after.guest,
        "pod_before": dict(change.before.pod),
        "pod_after": dict(change.after.pod),
        "lost": list(change.lost),
    }
    texts = {
        "refusal": change.refusal,
        "refusal_before": change.refusal_before,
        "problem": change.after.problem,
        "problem_before": change.before.problem,
    }
    return {**result, **_not_empty(texts)}


def _not_empty(texts: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text}


def _template(template: TemplateChange) -> Result:
    return {**_start_fields(template, template.manifest), "affected": template.affected}


def _vm(vm: VMChange, admission: Admission) -> Result:
    result: Result = {
        **_start_fields(vm, vm.vm),
        "needs": vm.effect,
        "restart_required": bool(vm.restart_reason),
        "pinned": vm.pinned,
        "drifted": vm.refresh.drifted,
        "refresh": {
            "guest_after": vm.refresh.effect.guest_after,
            "needs": needs(vm.refresh.effect),
            "refusal": vm.refresh.effect.refusal or "",
        },
    }
    texts = {"restart_reason": vm.restart_reason, "quota_after": admission.after, "quota_before": admission.before}
    result.update(_not_empty(texts))
    result["affected"] = _is_affected(vm) or admission.before != admission.after
    return result


def _is_affected(vm: VMChange) -> bool:
    before, after = vm.before, vm.after
    same = (vm.refusal, after.problem) == (vm.refusal_before, before.problem)
    return not same or bool(vm.changes or vm.lost or vm.pinned or vm.restart_reason or before.pod != after.pod)


def _object(item: ObjectChange, users: list[str]) -> Result:
    return {
        **item.object_key._asdict(),
        "status": item.status,
        "changes": list(item.changes),
        "lost": list(item.lost),
        "effects": list(item.effects),
        "used_by": users,
    }
