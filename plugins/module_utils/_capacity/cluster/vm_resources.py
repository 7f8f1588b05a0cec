"""The resources of VMs at their next start, for modules that return VMs, and the inventory."""

from __future__ import annotations

from typing import Any

from ..._resolver.api import schema
from ..._resolver.api.errors import KubeVirtError
from ..._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, PREFERENCE
from ..._resolver.change.drift import REVISION_LOST, UNKNOWN, Drift, MatcherDrift
from ..._resolver.kubevirt.instancetype import lookup
from ..._resolver.kubevirt.vm import expand
from ..pod.environment import Environment
from ..pod.resources import resources

Result = dict[str, Any]


def vm_resources(vm: Drift) -> Result:
    """{resources}: of guest and pod at the next start, with the captured revisions; or {problem}: why unknown."""
    captured = vm.applied_specs
    for matcher_field in captured:
        part = vm.parts[matcher_field]
        lost = part.state in (REVISION_LOST, UNKNOWN) and vm.revision(part.revision) is None
        if captured[matcher_field] is None or lost:
            return {"problem": _missing(matcher_field.name, part)}
    template = schema.canonical("VirtualMachineInstanceTemplateSpec", vm.vm["spec"].get("template"))
    specs = captured.get(INSTANCETYPE), captured.get(PREFERENCE)
    try:
        expand.apply_defaults(template, *specs, vm.cluster.kubevirt)
        metadata = {**template["metadata"], "name": vm.name, "namespace": vm.namespace}
        return {"resources": resources(metadata, template["spec"], Environment(vm.cluster.kubevirt))}
    except KubeVirtError as error:
        return {"problem": error.message}


def _missing(matcher: str, part: MatcherDrift) -> str:
    if part.state == UNKNOWN:
        return f"{matcher}: cannot read the ControllerRevision {part.revision}: {part.problem}"
    if part.revision:
        return lookup.not_found("ControllerRevision", part.revision).message
    if part.kind in MATCHER_FIELD_OF_KIND:
        return lookup.not_found(part.kind, part.name).message
    return f"{matcher}.kind: KubeVirt has no kind {part.kind}"
