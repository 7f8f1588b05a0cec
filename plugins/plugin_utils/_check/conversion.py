"""Adds conversion to the check: presets, and the hand-written fields and templates that one object would replace."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import yaml

from ...module_utils._conversion import presets as preset_rules
from ...module_utils._conversion import template_groups
from ...module_utils._conversion.replacing_preference import ReplacingPreference, replacing_preference
from ...module_utils._conversion.template_bundles import LABELS, ConversionSources, convert, preferences_of
from ...module_utils._resolver.api.errors import FieldError, Panic
from ...module_utils._resolver.api.finding import ERROR, NOTE, WARNING
from ...module_utils._resolver.api.manifest import OS_ANNOTATION, Manifest, namespace_of
from ...module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from ...module_utils._resolver.api.name_rules import first_names
from ...module_utils._resolver.api.quantity import canonical
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.api.tree import value_at
from ...module_utils._resolver.choose.fitting import Constraints, fitting
from ...module_utils._resolver.choose.windows import version_of
from ...module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from .check_extension import CheckExtension
from .checked_objects import VM, CheckedObject, KnownObjects, label
from .evaluate import shown_change, start_severity
from .findings import LocatedFinding
from .sources import LocatedDocument, SourceManifest, manifests

_RULE: Final = "replaceable"
_MODERNIZE: Final = "the playbook modernize converts them"
_REMOVAL: Final = f"KubeVirt 2 removes presets; instancetypes and preferences replace them: {_MODERNIZE}"
_HYPERV: Final = ("spec", "template", "spec", "domain", "features", "hyperv")
_WINDOWS: Final = "win"
_SHOWN: Final = 3


def _objects_in(source: SourceManifest) -> list[SourceManifest] | None:
    # A preset describes no guest; see `prepared` and `findings`.
    return [] if _is_preset(source.manifest) else None


def _prepared(
    objects: Sequence[CheckedObject], sources: Sequence[LocatedDocument], release: Release
) -> Iterator[CheckedObject | LocatedFinding]:
    found = [item for item in manifests(sources) if _is_preset(item.manifest)]
    # No cluster has a preset with errors.
    presets = ConversionSources([item.manifest for item in found if not any(_errors(item, release))])
    for declared in objects:
        if not presets.presets or declared.manifest["kind"] != VM:
            yield declared
            continue
        try:
            converted = convert(declared.manifest, presets, release)
            yield declared._replace(manifest=converted.manifest)
            for remaining in converted.remaining:
                yield declared.finding("deprecated", WARNING, remaining.path, remaining.note.rstrip("."))
        except (FieldError, Panic) as error:
            if isinstance(error, FieldError) and error.path == LABELS:
                yield declared.finding("never-starts", start_severity(declared.manifest), LABELS, error.reason)
            yield declared


def _findings(
    sources: Sequence[LocatedDocument],
    objects: Sequence[CheckedObject],
    lookup: KnownObjects,
    kubevirt: KubeVirt,
) -> Iterator[LocatedFinding]:
    templates = []
    for item in manifests(sources):
        if _is_preset(item.manifest):
            yield from _preset_findings(item, kubevirt.release)
        elif template_groups.is_template(item.manifest):
            templates.append(item)
    yield from _template_findings(templates, lookup, kubevirt.release)
    yield from _windows_findings(objects, lookup, kubevirt)


def _is_preset(manifest: Manifest) -> bool:
    return bool(manifest["kind"] == preset_rules.KIND)


def _preset_findings(item: SourceManifest, release: Release) -> Iterator[LocatedFinding]:
    name, place = label(item.manifest), item.location
    yield LocatedFinding(_REMOVAL, WARNING, "kind", rule="deprecated", location=place, label=name)
    yield from _errors(item, release)


def _errors(item: SourceManifest, release: Release) -> Iterator[LocatedFinding]:
    """The error of a preset that no cluster accepts."""
    name, place = label(item.manifest), item.location
    try:
        preset_rules.parse_preset(item.manifest, release)
    except FieldError as error:
        field = error.path.rpartition(": ")[2]
        yield LocatedFinding(error.reason, ERROR, field, rule="invalid", location=place, label=name)


def _windows_findings(
    objects: Sequence[CheckedObject], lookup: KnownObjects, kubevirt: KubeVirt
) -> Iterator[LocatedFinding]:
    """A note about each VM with Windows and no preference: the preference that gives what it writes by hand."""
    found: dict[str, ReplacingPreference | None] = {}
    for declared in objects:
        vm = declared.manifest
        if vm["kind"] != VM or PREFERENCE.matcher_of(vm) is not None or not _is_windows(vm):
            continue
        # VMs of one pattern get one trial.
        key = json.dumps(vm["spec"], sort_keys=True, default=str).replace(f'"{vm["metadata"].get("name")}', '"')
        if key not in found:
            try:
                found[key] = replacing_preference(vm, _windows_preferences(vm, lookup), Cluster(lookup, kubevirt))
            except (FieldError, Panic):
                found[key] = None
        chosen = found[key]
        if chosen is not None:
            yield declared.finding(_RULE, NOTE, "spec.template.spec.domain", _replacement(chosen, bool(version_of(vm))))


def _is_windows(vm: Manifest) -> bool:
    system = _os(vm)
    return system.startswith(_WINDOWS) if system else value_at(vm, _HYPERV) is not None


def _os(vm: Manifest) -> str:
    return str(value_at(vm, ("spec", "template", "metadata", "annotations", OS_ANNOTATION)) or "").lower()


def _windows_preferences(vm: Manifest, lookup: KnownObjects) -> list[Manifest]:
    offered = [*lookup.listed(PREFERENCE.cluster_kind, ""), *lookup.listed(PREFERENCE.kind, namespace_of(vm))]
    windows = [item for item in offered if value_at(item, ("spec", "features", "preferredHyperv"))]
    version = version_of(vm)
    return (version and preferences_of(f"windows{version}", windows)) or windows


def _replacement(chosen: ReplacingPreference, is_certain: bool) -> str:
    lines = sum(len(yaml.safe_dump({path: value}).splitlines()) for path, value in chosen.removed.items())
    fields = first_names(chosen.removed, _SHOWN)
    changes = first_names(map(shown_change, chosen.differences), _SHOWN)
    effect = f"differs in {changes}" if changes else "stays the same"
    needs = f"; it takes an instancetype, too: {chosen.refusal}" if chosen.refusal else ""
    name = f"{'the preference' if is_certain else 'a preference such as'} {chosen.name}"
    return f"{name} gives {lines} lines of the manifest ({fields}); the guest {effect}{needs}"


def _template_findings(
    templates: Sequence[SourceManifest], lookup: KnownObjects, release: Release
) -> Iterator[LocatedFinding]:
    """A note about all templates, and one about each group that is one template."""
    groups = template_groups.groups(item.manifest for item in templates)
    members = sum(len(group.members) for group in groups)
    if members == len(groups):
        return
    names = _instancetypes(lookup, release)
    sizes = list(dict.fromkeys(names.get(size, size) for group in groups for size in group.sizes))
    first = templates[groups[0].members[0].place]
    counted = f"{_count(len(groups), 'template')} and {_count(len(sizes), 'instancetype')}"
    message = f"these {members} templates are {counted} ({'; '.join(sizes)}); {_MODERNIZE}"
    yield LocatedFinding(message, NOTE, rule=_RULE, location=first.location)
    for group in groups:
        if len(group.members) > 1:
            item = templates[group.members[0].place]
            others = first_names([member.name for member in group.members[1:]], _SHOWN)
            message = f"is one with {others}: {_alike(group, names)}"
            yield LocatedFinding(message, NOTE, rule=_RULE, location=item.location, label=label(item.manifest))


def _alike(group: template_groups.TemplateGroup, names: Mapping[str, str]) -> str:
    sizes = [names.get(size, size) for size in group.sizes]
    differing = [("size", sizes), ("system", group.systems)]
    parts = [f"{word} ({'; '.join(values)})" for word, values in differing if len(values) > 1]
    parts += ["multiqueue"] if group.multiqueue else []
    return f"the VMs differ only in {' and '.join(parts)}" if parts else "the VMs are the same"


def _instancetypes(lookup: KnownObjects, release: Release) -> dict[str, str]:
    """The best instancetype of each size."""
    best: dict[str, str] = {}
    for manifest in fitting(lookup.listed(INSTANCETYPE.cluster_kind, ""), Constraints(), release):
        size = template_groups.size_text(
            manifest["spec"]["cpu"]["guest"], canonical(manifest["spec"]["memory"]["guest"])
        )
        best.setdefault(size, str(manifest["metadata"]["name"]))
    return best


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


CONVERSION: Final = CheckExtension(objects_in=_objects_in, prepared=_prepared, findings=_findings)
