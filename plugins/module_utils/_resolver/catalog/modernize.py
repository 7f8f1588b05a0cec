"""Converts manifests of older API versions to the current ones, with a list of the changes.

Older forms are flavors (flavor.kubevirt.io/v1alpha1), instancetypes and preferences of v1alpha1 and v1alpha2, VMs that
refer to a flavor, and deprecated fields and values. The new manifest gives the same VMI, except for
`deprecated._secure_boot`. A field whose replacement would change another object stays, and is listed in `remaining`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..api import release_schema, schema
from ..api.errors import FieldError
from ..api.fields.instancetype import SPEC_TYPES
from ..api.matcher import API_VERSION, INSTANCETYPE, ROLE_OF_KIND
from ..api.names import shown
from ..api.release import NEWEST, Release
from ..api.tree import copy
from .deprecated import Draft, Modernized, RemainingField, replace

Manifest = dict[str, Any]

VM_API_VERSION: Final = "kubevirt.io/v1"
VM_API_VERSIONS: Final = {"kubevirt.io/v1alpha3": VM_API_VERSION}

OLD_KINDS: Final = {
    "VirtualMachineFlavor": INSTANCETYPE.kind,
    "VirtualMachineClusterFlavor": INSTANCETYPE.cluster_kind,
}
# Bindings of network interfaces that KubeVirt has removed.
_BINDINGS: Final = ("slirp", "macvtap", "passt")


def modernize(manifest: Manifest, release: Release = NEWEST) -> Modernized:
    """The manifest in the current API; manifests of other kinds stay unchanged.

    manifest: a plain manifest, left unchanged. release: replacements that it does not know are not made. Raises
    FieldError for fields without a current counterpart, and for contradictions.
    """
    draft = Draft(copy(manifest), [], [], release)
    api_version, kind = manifest.get("apiVersion"), manifest.get("kind")
    if kind == "VirtualMachine":
        _virtual_machine(draft)
    elif kind in OLD_KINDS or (kind in ROLE_OF_KIND and str(api_version).startswith(("flavor.", "instancetype."))):
        _object(draft)
    return draft.done()


def _object(draft: Draft) -> None:
    """Converts an instancetype or preference of any version, or a flavor."""
    manifest = draft.manifest
    api_version, kind = manifest["apiVersion"], manifest["kind"]
    if kind in OLD_KINDS:
        manifest["kind"] = OLD_KINDS[kind]
        draft.set("kind", kind, "kind", manifest["kind"], "Flavors became instancetypes.")
    role = ROLE_OF_KIND[manifest["kind"]]
    type_name = role.spec_type if api_version == API_VERSION else SPEC_TYPES.get((role.kind, api_version))
    if type_name is None:
        raise FieldError("apiVersion", f"{shown(api_version)} is not a version of {role.kind} that KubeVirt ever had")
    if "profiles" in manifest:
        raise FieldError("profiles", "have no counterpart today; write each profile as an instancetype of its own")
    try:
        schema.canonical(type_name, manifest.get("spec"))
    except FieldError as error:
        raise error.with_parent("spec") from None
    spec = manifest.get("spec") or {}
    if api_version != API_VERSION:
        manifest["apiVersion"] = API_VERSION
        draft.set("apiVersion", api_version, "apiVersion", API_VERSION, "Newer releases of KubeVirt read only v1beta1.")
        if role is INSTANCETYPE:
            _check_complete(spec)
        spec = manifest["spec"] = _alpha_spec(draft, type_name, api_version, spec)
    replace(draft, role, spec)


def _alpha_spec(draft: Draft, type_name: str, api_version: str, spec: Manifest) -> Manifest:
    """The spec without values that the old API ignored and the current API would apply."""
    for path, value in release_schema.unknown_fields(type_name, spec, NEWEST):
        draft.set(f"spec.{path}", value, "", None, f"{api_version} did not know this field, so it had no effect.")
    result: Manifest = release_schema.without_unknown_fields(type_name, spec, NEWEST)
    cpu = result.get("cpu") or {}
    if cpu.get("preferredCPUTopology") == "":
        draft.drop(cpu, "preferredCPUTopology", "spec.cpu", "Empty meant not set.")
    for name in ("model", "dedicatedCPUPlacement", "isolateEmulatorThread"):
        if cpu.get(name) in ("", False) and name in cpu:
            note = "This value meant unset; today it would conflict with a VM that sets the field."
            draft.drop(cpu, name, "spec.cpu", note)
    return result


def _check_complete(spec: Manifest) -> None:
    """Rejects a spec without vCPUs or memory: the first flavors set a VM's cpu object, without memory."""
    cpu = spec.get("cpu") or {}
    for name in ("sockets", "cores", "threads"):
        if name in cpu:
            raise FieldError(
                f"spec.cpu.{name}", "has no counterpart in an instancetype; write spec.cpu.guest, the number of vCPUs"
            )
    for path, holder in (("spec.cpu.guest", cpu), ("spec.memory.guest", spec.get("memory") or {})):
        if holder.get("guest") is None:
            raise FieldError(path, "is required in every instancetype")


