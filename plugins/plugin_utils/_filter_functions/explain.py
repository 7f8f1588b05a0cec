"""The filter `explain`: the source of each field of a VM, and why KubeVirt refuses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...module_utils._boot_sources.stored_choice import explained
from ...module_utils._resolver.api.errors import KubeVirtError, Panic
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.kubevirt.cluster import KubeVirt
from ...module_utils._resolver.kubevirt.instancetype import applier, conflict, requirements, topology
from ...module_utils._resolver.kubevirt.instancetype.conflict import ConflictError
from ...module_utils._resolver.kubevirt.instancetype.requirements import UnmetRequirement
from ...module_utils._resolver.kubevirt.vm import defaults
from . import _field_sources as field_sources
from ._shared import choice, vm_filter
from .vm import Overrides, parts

Explanation = Callable[[Manifest], tuple[list[str], dict[str, Any]]]
"""A VM → what a capability knows of how it came to be, as lines and as facts."""
EXPLANATIONS: Final[tuple[Explanation, ...]] = (explained,)


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


explain = vm_filter(_explain, form=choice("data", "table"))
