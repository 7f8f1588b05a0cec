"""Whether an instancetype fits a preference."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..api import schema
from ..api.errors import Panic
from ..api.matcher import ROLE_OF_KIND
from ..kubevirt.apply import requirements, topology

Manifest = dict[str, Any]


class Cell(NamedTuple):
    """The compatibility of an instancetype and a preference.

    sign: a key of `matrix.LEGEND`, "" if the pair fits. reasons: in KubeVirt's words.
    """

    sign: str = ""
    reasons: tuple[str, ...] = ()


def satisfies(instancetype: Manifest, preference: Manifest) -> bool:
    """Whether the pair of manifests fits. Raises FieldError for an invalid spec."""
    specs = (
        schema.canonical(ROLE_OF_KIND[manifest["kind"]].spec_type, manifest["spec"])
        for manifest in (instancetype, preference)
    )
    return not cell_of(*specs).sign


def cell_of(instancetype: Manifest, preference: Manifest) -> Cell:
    """The compatibility of two canonical specs."""
    required = preference.get("requirements", {})
    missing: dict[str, str] = {}
    for part in ("cpu", "memory"):
        if part in required:
            unmet = requirements.unmet(instancetype, {**preference, "requirements": {part: required[part]}}, {})
            if unmet is not None:
                missing[part] = unmet.message
    if missing:
        return Cell("b" if len(missing) > 1 else min(missing)[0], tuple(missing.values()))
    try:
        uneven = topology.spread_indivisible(instancetype, preference)
    except Panic as panic:
        return Cell("s", (str(panic),))
    return Cell() if uneven is None else Cell("s", (uneven.message,))
