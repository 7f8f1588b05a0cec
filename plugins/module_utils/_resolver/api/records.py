"""Records in VMs of the instancetype and the preference whose values they declare.

Whatever reads the revisions of VMs reads these records: drift, refreshes, reports. They are annotations; see
`matcher.MatcherField` for the objects, and `declare.expanded` for what writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from .keys import EXPANDED_FIELDS_ANNOTATION
from .manifest import Manifest
from .matcher import MATCHER_FIELDS, MatcherField
from .tree import unescaped

Path = tuple[str, ...]
"""A field below a VM's spec, in which items of lists go by their names."""


def is_expanded(vm: Manifest) -> bool:
    """Whether a VM has the values of an instancetype or a preference instead of their names."""
    return any(matcher_field.recorded_in(vm) is not None for matcher_field in MATCHER_FIELDS)


def was_expanded(vm: Manifest | None) -> bool:
    """Whether a VM is expanded, or has kept devices of the time when it was."""
    return vm is not None and (is_expanded(vm) or bool(expanded_fields(vm)))


def expanded_fields(vm: Manifest) -> list[Path]:
    """The paths that the annotation has; none if it is unreadable."""
    text = (vm["metadata"].get("annotations") or {}).get(EXPANDED_FIELDS_ANNOTATION) or "[]"
    try:
        paths = [tuple(unescaped(part) for part in pointer.split("/")[1:]) for pointer in json.loads(text)]
    except (ValueError, TypeError, AttributeError):
        return []
    return [path for path in paths if path]


def revision_of(vm: Manifest, matcher_field: MatcherField) -> Manifest | None:
    """The record of an expanded VM in the form of a ControllerRevision; without data if it is unreadable."""
    record = matcher_field.recorded_in(vm)
    return None if record is None else {"data": record or None}


def of_revisions(vm: Manifest, specs: Mapping[MatcherField, Manifest | None]) -> dict[MatcherField, Manifest | None]:
    """The specs that KubeVirt applies to a VM; it does not apply specs whose values the VM has itself."""
    return {field: spec for field, spec in specs.items() if field.recorded_in(vm) is None}
