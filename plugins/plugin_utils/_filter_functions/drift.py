"""The filter `drift`: how captured objects differ from the current ones."""

from __future__ import annotations

from typing import Any

from ...module_utils._resolver.api import release_schema
from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import MATCHER_FIELD_OF_KIND
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.api.schema import equal
from ...module_utils._resolver.api.tree import differences
from ...module_utils._resolver.change import drift as drifting
from ...module_utils._resolver.guest.effect import UNREAD_VMI
from ...module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from ...module_utils._resolver.kubevirt.instancetype.lookup import Objects, not_found
from ._shared import each, manifests, release_option
from .vm import admitted


def _drift(manifest: Manifest, current: list[Manifest], release: Release) -> dict[str, Any]:
    """How captured objects differ from the current ones.

    manifest: a VM whose ControllerRevisions are in `current`; or a ControllerRevision, an instancetype or a preference,
    compared with the object of the same kind and name: {drifted, changes}.
    """
    if manifest.get("kind") == "ControllerRevision" or manifest.get("kind") in MATCHER_FIELD_OF_KIND:
        return _object_drift(manifest, Objects(current), release)
    vm_drift = drifting.drift(admitted(manifest, release), UNREAD_VMI, Cluster(Objects(current), KubeVirt(release)))
    effect = vm_drift.effect
    result: dict[str, Any] = {
        "drifted": vm_drift.drifted,
        "guest_before": effect.guest_before,
        "guest_after": effect.guest_after,
        "changes": list(effect.changes),
        "needs": effect.needs,
    }
    if effect.refusal:
        result["refusal"] = effect.refusal
    for matcher_field, part in vm_drift.parts.items():
        result[matcher_field.name] = part.facts
    return result


def _object_drift(manifest: Manifest, lookup: Objects, release: Release) -> dict[str, Any]:
    captured = manifest["kind"] == "ControllerRevision"
    captured_object = manifest.get("data") if captured else manifest
    kind = captured_object.get("kind") if isinstance(captured_object, dict) else None
    if not isinstance(captured_object, dict) or kind not in MATCHER_FIELD_OF_KIND:
        raise FieldError("data.kind", f"{kind!r} is neither an instancetype nor a preference")
    matcher_field = MATCHER_FIELD_OF_KIND[kind]
    if captured:
        before = drifting.revision_spec(manifest, matcher_field, release)
    else:
        before = _spec(matcher_field.spec_type, captured_object, release)
    name = (captured_object.get("metadata") or {}).get("name") or ""
    live = lookup.get(kind, (manifest.get("metadata") or {}).get("namespace") or "", name)
    if live is None:
        raise not_found(kind, name)
    after = _spec(matcher_field.spec_type, live, release)
    return {"drifted": not equal(matcher_field.spec_type, before, after), "changes": differences(before, after)}


def _spec(spec_type: str, manifest: Manifest, release: Release) -> Manifest:
    try:
        return release_schema.canonical(spec_type, manifest.get("spec"), release)
    except FieldError as error:
        raise error.with_parent("spec") from None


def drift(value: Any, current: Any, kubevirt_version: Any = None) -> Any:
    """See its documentation."""
    current_manifests, release = manifests("current", current), release_option(kubevirt_version)
    return each(value, lambda manifest: _drift(manifest, current_manifests, release))
