"""Whether an instancetype and a preference are compatible."""

from __future__ import annotations

from typing import Any

from ..api import release_schema
from ..api.errors import Crash, FieldError
from ..api.matcher import INSTANCETYPE, PREFERENCE
from ..api.release import Release
from ..instancetype.apply import requirements, topology

Manifest = dict[str, Any]


def unfit(instancetype: Manifest, preference: Manifest, architecture: str, release: Release) -> str:
    """Why KubeVirt rejects every VM with both that boots an image of an architecture, in its words; "" if it does not.

    architecture: "" if unknown.
    """
    try:
        size = release_schema.canonical(INSTANCETYPE.spec_type, instancetype.get("spec"), release)
        wishes = release_schema.canonical(PREFERENCE.spec_type, preference.get("spec"), release)
        required = str((wishes.get("requirements") or {}).get("architecture") or "")
        uneven = topology.spread_indivisible(size, wishes, release)
        unmet = requirements.unmet(size, wishes, {"architecture": architecture or required}, release)
    except (Crash, FieldError) as error:
        return str(error)
    if uneven is not None:
        return uneven.message
    return unmet.message if unmet is not None else ""
