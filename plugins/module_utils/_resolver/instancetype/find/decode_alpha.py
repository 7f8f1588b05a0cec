"""Reads ControllerRevisions of KubeVirt before 1.0, as the releases 1.0 to 1.6 do.

There are two forms. In the first, `data.spec` is the spec alone, as base64 of JSON; later, `data` is the whole object,
of v1alpha1 or v1alpha2.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, Final, NamedTuple

from ...api import release_schema, schema
from ...api.errors import FieldError, go_reason
from ...api.fields.alpha import SPEC_TYPES
from ...api.matcher import INSTANCETYPE, PREFERENCE, ROLE_OF_KIND, Role
from ...api.release import Release

Manifest = dict[str, Any]

V1ALPHA1: Final = "instancetype.kubevirt.io/v1alpha1"
V1ALPHA2: Final = "instancetype.kubevirt.io/v1alpha2"
API_VERSIONS: Final = (V1ALPHA1, V1ALPHA2)

# KubeVirt's messages if it cannot read the data, including a misspelling.
_FAILURES: Final = {
    INSTANCETYPE: "VirtualMachineInstancetypeSpecRevision: failed to unmarshal json into"
    " v1alpha1.VirtualMachineInstancetypeSpec",
    PREFERENCE: "VirtualMachinePreferenceSpecRevision: failed to unmarshall json into"
    " v1alpha1.VirtualMachinePreferenceSpec",
}


class Converted(NamedTuple):
    """manifest: the object as v1beta1; None with an error."""

    manifest: Manifest | None = None
    error: str | None = None


def convert(data: Manifest, release: Release) -> Converted:
    """An object of v1alpha1 or v1alpha2, converted to v1beta1 as the release does."""
    kind, spec = data["kind"], data.get("spec")
    role = ROLE_OF_KIND[kind]
    if spec is not None and not isinstance(spec, dict):
        version = data["apiVersion"].rpartition("/")[2]
        found = {str: "string", list: "array", bool: "bool"}.get(type(spec), "number")
        return Converted(
            error=f"json: cannot unmarshal {found} into Go struct field {kind}.spec of type {version}.{role.spec_type}"
        )
    try:
        metadata = schema.canonical("ObjectMeta", data.get("metadata"))
        converted = release_schema.canonical(SPEC_TYPES[role.kind, data["apiVersion"]], spec, release)
    except FieldError as error:
        return Converted(error=go_reason(error))
    return Converted(_manifest(kind, metadata, converted))


def spec_revision(data: Manifest, role: Role | None, release: Release) -> Converted | None:
    """The object of which only the spec is stored, if the release recognizes the data as such.

    role: of the VM's matcher; a lenient release reads the spec as that.
    """
    text = _decoded(data.get("spec"))
    if text is None:
        return None
    if release.old_revisions == "lenient":
        return _lenient(text, role) if role is not None else None
    if not set(data) <= {"apiVersion", "spec"}:
        return None
    return _strict(text, release)


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


def _lenient(text: str, role: Role) -> Converted:
    """The fields of the text that the role's spec knows."""
    try:
        spec = schema.canonical(SPEC_TYPES[role.kind, V1ALPHA1], _object(text))
    except _NotJSON as error:
        reason = str(error)
    except FieldError as error:
        reason = go_reason(error)
    else:
        return Converted(_manifest(role.kind, {"name": _name(role)}, spec))
    return Converted(error=f"failed to decode old ControllerRevision: failed to decode {_FAILURES[role]}: {reason}")


def _strict(text: str, release: Release) -> Converted | None:
    """A preference if all fields belong to a preference, else an instancetype if all belong to one, else None."""
    for role in (PREFERENCE, INSTANCETYPE):
        type_name = SPEC_TYPES[role.kind, V1ALPHA1]
        try:
            spec = _object(text)
            if any(release_schema.unknown(type_name, spec, release)):
                continue
            spec = release_schema.canonical(type_name, spec, release)
        except (_NotJSON, FieldError):
            continue
        return Converted(_manifest(role.kind, {"name": _name(role)}, spec))
    return None


class _NotJSON(ValueError):
    """The text is not JSON; Go's message."""


def _object(text: str) -> Manifest:
    if not text:
        raise _NotJSON("unexpected end of JSON input")
    try:
        value: Manifest = json.loads(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text):
            raise _NotJSON("unexpected end of JSON input") from None
        raise _NotJSON(f"invalid character '{text[error.pos]}' looking for beginning of value") from None
    return value


def _name(role: Role) -> str:
    """KubeVirt's name for an object of which only the spec is known."""
    return f"old-version-of-{role.matcher}-object"


def _manifest(kind: str, metadata: Manifest, spec: Manifest) -> Manifest:
    return {"kind": kind, "apiVersion": "instancetype.kubevirt.io/v1beta1", "metadata": metadata, "spec": spec}
