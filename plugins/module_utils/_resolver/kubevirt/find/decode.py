"""Reads the object in a ControllerRevision (KubeVirt ``pkg/instancetype/compatibility``).

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
from ...api.matcher import API_VERSION, INSTANCETYPE, PREFERENCE, ROLE_OF_KIND, Role
from ...api.release import NEWEST, Release

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


class Decoded(NamedTuple):
    """The contents of a ControllerRevision.

    manifest: the canonical object with apiVersion and kind; None with an error, or if the revision is empty.
    """

    manifest: Manifest | None = None
    error: str | None = None


def convert(data: Manifest, release: Release) -> Decoded:
    """An object of v1alpha1 or v1alpha2, converted to v1beta1 as the release does."""
    kind, spec = data["kind"], data.get("spec")
    role = ROLE_OF_KIND[kind]
    if spec is not None and not isinstance(spec, dict):
        version = data["apiVersion"].rpartition("/")[2]
        json_type = {str: "string", list: "array", bool: "bool"}.get(type(spec), "number")
        return Decoded(
            error=f"json: cannot unmarshal {json_type} into Go struct field {kind}.spec"
            f" of type {version}.{role.spec_type}"
        )
    try:
        metadata = schema.canonical("ObjectMeta", data.get("metadata"))
        converted = release_schema.canonical(SPEC_TYPES[role.kind, data["apiVersion"]], spec, release)
    except FieldError as error:
        return Decoded(error=go_reason(error))
    return Decoded(_manifest(kind, metadata, converted))


def spec_revision(data: Manifest, role: Role | None, release: Release) -> Decoded | None:
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


def _lenient(text: str, role: Role) -> Decoded:
    """The fields of the text that exist in the role's spec."""
    try:
        spec = schema.canonical(SPEC_TYPES[role.kind, V1ALPHA1], _object(text))
    except _NotJSON as error:
        reason = str(error)
    except FieldError as error:
        reason = go_reason(error)
    else:
        return Decoded(_manifest(role.kind, {"name": _name(role)}, spec))
    return Decoded(error=f"failed to decode old ControllerRevision: failed to decode {_FAILURES[role]}: {reason}")


def _strict(text: str, release: Release) -> Decoded | None:
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
        return Decoded(_manifest(role.kind, {"name": _name(role)}, spec))
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


_FAILED: Final = "failed to decode object in ControllerRevision: "
_SCHEME: Final = "kubevirt.io/client-go/kubevirt/scheme/register.go:44"

_CORE_KINDS: Final = (
    "KubeVirt",
    "VirtualMachine",
    "VirtualMachineInstance",
    "VirtualMachineInstanceMigration",
    "VirtualMachineInstancePreset",
    "VirtualMachineInstanceReplicaSet",
)
# The kinds of KubeVirt's client, with the Go package in its message. Each kind also has a List.
_REGISTERED: Final = {
    "kubevirt.io/v1": ("v1", _CORE_KINDS),
    "kubevirt.io/v1alpha3": ("v1", _CORE_KINDS),
    API_VERSION: ("v1beta1", tuple(ROLE_OF_KIND)),
    "clone.kubevirt.io/v1alpha1": ("v1alpha1", ("VirtualMachineClone",)),
    "clone.kubevirt.io/v1beta1": ("v1beta1", ("VirtualMachineClone",)),
    "export.kubevirt.io/v1alpha1": ("v1alpha1", ("VirtualMachineExport",)),
    "export.kubevirt.io/v1beta1": ("v1beta1", ("VirtualMachineExport",)),
    "migrations.kubevirt.io/v1alpha1": ("v1alpha1", ("MigrationPolicy",)),
    "pool.kubevirt.io/v1alpha1": ("v1alpha1", ("VirtualMachinePool",)),
    "pool.kubevirt.io/v1beta1": ("v1beta1", ("VirtualMachinePool",)),
    "snapshot.kubevirt.io/v1alpha1": (
        "v1alpha1",
        ("VirtualMachineSnapshot", "VirtualMachineSnapshotContent", "VirtualMachineRestore"),
    ),
    "snapshot.kubevirt.io/v1beta1": (
        "v1beta1",
        ("VirtualMachineSnapshot", "VirtualMachineSnapshotContent", "VirtualMachineRestore"),
    ),
}


