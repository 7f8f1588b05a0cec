"""Filters about one VM: its expansion, the source of each field, and refusals.

The functions take plain manifests. An instancetype or preference given as a manifest or bare spec replaces the one that
the VM's matcher names; otherwise `objects` is searched for it. release: the KubeVirt whose behaviour counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...module_utils._boot_sources.stored_choice import explained
from ...module_utils._resolver.api import behaviour, release_schema
from ...module_utils._resolver.api.errors import FieldError, KubeVirtError, Panic
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, MatcherField, set_kinds
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.api.schema import equal
from ...module_utils._resolver.api.tree import copy, differences
from ...module_utils._resolver.change import drift as drifting
from ...module_utils._resolver.guest.effect import UNREAD_VMI
from ...module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from ...module_utils._resolver.kubevirt.instancetype import applier, conflict, find, requirements, topology
from ...module_utils._resolver.kubevirt.instancetype import infer as inference
from ...module_utils._resolver.kubevirt.instancetype.conflict import ConflictError
from ...module_utils._resolver.kubevirt.instancetype.lookup import Objects, not_found
from ...module_utils._resolver.kubevirt.instancetype.requirements import UnmetRequirement
from ...module_utils._resolver.kubevirt.vm import defaults
from ...module_utils._resolver.kubevirt.vm import expand as expansion
from .._manifest_checks import gated
from . import _field_sources as field_sources
from ._shared import accepts_unknown, choice, each, manifests, release_option, vm_filter

Overrides = dict[str, "Manifest | None"]

# The name of an object given as an argument; no cluster object can have it.
_OVERRIDE = "(given)"

Explanation = Callable[[Manifest], tuple[list[str], dict[str, Any]]]
"""A VM → what a capability knows of how it came to be, as lines and as facts."""
EXPLANATIONS: Final[tuple[Explanation, ...]] = (explained,)


def _expand(vm: Manifest, overrides: Overrides, objects: list[Manifest], release: Release) -> Manifest:
    """The VM as expand-spec returns it: without matchers, with all values from them and the defaults.

    overrides: {"instancetype": ..., "preference": ...}, None if the matcher counts.
    """
    vm, lookup = _resolved(vm, overrides, objects, release)
    return _without_empty_status(expansion.expand(vm, Cluster(lookup, KubeVirt(release))))


def _infer(vm: Manifest, objects: list[Manifest], release: Release) -> Manifest:
    """The VM with the matchers that admission infers from its volumes (`inferFromVolume`)."""
    _check(vm)
    return _without_empty_status(inference.infer(vm, Objects(objects), release))


def _explain(
    vm: Manifest, overrides: Overrides, objects: list[Manifest], release: Release, form: str = "data"
) -> dict[str, Any] | list[str]:
    """The errors of KubeVirt for the VM, and the source of each field of the expanded template.

    Conflicts are in KubeVirt's order: [{path, message}]. KubeVirt reports only the first unmet requirement: [{message,
    paths}]. Fields, [{field, value, source, instead_of}], are there unless something conflicts; see
    `_field_sources.explain`.
    Workload, only of a VM that was made for one: {workload, size}, and what was chosen for it, and why.
    form: data, or table, all of this as lines of text.
    """
    instancetype, preference, template = parts(vm, overrides, objects, release)
    try:
        conflicts = _conflicts(template, instancetype, preference, release)
        misfits = _misfits(template, instancetype, preference, release)
    except Panic as panic:
        raise KubeVirtError(f"KubeVirt rejects such a VM: {panic}") from None
    own = vm["spec"].get("template") or {}
    found = [explain(vm) for explain in EXPLANATIONS]
    rows = [] if conflicts else field_sources.explain(own, instancetype, preference, release)
    if form == "table":
        return [
            *(refusal["message"] for refusal in (*conflicts, *misfits)),
            *(line for lines, _facts in found for line in lines),
            *(field_sources.table(rows) if rows else ()),
        ]
    fields = [{**row._asdict(), "instead_of": [other._asdict() for other in row.instead_of]} for row in rows]
    more = {key: value for _lines, facts in found for key, value in facts.items()}
    return {"conflicts": conflicts, "requirements": misfits, "fields": fields, **more}


def _conflicts(
    template: Manifest, instancetype: Manifest | None, preference: Manifest | None, release: Release
) -> list[dict[str, Any]]:
    """Applies both to a canonical template, and returns its conflicts."""
    try:
        applier.apply_in_place(template["metadata"], template["spec"], instancetype, preference, release)
    except ConflictError as error:
        return [
            {"path": conflict.full_path(path), "message": conflict.cause_message(path, release)}
            for path in error.conflicts
        ]
    return []


def _misfits(
    template: Manifest, instancetype: Manifest | None, preference: Manifest | None, release: Release
) -> list[dict[str, Any]]:
    """The first unmet requirement of an applied template. The cluster's defaults count as the template's own."""
    defaults.set_spec_defaults(template["spec"], KubeVirt(release))
    try:
        topology.check_spread(instancetype, preference)
        requirements.check(instancetype, preference, template["spec"], release)
    except topology.SpreadError as error:
        return [{"message": error.message, "paths": [error.field]}]
    except UnmetRequirement as error:
        return [{"message": error.message, "paths": list(error.fields)}]
    return []


def _drift(manifest: Manifest, current: list[Manifest], release: Release) -> dict[str, Any]:
    """How captured objects differ from the current ones.

    manifest: a VM whose ControllerRevisions are in `current`; or a ControllerRevision, an instancetype or a preference,
    compared with the object of the same kind and name: {drifted, changes}.
    """
    if manifest.get("kind") == "ControllerRevision" or manifest.get("kind") in MATCHER_FIELD_OF_KIND:
        return _object_drift(manifest, Objects(current), release)
    vm_drift = drifting.drift(_admitted(manifest, release), UNREAD_VMI, Cluster(Objects(current), KubeVirt(release)))
    effect = vm_drift.effect
    result: dict[str, Any] = {
        "drifted": vm_drift.drifted,
        "guest_before": effect.guest_before,
        "guest_after": effect.guest_after,
        "changes": list(effect.changes),
        "needs": effect.needs,
    }
    if effect.refusal:
        result["refusal"] = effect.refusal
    for matcher_field, part in vm_drift.parts.items():
        result[matcher_field.name] = part.facts
    return result


def _object_drift(manifest: Manifest, lookup: Objects, release: Release) -> dict[str, Any]:
    captured = manifest["kind"] == "ControllerRevision"
    captured_object = manifest.get("data") if captured else manifest
    kind = captured_object.get("kind") if isinstance(captured_object, dict) else None
    if not isinstance(captured_object, dict) or kind not in MATCHER_FIELD_OF_KIND:
        raise FieldError("data.kind", f"{kind!r} is neither an instancetype nor a preference")
    matcher_field = MATCHER_FIELD_OF_KIND[kind]
    if captured:
        before = drifting.revision_spec(manifest, matcher_field, release)
    else:
        before = _spec(matcher_field.spec_type, captured_object, release)
    name = (captured_object.get("metadata") or {}).get("name") or ""
    live = lookup.get(kind, (manifest.get("metadata") or {}).get("namespace") or "", name)
    if live is None:
        raise not_found(kind, name)
    after = _spec(matcher_field.spec_type, live, release)
    return {"drifted": not equal(matcher_field.spec_type, before, after), "changes": differences(before, after)}


def _spec(spec_type: str, manifest: Manifest, release: Release) -> Manifest:
    try:
        return release_schema.canonical(spec_type, manifest.get("spec"), release)
    except FieldError as error:
        raise error.with_parent("spec") from None


def parts(
    vm: Manifest, overrides: Overrides, objects: list[Manifest], release: Release
) -> tuple[Manifest | None, Manifest | None, dict[str, Any]]:
    """The canonical specs of instancetype and preference (None: none), and the template."""
    vm, lookup = _resolved(vm, overrides, objects, release)
    specs = [find.effective_spec(vm, matcher_field, lookup, release) for matcher_field in MATCHER_FIELDS]
    try:
        template = release_schema.canonical("VirtualMachineInstanceTemplateSpec", vm["spec"].get("template"), release)
    except FieldError as error:
        raise error.with_parent("spec.template") from None
    return specs[0], specs[1], template


def _resolved(
    vm: Manifest, overrides: Overrides, objects: list[Manifest], release: Release
) -> tuple[Manifest, Objects]:
    """The VM with matchers for the objects given as arguments, and a lookup that knows them."""
    vm = _admitted(vm, release)
    added = []
    for matcher_field in MATCHER_FIELDS:
        manifest = overrides.get(matcher_field.name)
        if manifest is None:
            _check_inferred(matcher_field, vm)
            continue
        # Neither spec has a field `spec`, so a bare spec can be told from a manifest.
        spec = manifest.get("spec", manifest)
        vm["spec"][matcher_field.name] = {"name": _OVERRIDE, "kind": matcher_field.cluster_kind}
        if vm.get("status"):
            vm["status"].pop(matcher_field.reference, None)
        added.append({"kind": matcher_field.cluster_kind, "metadata": {"name": _OVERRIDE}, "spec": spec})
    return vm, Objects([*objects, *added])


def _admitted(vm: Manifest, release: Release) -> Manifest:
    """A copy of the VM with its matchers as the cluster stores them."""
    _check(vm)
    vm = copy(vm)
    if release.has(behaviour.SETS_MATCHER_KIND):
        set_kinds(vm)
    return vm


def _check(vm: Manifest) -> None:
    if not isinstance(vm.get("spec"), dict):
        raise FieldError("spec", "missing; pass the manifest of a VirtualMachine")


def _check_inferred(matcher_field: MatcherField, vm: Manifest) -> None:
    """Rejects a matcher that is still to be inferred: after admission KubeVirt would look for an object
    without a name.
    """
    matcher = matcher_field.matcher_of(vm)
    if isinstance(matcher, dict) and matcher.get("inferFromVolume") and not matcher.get("name"):
        volume = matcher["inferFromVolume"]
        raise FieldError(
            f"spec.{matcher_field.name}",
            f"must be inferred from the volume {volume}; pass the VM through the filter infer first",
        )


def _without_empty_status(vm: Manifest) -> Manifest:
    if not vm.get("status"):
        vm.pop("status", None)
    return vm


expand = vm_filter(_expand)
explain = vm_filter(_explain, form=choice("data", "table"))


def drift(value: Any, current: Any, kubevirt_version: Any = None) -> Any:
    """See its documentation."""
    current_manifests, release = manifests("current", current), release_option(kubevirt_version)
    return each(value, lambda manifest: _drift(manifest, current_manifests, release))


def infer(value: Any, objects: Any, kubevirt_version: Any = None, accept_unknown_fields: Any = False) -> Any:
    """See its documentation."""
    known_objects, release = manifests("objects", objects), release_option(kubevirt_version)
    accept = accepts_unknown(accept_unknown_fields)
    return each(value, lambda vm: _infer(gated(vm, accept), known_objects, release))
