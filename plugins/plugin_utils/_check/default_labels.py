"""Finds errors in the labels with defaults for VMs, which boot sources carry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ...module_utils._resolver.api.finding import ERROR, WARNING, Finding
from ...module_utils._resolver.api.kinds import KINDS
from ...module_utils._resolver.api.manifest import Manifest, labels_of, name_of, namespace_of
from ...module_utils._resolver.api.matcher import LABEL_PREFIX, MATCHER_FIELDS, VOLUME_LABELS, MatcherField
from ...module_utils._resolver.api.name_rules import did_you_mean, label_value, quoted
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.api.state import ACTIVE, state_of
from ...module_utils._resolver.api.tree import value_at
from ...module_utils._resolver.choose.fitting import rejection_of_pair
from ...module_utils._resolver.kubevirt.instancetype.lookup import get_readable
from .checked_objects import CRON, CheckedObject, KnownObjects
from .findings import LocatedFinding
from .placeholders import FORMS, is_unknown

_SOURCE: Final = "DataSource"
# CDI follows few.
_LONGEST_CHAIN: Final = 5
_PRUNED: Final = ("spec", "template", "metadata", "labels")


class NamedDefault(NamedTuple):
    """An object that labels name. manifests: all of that name. problem: why there is none."""

    manifests: list[Manifest]
    problem: str = ""


def is_known(value: Any) -> bool:
    """Whether a label has no placeholder."""
    return not (is_unknown(str(value)) or FORMS.search(str(value)))


def named_default(matcher_field: MatcherField, labels: Mapping[str, str], lookup: KnownObjects) -> NamedDefault:
    """The instancetype or preference that labels name.

    A VM looks for a namespaced object in its own namespace, which the labels do not tell.
    """
    name = labels[matcher_field.volume_label] or ""
    kind_text = labels.get(matcher_field.volume_kind_label) or ""
    if not name:
        return NamedDefault([], f"the label is empty, so it names no {matcher_field.name}")
    kind = matcher_field.kind_of({"kind": kind_text})
    if kind is None:
        kinds = f"{matcher_field.cluster_kind}, {matcher_field.kind}"
        return NamedDefault([], f"KubeVirt knows no {matcher_field.name} of the kind {kind_text}; choose from {kinds}")
    known = [item for item in lookup.all if item["kind"] == kind]
    same = [item for item in known if name_of(item) == name]
    if same:
        return NamedDefault(same)
    other = matcher_field.kind if kind == matcher_field.cluster_kind else matcher_field.cluster_kind
    if any(item["kind"] == other and name_of(item) == name for item in lookup.all):
        return NamedDefault([], f"no catalog has the {kind} {name}, but a {other}; correct the kind")
    return NamedDefault([], f"no catalog has the {kind} {name}{did_you_mean(name, map(name_of, known))}")


def rejected_pair(instancetypes: list[Manifest], preferences: list[Manifest], release: Release) -> str:
    """Why KubeVirt rejects every VM with both defaults; "" if it does not, or if one of them is unknown."""
    reasons = [
        rejection_of_pair(instancetype, preference, "", release)
        for instancetype in instancetypes
        for preference in preferences
    ]
    return f"KubeVirt rejects VMs with both defaults: {reasons[0]}" if reasons and all(reasons) else ""


def findings(declared: CheckedObject, lookup: KnownObjects, release: Release) -> Iterator[LocatedFinding]:
    """Findings about the labels of an object, at their lines."""
    labels = declared.manifest["metadata"].get("labels") or {}
    for problem in label_findings(labels, lookup, release):
        yield declared.finding(problem.rule, problem.severity, f"metadata.labels[{problem.field}]", problem.text)
    pruned = value_at(declared.manifest, _PRUNED) if declared.manifest["kind"] == CRON else None
    for label in pruned if isinstance(pruned, dict) else ():
        if str(label).startswith(LABEL_PREFIX):
            message = "the API server drops the labels of the template; write them to metadata.labels of the cron"
            yield declared.finding("lost-field", WARNING, f"{'.'.join(_PRUNED)}[{label}]", message)


def label_findings(labels: Mapping[str, str], lookup: KnownObjects, release: Release) -> Iterator[Finding]:
    """Findings about labels, with the label as field; none about labels with placeholders."""
    labels = {label: value for label, value in labels.items() if is_known(value)}
    for label, value in labels.items():
        if label.startswith(LABEL_PREFIX) and label not in VOLUME_LABELS:
            message = f"KubeVirt does not read the label{did_you_mean(label, VOLUME_LABELS)}"
            yield Finding(message, WARNING, label, rule="lost-field")
        elif label in VOLUME_LABELS and (problem := label_value(value)):
            yield Finding(f"{quoted(value)} {problem}", ERROR, label, rule="invalid")
            return
    found: dict[MatcherField, list[Manifest]] = {}
    for matcher_field in MATCHER_FIELDS:
        label = matcher_field.volume_label
        if label not in labels:
            if matcher_field.volume_kind_label in labels:
                message = f"KubeVirt reads it only beside the label {label}"
                yield Finding(message, WARNING, matcher_field.volume_kind_label, rule="lost-field")
            continue
        default = named_default(matcher_field, labels, lookup)
        found[matcher_field] = default.manifests
        if default.problem:
            yield Finding(f"{default.problem}; VMs that infer it do not start", ERROR, label, rule="not-found")
        for state in {state_of(manifest) for manifest in default.manifests[:1]}:
            if state.name != ACTIVE:
                yield Finding(f"{labels[label]} is {state.text}", WARNING, label, rule=state.name)
    instancetypes, preferences = (found.get(matcher_field, []) for matcher_field in MATCHER_FIELDS)
    if refusal := rejected_pair(instancetypes, preferences, release):
        yield Finding(refusal, ERROR, MATCHER_FIELDS[0].volume_label, rule="refused")


def inherited(manifest: Manifest, namespace: str) -> Iterator[Manifest]:
    """The objects that CDI makes of one and gives its labels: the DataSource of a cron, the claim of a DataVolume.

    namespace: the default. If CDI adds the labels of an image, the labels of the claim are not known.
    """
    metadata, kind = manifest["metadata"], manifest.get("kind")
    labels, name = metadata.get("labels") or {}, metadata.get("name")
    if isinstance(labels, dict):
        labels = {label: value for label, value in labels.items() if is_known(value)}
    own = {"namespace": metadata.get("namespace") or namespace, "labels": labels}
    source = value_at(manifest, ("spec", "managedDataSource"))
    if not isinstance(labels, dict) or not isinstance(name, str):
        return
    if kind == CRON and isinstance(source, str) and str(manifest.get("apiVersion")).startswith(KINDS[CRON].group):
        claim = {"name": f"{source}-<digest>", "namespace": own["namespace"]}
        yield {"kind": _SOURCE, "metadata": {**own, "name": source}, "spec": {"source": {"pvc": claim}}}
    elif kind == "DataVolume" and all(matcher_field.volume_label in labels for matcher_field in MATCHER_FIELDS):
        yield {"kind": "PersistentVolumeClaim", "metadata": {**own, "name": name}}


def added_to(known: KnownObjects, manifests: Iterable[Manifest]) -> list[Manifest]:
    """Objects that the cluster makes, with what the known objects of their names have besides: CDI adds labels."""
    result = []
    for manifest in manifests:
        metadata = manifest["metadata"]
        existing = get_readable(known, manifest["kind"], metadata["namespace"], metadata["name"])
        if existing is not None:
            labels = {**labels_of(existing), **(metadata.get("labels") or {})}
            manifest = {**existing, "metadata": {**existing["metadata"], "labels": labels}}
        result.append(manifest)
    return result


def followed(known: KnownObjects) -> list[Manifest]:
    """Each DataSource that points to another one, replaced by its target: CDI copies the labels.

    CDI follows no pointer into another namespace.
    """
    return [
        _target(manifest, known, _LONGEST_CHAIN)
        for manifest in known.all
        if manifest["kind"] == _SOURCE and _pointed_to(manifest)
    ]


def _pointed_to(manifest: Manifest) -> str:
    """The name of the DataSource in its own namespace that one points to; "" for none."""
    pointer = value_at(manifest, ("spec", "source", "dataSource")) or {}
    is_near = pointer.get("namespace") in (None, "", namespace_of(manifest))
    return str(pointer.get("name") or "") if is_near else ""


def _target(manifest: Manifest, known: KnownObjects, most: int) -> Manifest:
    name = _pointed_to(manifest)
    if not name or not most:
        return manifest
    target = get_readable(known, _SOURCE, namespace_of(manifest), name)
    claim = {"name": f"<claim of the DataSource {name}>", "namespace": namespace_of(manifest)}
    labels, spec = {}, {"source": {"pvc": claim}}
    if target is not None:
        target = _target(target, known, most - 1)
        labels, spec = labels_of(target), target.get("spec") or {}
    metadata = {**manifest["metadata"], "labels": {**labels, **labels_of(manifest)}}
    return {**manifest, "metadata": metadata, "spec": spec}
