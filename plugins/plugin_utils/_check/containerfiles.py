"""Finds errors in the defaults that a Containerfile publishes in its image."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from ...module_utils._boot_sources.containerfile import ImageLabel, image_labels
from ...module_utils._resolver.api.finding import ERROR, NOTE, WARNING
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import LABEL_PREFIX, MATCHER_FIELDS, VOLUME_LABELS
from ...module_utils._resolver.api.name_rules import did_you_mean, label_value, quoted
from ...module_utils._resolver.api.release import Release
from .checked_objects import KnownObjects
from .default_labels import named_default, rejected_pair
from .findings import LocatedFinding, Location
from .sources import LocatedDocument

_MATCHERS: Final = {matcher_field.volume_label: matcher_field for matcher_field in MATCHER_FIELDS}


def findings(source: LocatedDocument, lookup: KnownObjects, release: Release) -> Iterator[LocatedFinding]:
    """Findings about a document with the text of a Containerfile."""
    found = image_labels(source.content)
    values = {label.label: label.value or "" for label in found if label.variable}
    chosen: dict[str, list[Manifest]] = {}
    for label in found:
        place = source.location._replace(line=label.line)
        problem = _problem(label, place)
        if problem is not None:
            yield problem
        elif label.value and label.label in _MATCHERS:
            default = named_default(_MATCHERS[label.label], values, lookup)
            chosen[label.label] = default.manifests
            if default.problem:
                yield LocatedFinding(default.problem, ERROR, label.variable, rule="not-found", location=place)
    instancetypes, preferences = (chosen.get(label, []) for label in _MATCHERS)
    if refusal := rejected_pair(instancetypes, preferences, release):
        place = source.location._replace(line=found[-1].line)
        yield LocatedFinding(refusal, ERROR, rule="refused", location=place)


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


def _variable(label: str) -> str:
    """The variable that becomes a label: ``INSTANCETYPE_KUBEVIRT_IO_DEFAULT_PREFERENCE``."""
    return re.sub(r"[^A-Z]", "_", label.upper())
