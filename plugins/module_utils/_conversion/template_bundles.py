"""VMs of VirtualMachineInstancePresets and OpenShift Templates become VMs and templates with an instancetype.

A VM that presets match gets what they gave its VMI, and leaves presets out from then on. A Template becomes a
VirtualMachineTemplate. From a catalog, each gets the instancetype and the preference with which its guest is the same,
or else the ones with which it differs least.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from .._adoption.adopt import Adoption, adopt
from .._adoption.effective import effective
from .._boot_sources.workload import normalized
from .._resolver.api import release_schema
from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import OS_ANNOTATION, Manifest, annotations_of, name_of, namespace_of
from .._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE, MatcherField
from .._resolver.api.name_rules import first_names
from .._resolver.api.release import NEWEST, Release
from .._resolver.api.state import is_active
from .._resolver.api.tree import copy, value_at, without_secrets
from .._resolver.choose.sizes import shown
from .._resolver.choose.windows import version_of
from .._resolver.kubevirt.cluster import Cluster, KubeVirt
from .._resolver.kubevirt.instancetype.lookup import Objects
from .._resolver.kubevirt.vm import vmi
from .._resolver.kubevirt.vm.vmi import guest_figures
from .._templates import behaviour, conversion, process
from . import presets as preset_rules
from . import template_parameters
from .modernize import FieldChange, Modernization, RemainingField, modernize
from .template_split import split, vms_of

TEMPLATE: Final = "Template"
_DOMAIN: Final = "spec.template.spec.domain"
LABELS: Final = "spec.template.metadata.labels"
"""The field of an error about presets that conflict."""
_ANNOTATIONS: Final = "spec.template.metadata.annotations"
_SHOWN: Final = 5
_SYSTEM: Final = ("spec", "annotations", OS_ANNOTATION)


class ConversionSources(NamedTuple):
    """Manifests that a conversion uses.

    presets: a preset without a namespace counts for all. catalog: instancetypes and preferences of v1beta1, of
    either kind; None to choose none. waste: the most additional vCPUs and memory of a guest in sum, a share; None for
    no bound.
    """

    presets: Sequence[Manifest] = ()
    catalog: Sequence[Manifest] | None = None
    waste: Fraction | None = Fraction(1, 2)


def convert(manifest: Manifest, sources: ConversionSources, release: Release = NEWEST) -> Modernization:
    """The manifest in the current API. Raises FieldError, as `modernize` does, and for a VM that no cluster starts."""
    kind = manifest.get("kind")
    if kind == TEMPLATE and vms_of(manifest):
        return _of_openshift(manifest, sources, release)
    if kind == conversion.KIND:
        return _of_template(manifest, sources, release)
    modern = modernize(manifest, release)
    if kind != "VirtualMachine" or not isinstance((modern.manifest.get("spec") or {}).get("template"), dict):
        return modern
    _add_presets(modern, sources.presets)
    if sources.catalog is not None and INSTANCETYPE.matcher_of(modern.manifest) is None:
        _add_instancetype(modern, sources.catalog, sources.waste)
    return modern


def preferences_of(os: str, preferences: Sequence[Manifest]) -> list[Manifest]:
    """The preferences for an operating system as common templates write it: rhel.9 and rhel.9.desktop for rhel9."""

    def is_named(name: str) -> bool:
        parts = name.split(".")
        return any(normalized("".join(parts[: end + 1])) == normalized(os) for end in range(len(parts)))

    return [preference for preference in preferences if is_named(preference["metadata"]["name"])]


def _of_openshift(manifest: Manifest, sources: ConversionSources, release: Release) -> Modernization:
    if not release.has(behaviour.HAS_TEMPLATES):
        note = f"KubeVirt has templates of its own from {behaviour.HAS_TEMPLATES} on."
        return Modernization(copy(manifest), release, remaining=[RemainingField("kind", note)])
    parts = split(manifest)
    converted = _of_template(conversion.convert(parts.vm, object_labels=True), sources, release)
    change = FieldChange("kind", TEMPLATE, "kind", conversion.KIND, "KubeVirt has templates of its own.")
    converted.changes.insert(0, change)
    if parts.others is not None:
        converted.others.append(copy(parts.others))
        kinds = first_names(dict.fromkeys(str(item.get("kind")) for item in parts.others["objects"]), _SHOWN)
        converted.remaining.append(RemainingField("objects", f"The others ({kinds}) stay in a Template beside it."))
    for name in parts.generated:
        note = "Both templates generate a value of their own; give them the same."
        converted.remaining.append(RemainingField(f"{template_parameters.PARAMETERS}[{name}]", note))
    return converted


def _of_template(template: Manifest, sources: ConversionSources, release: Release) -> Modernization:
    """The template with another VM, in which references to parameters stay where the VM does not change."""
    spec = template.get("spec") or {}
    example = process.trial_vm(template)
    if example.vm is None or example.refusal:
        raise FieldError("spec", example.refusal)
    namespace = namespace_of(template)
    vm = {**example.vm, "kind": "VirtualMachine"}
    placed = {**vm, "metadata": {**({"namespace": namespace} if namespace else {}), **(vm.get("metadata") or {})}}
    if template_parameters.of_size(spec["virtualMachine"]) & example.open:
        # Users of the template say the size, and with which instancetype.
        sources = sources._replace(waste=None)
    try:
        successor = convert(placed, sources, release)
    except FieldError as error:
        raise error.with_parent("spec.virtualMachine") from None
    changed = _carried_over(spec["virtualMachine"], placed, successor.manifest)
    successor.manifest = {**template, "spec": {**spec, "virtualMachine": changed}}
    replaced = template_parameters.replace(successor.manifest["spec"], spec["virtualMachine"], example.open)
    successor.changes = [*map(_under_vm, successor.changes), *replaced.changes]
    remaining = [item._replace(path=f"spec.virtualMachine.{item.path}") for item in successor.remaining]
    successor.remaining = [*remaining, *replaced.remaining]
    return successor


def _under_vm(change: FieldChange) -> FieldChange:
    paths = {
        name: f"spec.virtualMachine.{getattr(change, name)}" for name in ("path", "new_path") if getattr(change, name)
    }
    return change._replace(**paths)


def _carried_over(raw: Any, before: Any, after: Any) -> Any:
    """The raw value with the changes from before, which is raw without references, to after."""
    if before == after:
        return raw
    if all(isinstance(value, dict) for value in (raw, before, after)):
        result = {
            key: _carried_over(value, before[key], after[key]) if key in before else value
            for key, value in raw.items()
            if key not in before or key in after
        }
        return {**result, **{key: value for key, value in after.items() if key not in before}}
    if all(isinstance(value, list) and len(value) == len(after) for value in (raw, before, after)):
        return [_carried_over(*values) for values in zip(raw, before, after)]
    return after


def _add_presets(draft: Modernization, presets: Sequence[Manifest]) -> None:
    """Declares in the VM what matching presets would give its VMI, and excludes the VM from presets."""
    vm = draft.manifest
    namespace = namespace_of(vm)
    candidates = [preset for preset in presets if namespace_of(preset) in ("", namespace)]
    read = release_schema.canonical("VirtualMachine", vm, draft.release)["spec"]["template"]
    before = read["spec"]["domain"]
    # A VMI of a VM always has it, so that the firmware of presets is without effect.
    before.setdefault("firmware", {}).setdefault("uuid", vmi.firmware_uuid(name_of(vm)))
    result = preset_rules.apply(read["metadata"], before, candidates, draft.release)
    if not result.matching:
        return
    names = " and ".join(result.matching)
    if any(matcher_field.matcher_of(vm) is not None for matcher_field in MATCHER_FIELDS):
        note = (
            f"The VM has an instancetype or a preference and labels that match presets ({names}); choose one of them."
        )
        draft.remaining.append(RemainingField(LABELS, note))
        return
    if result.conflicts:
        conflicts = "; ".join(
            f"{preset} and {other} in {', '.join(fields)}" for preset, other, fields in result.conflicts
        )
        raise FieldError(
            LABELS, f"match presets that conflict, so KubeVirt starts no guest: {conflicts}; change the labels"
        )
    template = vm["spec"]["template"]
    note = f"From {preset_rules.KIND} {names}."
    for part in preset_rules.PARTS:
        value = value_at(result.domain, part.split("."))
        if value == value_at(before, part.split(".")):
            continue
        holder, _dot, name = part.rpartition(".")
        domain = _object(_object(template, "spec"), "domain")
        inside = _object(domain, holder) if holder else domain
        was, inside[name] = inside.get(name), copy(value)
        draft.record(f"{_DOMAIN}.{part}", was, f"{_DOMAIN}.{part}", value, note)
    if result.order_dependent:
        note = f"KubeVirt takes the requests of one of the presets {names}, by chance; here they are of the first."
        draft.remaining.append(RemainingField(f"{_DOMAIN}.{preset_rules.REQUESTS}", note))
    _object(_object(template, "metadata"), "annotations")[preset_rules.EXCLUDE] = "true"
    path, note = f"{_ANNOTATIONS}.{preset_rules.EXCLUDE}", "As long as there are presets, they would change the VM."
    draft.record(path, None, path, "true", note)


def _object(holder: Manifest, name: str) -> Manifest:
    if holder.get(name) is None:
        holder[name] = {}
    inside: Manifest = holder[name]
    return inside


def _add_instancetype(draft: Modernization, catalog: Sequence[Manifest], waste: Fraction | None) -> None:
    vm = draft.manifest
    cluster = Cluster(Objects(catalog), KubeVirt(draft.release))
    preferences = _usable_objects(vm, PREFERENCE, catalog)
    os = annotations_of(vm["spec"]["template"]).get(OS_ANNOTATION)
    if os:
        preferences = preferences_of(str(os), preferences)
    elif version := version_of(vm):
        # A guest with Windows gets no preference of another system for the sake of its topology.
        of_any = [item for item in preferences if value_at(item, _SYSTEM) is None]
        preferences = [*of_any, *preferences_of(f"windows{version}", preferences)]
    adoption = adopt(vm, _usable_objects(vm, INSTANCETYPE, catalog), preferences, cluster, enough=1)
    chosen = adoption.within(waste)
    if chosen is None:
        draft.remaining.append(RemainingField("spec.instancetype", f"No instancetype fits: {_reason(adoption)}"))
        return
    draft.manifest = chosen.vm
    for matcher_field in MATCHER_FIELDS:
        matcher = matcher_field.matcher_of(chosen.vm)
        if matcher is not None and matcher != matcher_field.matcher_of(vm):
            draft.record("", None, f"spec.{matcher_field.name}", matcher, "From the catalog.")
    for path, value in chosen.removed.items():
        part = "metadata" if path.startswith("annotations.") else "spec"
        draft.record(f"spec.template.{part}.{path}", value, "", None, "The instancetype or the preference provides it.")
    draft.differences = without_secrets(chosen.differences)
    draft.guest_before, draft.guest_after = (
        guest_figures(effective(manifest, cluster)) for manifest in (vm, chosen.vm)
    )


def _reason(adoption: Adoption) -> str:
    """Why a VM gets no instancetype, and which one it needs."""
    if adoption.problem:
        return adoption.problem
    reason, chosen = "the catalog has none", adoption.proposal
    if chosen is not None:
        reason = f"{chosen.instancetype['name']}, the nearest, has {shown(chosen.size)}"
    elif adoption.nearest:
        reason = str(adoption.nearest[0].refusal)
    return f"{reason}; create one with {adoption.size_text}"


def _usable_objects(vm: Manifest, matcher_field: MatcherField, catalog: Sequence[Manifest]) -> list[Manifest]:
    """The objects that the VM can name, without deprecated ones."""
    namespaces = {matcher_field.cluster_kind: None, matcher_field.kind: namespace_of(vm)}
    return [
        manifest
        for manifest in catalog
        if manifest.get("kind") in namespaces
        and namespaces[manifest["kind"]] in (None, namespace_of(manifest))
        and is_active(manifest)
    ]
