"""The module upgrade_info: options, results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ..._capacity.cluster.reads import read_limits
from ..._cluster.client.errors import TaskFailed
from ..._cluster.client.session import Session
from ..._cluster.modules.module import Module, Params, Result
from ..._cluster.modules.shared_options import AUTH, REQUESTS, SELECTION, check_selection, select_vms
from ..._cluster.reads.kubevirt import kubevirt
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.reads.revisions import vmis
from ..._cluster.reads.surroundings import list_if_permitted
from ..._cluster.task import Task
from ..._resolver.api.errors import FieldError
from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest, namespaced_name
from ..._resolver.api.matcher import MATCHER_FIELD_OF_KIND, references
from ..._resolver.api.release import UnknownRelease
from ..._resolver.catalog.deployment_effects import ObjectChange, PlannedLookup, deployed, objects
from ..._resolver.kubevirt.cluster import Cluster, KubeVirt, at_release
from ..steps import settings, steps
from ..vm import Admission, UpgradeChange, VMChange, admissions, template_change, upgrade_side, vm_change

# The versions of the API of templates, the newest first.
_VERSIONS = ("v1beta1", "v1alpha1")


_SPEC: dict[str, dict[str, Any]] = {
    "kubevirt_version": {"type": "str"},
    "kubevirt_configuration": {"type": "dict"},
    "catalog": {"type": "list", "elements": "dict", "default": []},
}


def _run(params: Params, task: Task) -> Result:
    check_selection(params)
    catalog = [_checked(index, manifest) for index, manifest in enumerate(params["catalog"])]
    session = task.connect(params)
    after = _after(kubevirt(session), params)
    vms = select_vms(params, session, task)
    result = _impact(session, vms, params["namespace"], after, catalog, task.warnings)
    return {"changed": False, **result}


MODULE = Module({**AUTH, **SELECTION, **_SPEC, **REQUESTS}, _run)


def _after(before: KubeVirt, params: Params) -> KubeVirt:
    try:
        return at_release(before, params["kubevirt_version"] or "", params["kubevirt_configuration"])
    except UnknownRelease as error:
        raise TaskFailed(f"kubevirt_version: {error}") from error
    except ValueError as error:
        message = f"kubevirt_configuration: {error}; pass spec.configuration of a KubeVirt object"
        raise TaskFailed(message) from error


def _checked(index: int, manifest: Manifest) -> Manifest:
    """A manifest of the option `catalog`. Raises FieldError."""
    metadata = manifest.get("metadata")
    if (
        manifest.get("kind") not in MATCHER_FIELD_OF_KIND
        or not isinstance(metadata, dict)
        or not metadata.get("name")
        or not isinstance(manifest.get("spec"), dict)
    ):
        raise FieldError(
            f"catalog[{index}]",
            "is not a manifest of an instancetype or preference; convert catalogs with the filter catalog_objects",
        )
    return manifest


def _impact(
    session: Session,
    vms: Sequence[Manifest],
    namespace: str | None,
    after: KubeVirt,
    catalog: Sequence[Manifest],
    warnings: list[str],
) -> Result:
    """Reads a cluster and computes the effects of an upgrade. Adds a warning for objects that cannot be read.

    vms: the VMs to judge; all VMs of the namespace unless that is None. catalog: the objects of the new catalog.
    """
    before = kubevirt(session)
    lookup = ClusterLookup(session, all_namespaces=namespace is None, strict=True)
    namespaces = sorted({vm["metadata"]["namespace"] for vm in vms} | ({namespace} if namespace else set()))
    kinds = [
        (kind, name) for kind in MATCHER_FIELD_OF_KIND for name in (namespaces if KINDS[kind].namespaced else [""])
    ]
    lookup.gather_lists([*kinds, *(("ControllerRevision", name) for name in namespaces)])
    live = [item for kind, name in kinds for item in lookup.list(kind, name)]
    replaced = deployed(live, catalog)
    room = read_limits(session, vms, namespace, warnings)
    sides = (
        upgrade_side(Cluster(lookup, before), vms, room),
        upgrade_side(Cluster(PlannedLookup(replaced, lookup), after), vms, room),
    )
    vmi_of = vmis(session, namespace, vms)
    vm_changes = [vm_change(vm, vmi_of(vm), *sides) for vm in vms]
    templates = [template_change(item, *sides) for item in _templates(session, namespace, warnings)]
    object_changes = objects(live, replaced, before.release, after.release)
    admitted = admissions(vms, *sides, room) if room is not None else None
    warnings += [f"{kind}: {problem.message}" for kind, problem in sorted(lookup.problems.items())]
    warnings += filter(None, [before.assumption, after.assumption])
    users: dict[Any, list[str]] = defaultdict(list)
    for vm in vm_changes:
        for object_key in references(vm.manifest):
            users[object_key].append(vm.label)
    by_vm = admitted.vms if admitted else {}
    return {
        "kubevirt": {"before": _version(before), "after": _version(after)},
        "settings": settings(before, after),
        "steps": [
            {**step._asdict(), "virtual_machines": list(step.virtual_machines), "templates": list(step.templates)}
            for step in steps(vm_changes, object_changes, before, after, templates, admitted)
        ],
        "virtual_machines": [_vm(vm, by_vm.get(namespaced_name(vm.manifest), Admission())) for vm in vm_changes],
        "quotas": admitted.quotas if admitted else [],
        "templates": [_template(template) for template in templates],
        "objects": [_object(item, users[item.object_key]) for item in object_changes if item.affected],
    }


def _templates(session: Session, namespace: str | None, warnings: list[str]) -> list[Manifest]:
    for version in _VERSIONS:
        kind = Kind("VirtualMachineTemplate", "template.kubevirt.io", version, "virtualmachinetemplates", True)
        before = len(warnings)
        live = list_if_permitted(session, kind, warnings, namespace)
        if live is not None or len(warnings) > before:
            return live or []
    return []


def _version(side: KubeVirt) -> str:
    return side.version.removeprefix("v") or ".".join(map(str, side.release.version))


def _start_fields(change: UpgradeChange) -> Result:
    """The result fields that VMs and templates have in common."""
    result: Result = {
        "name": change.manifest["metadata"]["name"],
        "namespace": change.manifest["metadata"]["namespace"],
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


def _template(template: UpgradeChange) -> Result:
    return {**_start_fields(template), "affected": template.affected}


def _vm(vm: VMChange, admission: Admission) -> Result:
    result: Result = {
        **_start_fields(vm),
        "needs": vm.effect.needs,
        "restart_required": vm.effect.requested,
        "pinned": vm.pinned,
        "drifted": vm.refresh.drifted,
        "refresh": {
            "guest_after": vm.refresh.effect.guest_after,
            "needs": vm.refresh.effect.needs,
            "refusal": vm.refresh.effect.refusal or "",
        },
    }
    reason = vm.effect.reason if vm.effect.requested else ""
    texts = {"restart_reason": reason, "quota_after": admission.after, "quota_before": admission.before}
    result.update(_not_empty(texts))
    result["affected"] = vm.affected or admission.before != admission.after
    return result


def _object(item: ObjectChange, users: list[str]) -> Result:
    return {
        **item.object_key._asdict(),
        "status": item.status,
        "changes": list(item.changes),
        "lost": list(item.lost),
        "effects": list(item.effects),
        "used_by": users,
    }
