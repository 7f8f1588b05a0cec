"""Answers about instancetypes: which fit the options of a user, and whether one fits a preference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..api import release_schema
from ..api.errors import FieldError, Panic, QuantityError
from ..api.matcher import INSTANCETYPE, PREFERENCE, ROLE_OF_KIND
from ..api.names import shown
from ..api.quantity import parse
from ..api.release import NEWEST, Release
from ..api.state import OBSOLETE, is_active, state_of
from ..kubevirt.apply import requirements, topology
from .fitting import CLASS_LABEL, Constraints, fitting

Manifest = dict[str, Any]

_UINT32 = 2**32 - 1


class Rejected(ValueError):
    """An invalid option or object; one line names it and the reason."""


def choose(
    manifests: list[Any],
    *,
    preference: Manifest | str | None = None,
    cpu: Any = None,
    memory: Any = None,
    class_label: str | None = None,
    labels: Mapping[str, str] | None = None,
    series: str = "",
    deprecated: bool = False,
    release: Release = NEWEST,
) -> list[Manifest]:
    """The instancetypes among the manifests that fit, in the order of `fitting`. Other kinds are ignored.

    preference: a manifest, a bare spec, or the name of a preference among the manifests. cpu: the least vCPUs. memory:
    the least memory, a quantity. class_label: the value of the published catalogs' class label. deprecated: deprecated
    instancetypes may fit, too; obsolete ones never do. Raises Rejected.
    """
    required_labels = dict(labels or {})
    if class_label:
        required_labels[CLASS_LABEL] = class_label
    constraints = Constraints(
        preference=_preference(preference, manifests, release) if preference is not None else None,
        cpu=0 if cpu is None else count_of(cpu),
        memory=0 if memory is None else bytes_of(memory),
        labels=required_labels,
        series=series,
    )
    offered = [
        item
        for item in _instancetypes(manifests, release)
        if is_active(item) or (deprecated and state_of(item).name != OBSOLETE)
    ]
    return fitting(offered, constraints, release)


def _instancetypes(manifests: list[Any], release: Release) -> list[Manifest]:
    instancetypes = []
    for index, manifest in enumerate(manifests):
        if not isinstance(manifest, dict):
            raise Rejected(f"[{index}]: expected a manifest, found {shown(manifest)}")
        if "kind" not in manifest:
            raise Rejected(f"[{index}].kind: missing; write {INSTANCETYPE.kind} or {INSTANCETYPE.cluster_kind}")
        if ROLE_OF_KIND.get(manifest["kind"]) is not INSTANCETYPE:
            continue
        try:
            release_schema.canonical(INSTANCETYPE.spec_type, manifest.get("spec"), release)
        except FieldError as error:
            name = (manifest.get("metadata") or {}).get("name")
            raise Rejected(f"[{index}] ({name}): {error.with_parent('spec')}") from None
        instancetypes.append(manifest)
    return instancetypes


def _preference(preference: Manifest | str, manifests: list[Any], release: Release) -> Manifest:
    if isinstance(preference, str):
        matches = [
            manifest
            for manifest in manifests
            if isinstance(manifest, dict)
            and ROLE_OF_KIND.get(manifest.get("kind", "")) is PREFERENCE
            and (manifest.get("metadata") or {}).get("name") == preference
        ]
        if not matches:
            raise Rejected(
                f"preference: the manifests do not contain the preference {shown(preference)}; add its manifest"
            )
        preference = matches[0]
    # The spec of a preference has no field `spec`.
    bare = "spec" not in preference
    try:
        return release_schema.canonical(PREFERENCE.spec_type, preference if bare else preference["spec"], release)
    except FieldError as error:
        raise Rejected(f"preference: {error if bare else error.with_parent('spec')}") from None


def count_of(value: Any) -> int:
    """The vCPUs of the option `cpu`, 32 bits at most. Raises Rejected."""
    text = str(value)
    if isinstance(value, bool) or not (text.isascii() and text.isdigit()) or int(text) > _UINT32:
        raise Rejected(f"cpu: expected a whole number, found {shown(value)}")
    return int(text)


def bytes_of(value: Any) -> int:
    """The bytes of the option `memory`. Raises Rejected."""
    try:
        return parse(str(value)).value
    except QuantityError:
        raise Rejected(f"memory: {shown(value)} is not a quantity; write a quantity such as 512Mi, 4Gi or 4G") from None


def rejection_of_pair(instancetype: Manifest, preference: Manifest, architecture: str, release: Release) -> str:
    """Why KubeVirt rejects every VM with both that boots an image of an architecture, in its words; "" if it does not.

    architecture: "" if unknown.
    """
    try:
        size = release_schema.canonical(INSTANCETYPE.spec_type, instancetype.get("spec"), release)
        preferences = release_schema.canonical(PREFERENCE.spec_type, preference.get("spec"), release)
        required = str((preferences.get("requirements") or {}).get("architecture") or "")
        uneven = topology.spread_indivisible(size, preferences, release)
        unmet = requirements.unmet(size, preferences, {"architecture": architecture or required}, release)
    except (Panic, FieldError) as error:
        return str(error)
    if uneven is not None:
        return uneven.message
    return unmet.message if unmet is not None else ""