def _virtual_machine(draft: Draft) -> None:
    manifest = draft.manifest
    api_version = manifest.get("apiVersion")
    if api_version in VM_API_VERSIONS:
        manifest["apiVersion"] = VM_API_VERSIONS[api_version]
        draft.set(
            "apiVersion", api_version, "apiVersion", manifest["apiVersion"], "Deprecated name of the same version."
        )
    spec = manifest.get("spec")
    if spec is None:
        return
    schema.canonical("VirtualMachine", manifest)
    _flavor(draft, spec)
    _running(draft, spec)
    draft.remaining.extend(_removed_bindings(spec))


def _flavor(draft: Draft, spec: Manifest) -> None:
    if "flavor" not in spec:
        return
    flavor = spec["flavor"]
    if flavor is None:
        draft.drop(spec, "flavor", "spec", "Means the same as not set.")
        return
    if not isinstance(flavor, dict):
        raise FieldError("spec.flavor", "expected an object")
    if spec.get("instancetype") is not None:
        raise FieldError("spec.flavor", "is set together with spec.instancetype; remove one of them")
    if flavor.get("profile"):
        raise FieldError("spec.flavor.profile", "has no counterpart today; name the instancetype made of the profile")
    matcher = {name: value for name, value in flavor.items() if name != "profile"}
    if flavor.get("kind"):
        matcher["kind"] = _flavor_kind(flavor["kind"])
    _replace(spec, "flavor", INSTANCETYPE.matcher, matcher)
    draft.set("spec.flavor", flavor, f"spec.{INSTANCETYPE.matcher}", matcher, "Flavors became instancetypes.")


def _flavor_kind(kind: Any) -> str:
    """The kind as KubeVirt accepts it: in any case, singular or plural."""
    for name, modern in OLD_KINDS.items():
        if str(kind).lower() in (name.lower(), f"{name.lower()}s"):
            return modern
    raise FieldError("spec.flavor.kind", f"{shown(kind)} is not a kind of flavor; write {' or '.join(OLD_KINDS)}")


def _running(draft: Draft, spec: Manifest) -> None:
    if "running" not in spec:
        return
    running = spec["running"]
    if running is None:
        draft.drop(spec, "running", "spec", "Means the same as not set.")
        return
    if spec.get("runStrategy") is not None:
        raise FieldError(
            "spec.running", "is set together with spec.runStrategy, which KubeVirt rejects; remove spec.running"
        )
    strategy = "Always" if running else "Halted"
    _replace(spec, "running", "runStrategy", strategy)
    draft.set("spec.running", running, "spec.runStrategy", strategy, "Deprecated since KubeVirt 1.3.")


def _replace(holder: Manifest, name: str, other: str, value: Any) -> None:
    """Puts a new field at the position of the old field."""
    holder.pop(other, None)  # removes a null
    entries = [(other, value) if field == name else (field, entry) for field, entry in holder.items()]
    holder.clear()
    holder.update(entries)


def _removed_bindings(spec: Manifest) -> Iterator[RemainingField]:
    """The interfaces with a binding that a plugin has replaced."""
    value: Any = spec
    for name in ("template", "spec", "domain", "devices", "interfaces"):
        value = value.get(name) or {}
    for index, interface in enumerate(value):
        for name in _BINDINGS:
            if name in (interface or {}):
                path = f"spec.template.spec.domain.devices.interfaces[{index}].{name}"
                yield RemainingField(
                    path, "KubeVirt has removed this binding; choose another, or a network binding plugin."
                )
