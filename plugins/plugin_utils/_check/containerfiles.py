"""Finds errors in the defaults that a Containerfile publishes in its image."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...module_utils._boot_sources.containerfile import ImageLabel, image_labels
from ...module_utils._resolver.api.finding import ERROR, NOTE, WARNING
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import LABEL_PREFIX, MATCHER_FIELDS, VOLUME_LABELS, MatcherField
from ...module_utils._resolver.api.name_rules import did_you_mean, label_value, quoted
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.choose.fitting import rejection_of_pair
from .findings import LocatedFinding, Location
from .objects import KnownObjects
from .sources import Source

_MATCHERS: Final = {matcher_field.volume_label: matcher_field for matcher_field in MATCHER_FIELDS}


def findings(source: Source, lookup: KnownObjects, release: Release) -> Iterator[LocatedFinding]:
    """Findings about a document with the text of a Containerfile."""
    found = image_labels(source.content)
    values = {label.label: label.value for label in found if label.variable}
    chosen: list[Manifest] = []
    for label in found:
        place = source.location._replace(line=label.line)
        problem = _problem(label, place)
        if problem is not None:
            yield problem
        elif label.value and label.label in _MATCHERS:
            matcher_field = _MATCHERS[label.label]
            kind_text = values.get(matcher_field.volume_kind_label) or ""
            kind = matcher_field.kind_of({"kind": kind_text})
            known = [item for item in lookup.all if item["kind"] == kind]
            same = [item for item in known if item["metadata"]["name"] == label.value]
            chosen += same[:1]
            if not same:
                text = _unknown(label.value, kind_text, kind, matcher_field, known)
                yield LocatedFinding(text, ERROR, label.variable, rule="not-found", location=place)
    refusal = rejection_of_pair(chosen[0], chosen[1], "", release) if len(chosen) == len(MATCHER_FIELDS) else ""
    if refusal:
        message = f"KubeVirt rejects VMs with both defaults: {refusal}"
        place = source.location._replace(line=found[-1].line)
        yield LocatedFinding(message, ERROR, rule="refused", location=place)


def _problem(label: ImageLabel, place: Location) -> LocatedFinding | None:
    """Errors in a label itself."""
    if not label.variable:
        if label.label not in VOLUME_LABELS:
            return None
        message = f"CDI reads no labels of images, so this has no effect; write ENV {_variable(label.label)}"
        return LocatedFinding(message, WARNING, label.label, rule="lost-field", location=place)
    if label.value is None:
        message = "the build decides on the value, so it is not checked"
        return LocatedFinding(message, NOTE, label.variable, rule="unchecked", location=place)
    if problem := label_value(label.value):
        message = f"{quoted(label.value)} {problem}, so no import of the image would end"
        return LocatedFinding(message, ERROR, label.variable, rule="invalid", location=place)
    if label.label.startswith(LABEL_PREFIX) and label.label not in VOLUME_LABELS:
        hint = did_you_mean(label.variable, map(_variable, VOLUME_LABELS))
        message = f"KubeVirt does not read the label {label.label}{hint}"
        return LocatedFinding(message, WARNING, label.variable, rule="lost-field", location=place)
    return None


def _unknown(name: str, kind_text: str, kind: str | None, matcher_field: MatcherField, known: list[Manifest]) -> str:
    """Why there is no object of a name."""
    if kind is None:
        kinds = f"{matcher_field.cluster_kind}, {matcher_field.kind}"
        return f"KubeVirt knows no {matcher_field.matcher} of the kind {kind_text}; choose from {kinds}"
    hint = did_you_mean(name, [item["metadata"]["name"] for item in known])
    return f"no catalog has the {kind} {name}{hint}"


def _variable(label: str) -> str:
    """The variable that becomes a label: ``INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE``."""
    return re.sub(r"[^A-Z]", "_", label.upper())
