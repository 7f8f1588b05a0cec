"""Adds the replacements of deprecated and obsolete objects to the check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...module_utils._matrix.replacement import replacement
from ...module_utils._resolver.api.finding import NOTE, WARNING
from ...module_utils._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, PREFERENCE
from ...module_utils._resolver.api.name_rules import first_names
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.api.state import state_of
from .check_extension import CheckExtension
from .checked_objects import CheckedObject, KnownObjects
from .evaluate import shown_change
from .findings import LocatedFinding


def _object_findings(declared: CheckedObject, lookup: KnownObjects, release: Release) -> Iterator[LocatedFinding]:
    """Problems of the replacement of an object, and the fields of a guest that it changes."""
    manifest, kind = declared.manifest, declared.manifest["kind"]
    state, namespace = state_of(manifest), manifest["metadata"].get("namespace") or ""
    if not state.replacement:
        return
    other = PREFERENCE if MATCHER_FIELD_OF_KIND[kind] is INSTANCETYPE else INSTANCETYPE
    counterparts = lookup.listed(other.cluster_kind, "")
    counterparts += lookup.listed(other.kind, namespace) if namespace else []
    successor = lookup.get(kind, namespace, state.replacement)
    result = replacement(manifest, successor, counterparts, release)
    for problem in result.problems:
        yield declared.finding("replacement", WARNING, "metadata.annotations", problem)
    if result.changes:
        fields = first_names(map(shown_change, result.changes), 3)
        message = f"a guest that moves to {state.replacement} changes: {fields}"
        yield declared.finding("replacement", NOTE, "metadata.annotations", message)


REPLACEMENTS: Final = CheckExtension(object_findings=_object_findings)