class DecodedSpec(NamedTuple):
    """The spec in a ControllerRevision.

    spec: the canonical spec of the instancetype or preference; None with an error.
    """

    spec: Manifest | None = None
    error: str | None = None


def decode(revision: Manifest, release: Release = NEWEST, role: Role | None = None) -> Decoded:
    """Reads `data` of a ControllerRevision's manifest.

    role: of the VM's matcher; releases before 1.3 need it to read a spec that was stored without its object.
    """
    data = revision.get("data")
    if data is None:
        return Decoded()
    if not isinstance(data, dict):
        return Decoded(error=f"{_FAILED}couldn't get version/kind; {_json_error(data)}")
    if release.old_revisions:
        spec_alone = spec_revision(data, role, release)
        if spec_alone is not None:
            return spec_alone
    kind, api_version, problem = _kind_of(data)
    if problem:
        return Decoded(error=_FAILED + problem)
    if release.old_revisions and api_version in API_VERSIONS and kind in ROLE_OF_KIND:
        converted = convert(data, release)
        return converted if converted.error is None else Decoded(error=_FAILED + converted.error)
    go_type = _go_type(api_version, kind)
    if go_type is None:
        message = f'no kind "{kind}" is registered for version "{api_version}" in scheme "{_SCHEME}"'
        return Decoded(error=_FAILED + message)
    if api_version != API_VERSION or kind not in ROLE_OF_KIND:
        return Decoded(error=f"unexpected type in ControllerRevision: {go_type}")
    try:
        # Namespaced and cluster-wide kinds differ only in name.
        manifest = release_schema.canonical(ROLE_OF_KIND[kind].kind, data, release)
    except FieldError as error:
        return Decoded(error=_FAILED + go_reason(error))
    return Decoded(manifest)


def _kind_of(data: Manifest) -> tuple[str, str, str]:
    """kind and apiVersion of an object, and Go's error about them, else ""."""
    # Go ignores null; other values that are not strings are errors.
    kind, api_version = ("" if data.get(field) is None else data[field] for field in ("kind", "apiVersion"))
    for field, value in (("apiVersion", api_version), ("kind", kind)):
        if not isinstance(value, str):
            return "", "", f"couldn't get version/kind; {_json_error(value, f'struct field .{field}')}"
    if api_version.count("/") > 1:
        return "", "", f"unexpected GroupVersion string: {api_version}"
    for field, value in (("Kind", kind), ("apiVersion", api_version.rpartition("/")[2])):
        if not value:
            return "", "", f"Object '{field}' is missing in '{_go_json(data)}'"
    return kind, api_version, ""


def spec(revision: Manifest, role: Role, release: Release = NEWEST) -> DecodedSpec:
    """The spec in a ControllerRevision, if it contains an object of the role."""
    decoded = decode(revision, release, role)
    if decoded.error is not None:
        return DecodedSpec(error=decoded.error)
    if decoded.manifest is None:
        return DecodedSpec(error="unexpected type in ControllerRevision: <nil>")
    kind = decoded.manifest["kind"]
    if ROLE_OF_KIND[kind] is not role:
        return DecodedSpec(error=f"unexpected type in ControllerRevision: {_go_type(API_VERSION, kind)}")
    return DecodedSpec(decoded.manifest["spec"])


def _go_type(api_version: str, kind: str) -> str | None:
    """The Go type of a kind; None if KubeVirt's client does not know it."""
    package, kinds = _REGISTERED.get(api_version, ("", ()))
    registered = kind in kinds or (kind.endswith("List") and kind[: -len("List")] in kinds)
    return f"*{package}.{kind}" if registered else None


def _go_json(data: Any) -> str:
    """JSON as Go writes it: compact, keys sorted, with `<`, `>` and `&` escaped."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


_TYPE_META: Final = (
    'value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\"";'
    ' Kind string "json:\\"kind,omitempty\\"" }'
)


def _json_error(value: Any, target: str = _TYPE_META) -> str:
    """Go's error for a JSON value of another type than the target."""
    names = {str: "string", list: "array", dict: "object", bool: "bool"}
    if target is not _TYPE_META:
        target += " of type string"
    return f"json parse error: json: cannot unmarshal {names.get(type(value), 'number')} into Go {target}"
