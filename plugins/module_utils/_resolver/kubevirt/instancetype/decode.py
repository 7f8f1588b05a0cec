"""Reads the object in a ControllerRevision (KubeVirt ``pkg/instancetype/compatibility``).

An error names the field or the kind; KubeVirt's own text is that of Go's decoder.

The current KubeVirt reads only v1beta1, and fails with its message for v1alpha1 and v1alpha2, which KubeVirt before 1.0
stored. Releases up to 1.6 read these too, in two forms: in the first, `data.spec` is the spec alone, as base64 of JSON;
later, `data` is the whole object.
"""

from __future__ import annotations

import base64
import json
from typing import Final

from ...api import behaviour, release_schema, schema
from ...api.errors import FieldError, KubeVirtError, go_reason
from ...api.fields import SPEC_TYPES
from ...api.manifest import Manifest
from ...api.matcher import API_VERSION, INSTANCETYPE, MATCHER_FIELD_OF_KIND, PREFERENCE, MatcherField
from ...api.name_rules import quoted
from ...api.release import NEWEST, Release, last_of

V1ALPHA1: Final = "instancetype.kubevirt.io/v1alpha1"
V1ALPHA2: Final = "instancetype.kubevirt.io/v1alpha2"
API_VERSIONS: Final = (V1ALPHA1, V1ALPHA2)
READS_ALPHA: Final = last_of(behaviour.READS_OLD_REVISIONS)
"""The newest release that reads them."""


def _converted(data: Manifest, release: Release) -> Manifest:
    """An object of v1alpha1 or v1alpha2, converted to v1beta1 as the release does. Raises FieldError."""
    kind = data["kind"]
    spec_type = SPEC_TYPES[MATCHER_FIELD_OF_KIND[kind].kind, data["apiVersion"]]
    metadata = schema.canonical("ObjectMeta", data.get("metadata"))
    return _manifest(kind, metadata, release_schema.canonical(spec_type, data.get("spec"), release))


def _spec_alone(data: Manifest, release: Release) -> Manifest | None:
    """The object whose spec alone is stored; None if KubeVirt does not take the data for such a spec.

    The object is a preference if all fields belong to a preference, else an instancetype if all belong to one.
    """
    if not isinstance(data.get("spec"), str) or not set(data) <= {"apiVersion", "spec"}:
        return None
    try:
        stored = json.loads(base64.b64decode(data["spec"], validate=True).decode("utf-8", "replace"))
    except ValueError:
        return None
    for matcher_field in (PREFERENCE, INSTANCETYPE):
        type_name = SPEC_TYPES[matcher_field.kind, V1ALPHA1]
        if any(release_schema.unknown(type_name, stored, release)):
            continue
        try:
            spec = release_schema.canonical(type_name, stored, release)
        except FieldError:
            continue
        return _manifest(matcher_field.kind, {"name": f"old-version-of-{matcher_field.name}-object"}, spec)
    return None


def _manifest(kind: str, metadata: Manifest, spec: Manifest) -> Manifest:
    return {"kind": kind, "apiVersion": API_VERSION, "metadata": metadata, "spec": spec}


_FAILED: Final = "failed to decode object in ControllerRevision: "


def decode(revision: Manifest, release: Release = NEWEST) -> Manifest | None:
    """The canonical object in a ControllerRevision, with apiVersion and kind; None if the revision is empty.

    revision: the manifest of the ControllerRevision. Raises KubeVirtError for data that the release does not read.
    """
    data = revision.get("data")
    if data is None:
        return None
    if not isinstance(data, dict):
        raise KubeVirtError(f"{_FAILED}data: expected an object, found {quoted(data)}")
    if release.has(behaviour.READS_OLD_REVISIONS):
        spec_alone = _spec_alone(data, release)
        if spec_alone is not None:
            return spec_alone
    kind, api_version = str(data.get("kind")), str(data.get("apiVersion"))
    is_known = kind in MATCHER_FIELD_OF_KIND
    is_old = release.has(behaviour.READS_OLD_REVISIONS) and api_version in API_VERSIONS
    if not is_known or not (is_old or api_version == API_VERSION):
        raise KubeVirtError(f"{_FAILED}it holds a {kind} of {api_version}, which KubeVirt does not read")
    try:
        if is_old:
            return _converted(data, release)
        # Namespaced and cluster-wide kinds differ only in name.
        return release_schema.canonical(MATCHER_FIELD_OF_KIND[kind].kind, data, release)
    except FieldError as error:
        raise KubeVirtError(_FAILED + go_reason(error)) from error


def spec(revision: Manifest, matcher_field: MatcherField, release: Release = NEWEST) -> Manifest:
    """The canonical spec in a ControllerRevision.

    Raises KubeVirtError like `decode`, and for a revision without an object that the field refers to.
    """
    manifest = decode(revision, release)
    if manifest is None:
        raise KubeVirtError("the ControllerRevision is empty")
    if MATCHER_FIELD_OF_KIND[manifest["kind"]] is not matcher_field:
        held = f"the ControllerRevision holds a {manifest['kind']}"
        raise KubeVirtError(f"{held}, not what {matcher_field.name} refers to")
    result: Manifest = manifest["spec"]
    return result
