"""Reads the object in a ControllerRevision (KubeVirt ``pkg/instancetype/compatibility``).

An error names the field or the kind; KubeVirt's own text is that of Go's decoder.

The current KubeVirt reads only v1beta1, and fails with its message for v1alpha1 and v1alpha2, which KubeVirt before 1.0
stored. Releases up to 1.6 read these too, in two forms: in the first, `data.spec` is the spec alone, as base64 of JSON;
later, `data` is the whole object.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final, NamedTuple

from ...api import release_schema, schema
from ...api.errors import FieldError, go_reason
from ...api.fields.instancetype import SPEC_TYPES
from ...api.manifest import Manifest
from ...api.matcher import API_VERSION, INSTANCETYPE, MATCHER_FIELD_OF_KIND, PREFERENCE, MatcherField
from ...api.name_rules import quoted
from ...api.release import NEWEST, Release

V1ALPHA1: Final = "instancetype.kubevirt.io/v1alpha1"
V1ALPHA2: Final = "instancetype.kubevirt.io/v1alpha2"
API_VERSIONS: Final = (V1ALPHA1, V1ALPHA2)


class Decoded(NamedTuple):
    """The contents of a ControllerRevision.

    manifest: the canonical object with apiVersion and kind; None with an error, or if the revision is empty.
    """

    manifest: Manifest | None = None
    error: str | None = None


def convert(data: Manifest, release: Release) -> Decoded:
    """An object of v1alpha1 or v1alpha2, converted to v1beta1 as the release does."""
    kind, spec = data["kind"], data.get("spec")
    matcher_field = MATCHER_FIELD_OF_KIND[kind]
    try:
        metadata = schema.canonical("ObjectMeta", data.get("metadata"))
        converted = release_schema.canonical(SPEC_TYPES[matcher_field.kind, data["apiVersion"]], spec, release)
    except FieldError as error:
        return Decoded(error=go_reason(error))
    return Decoded(_manifest(kind, metadata, converted))


def spec_revision(data: Manifest, release: Release) -> Decoded | None:
    """The object of which only the spec is stored, if KubeVirt recognizes the data as such.

    A preference if all fields belong to a preference, else an instancetype if all belong to one.
    """
    text = _decoded(data.get("spec"))
    if not text or not set(data) <= {"apiVersion", "spec"}:
        return None
    try:
        stored = json.loads(text)
    except json.JSONDecodeError:
        return None
    for matcher_field in (PREFERENCE, INSTANCETYPE):
        type_name = SPEC_TYPES[matcher_field.kind, V1ALPHA1]
        if any(release_schema.unknown(type_name, stored, release)):
            continue
        try:
            spec = release_schema.canonical(type_name, stored, release)
        except FieldError:
            continue
        return Decoded(_manifest(matcher_field.kind, {"name": _name(matcher_field)}, spec))
    return None


def _decoded(spec: Any) -> str | None:
    """The JSON in base64, "" if there is none; None if Go cannot read it as bytes."""
    if spec is None:
        return ""
    if not isinstance(spec, str):
        return None
    try:
        return base64.b64decode(spec, validate=True).decode("utf-8", "replace")
    except binascii.Error:
        return None


def _name(matcher_field: MatcherField) -> str:
    """KubeVirt's name for an object of which only the spec is known."""
    return f"old-version-of-{matcher_field.matcher}-object"


def _manifest(kind: str, metadata: Manifest, spec: Manifest) -> Manifest:
    return {"kind": kind, "apiVersion": "instancetype.kubevirt.io/v1beta1", "metadata": metadata, "spec": spec}


_FAILED: Final = "failed to decode object in ControllerRevision: "


class DecodedSpec(NamedTuple):
    """The spec in a ControllerRevision.

    spec: the canonical spec of the instancetype or preference; None with an error.
    """

    spec: Manifest | None = None
    error: str | None = None


def decode(revision: Manifest, release: Release = NEWEST) -> Decoded:
    """Reads `data` of a ControllerRevision's manifest."""
    data = revision.get("data")
    if data is None:
        return Decoded()
    if not isinstance(data, dict):
        return Decoded(error=f"{_FAILED}data: expected an object, found {quoted(data)}")
    if release.reads_old_revisions:
        spec_alone = spec_revision(data, release)
        if spec_alone is not None:
            return spec_alone
    kind, api_version = str(data.get("kind")), str(data.get("apiVersion"))
    is_known = kind in MATCHER_FIELD_OF_KIND
    if release.reads_old_revisions and is_known and api_version in API_VERSIONS:
        converted = convert(data, release)
        return converted if converted.error is None else Decoded(error=_FAILED + converted.error)
    if api_version != API_VERSION or not is_known:
        return Decoded(error=f"{_FAILED}it holds a {kind} of {api_version}, which KubeVirt does not read")
    try:
        # Namespaced and cluster-wide kinds differ only in name.
        manifest = release_schema.canonical(MATCHER_FIELD_OF_KIND[kind].kind, data, release)
    except FieldError as error:
        return Decoded(error=_FAILED + go_reason(error))
    return Decoded(manifest)


def spec(revision: Manifest, matcher_field: MatcherField, release: Release = NEWEST) -> DecodedSpec:
    """The spec in a ControllerRevision, if it contains an object that the field refers to."""
    decoded = decode(revision, release)
    if decoded.error is not None:
        return DecodedSpec(error=decoded.error)
    if decoded.manifest is None:
        return DecodedSpec(error="the ControllerRevision is empty")
    kind = decoded.manifest["kind"]
    if MATCHER_FIELD_OF_KIND[kind] is not matcher_field:
        return DecodedSpec(error=f"the ControllerRevision holds a {kind}, not what {matcher_field.matcher} refers to")
    return DecodedSpec(decoded.manifest["spec"])
