"""Manifests of earlier times in the form of today, with a list of what was changed.

Earlier forms are flavors (flavor.kubevirt.io/v1alpha1), instancetypes and preferences of v1alpha1 and v1alpha2, VMs
that name a flavor, and fields and values that KubeVirt has deprecated since. A modern manifest gives the same VMI as
the old one gave, with one exception, described at `_secure_boot`; what would need another object to change too
stays unchanged, and `left` says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ..api import release_schema, schema
from ..api.errors import FieldError
from ..api.fields.alpha import SPEC_TYPES
from ..api.matcher import API_VERSION, INSTANCETYPE, PREFERENCE, ROLE_OF_KIND
from ..api.names import shown
from ..api.release import NEWEST, Release
from ..api.tree import copy
from ..instancetype.apply import topology

Manifest = dict[str, Any]

FLAVOR: Final = "flavor.kubevirt.io/v1alpha1"
VM_API_VERSIONS: Final = {"kubevirt.io/v1alpha3": "kubevirt.io/v1"}

_KINDS: Final = {
    "VirtualMachineFlavor": INSTANCETYPE.kind,
    "VirtualMachineClusterFlavor": INSTANCETYPE.cluster_kind,
}
# Bindings of network interfaces that KubeVirt has given up.
_BINDINGS: Final = ("slirp", "macvtap", "passt")


class Change(NamedTuple):
    """One change of a manifest.

    path, was: a field and its value before. now_path, now: where its meaning is now and with which value; "" and None
    where the VM no longer exists. note: why, in one sentence.
    """

    path: str
    was: Any
    now_path: str
    now: Any
    note: str


class Left(NamedTuple):
    """Something deprecated that stays. path: the field. note: why, and what to do."""

    path: str
    note: str


class Modernized(NamedTuple):
    """manifest: the new manifest; equal to the old manifest without changes."""

    manifest: Manifest
    changes: tuple[Change, ...]
    left: tuple[Left, ...]


class _Draft(NamedTuple):
    """A manifest under change."""

    manifest: Manifest
    changes: list[Change]
    left: list[Left]
    release: Release

    def set(self, path: str, was: Any, now_path: str, now: Any, note: str) -> None:
        self.changes.append(Change(path, copy(was), now_path, copy(now), note))

    def drop(self, holder: Manifest, name: str, path: str, note: str) -> None:
        self.changes.append(Change(f"{path}.{name}", holder.pop(name), "", None, note))


def modernize(manifest: Manifest, release: Release = NEWEST) -> Modernized:
    """The manifest in the current API; manifests of other kinds come back unchanged.

    manifest: a plain one, left unchanged. release: replacements that it does not know are not made.
    Raises FieldError for what has no counterpart today, or contradicts itself.
    """
    draft = _Draft(copy(manifest), [], [], release)
    api_version, kind = manifest.get("apiVersion"), manifest.get("kind")
    if kind == "VirtualMachine":
        _virtual_machine(draft)
    elif kind in _KINDS or (kind in ROLE_OF_KIND and str(api_version).startswith(("flavor.", "instancetype."))):
        _object(draft)
    return Modernized(draft.manifest, tuple(draft.changes), tuple(draft.left))


def _object(draft: _Draft) -> None:
    """An instancetype or preference of any version, or a flavor."""
    manifest = draft.manifest
    api_version, kind = manifest["apiVersion"], manifest["kind"]
    if kind in _KINDS:
        manifest["kind"] = _KINDS[kind]
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
        raise error.under("spec") from None
    spec = manifest.get("spec") or {}
    if api_version != API_VERSION:
        manifest["apiVersion"] = API_VERSION
        draft.set("apiVersion", api_version, "apiVersion", API_VERSION, "Newer releases of KubeVirt read only v1beta1.")
        if role is INSTANCETYPE:
            _check_complete(spec)
        spec = manifest["spec"] = _alpha_spec(draft, type_name, api_version, spec)
    (_instancetype if role is INSTANCETYPE else _preference)(draft, spec)


def _alpha_spec(draft: _Draft, type_name: str, api_version: str, spec: Manifest) -> Manifest:
    """The spec without values that the old API ignored and the new API would not."""
    for path, was in release_schema.unknown(type_name, spec, NEWEST):
        draft.set(f"spec.{path}", was, "", None, f"{api_version} did not know this field, so it had no effect.")
    kept: Manifest = release_schema.known(type_name, spec, NEWEST)
    cpu = kept.get("cpu") or {}
    if cpu.get("preferredCPUTopology") == "":
        draft.drop(cpu, "preferredCPUTopology", "spec.cpu", "Empty meant not set.")
    for name in ("model", "dedicatedCPUPlacement", "isolateEmulatorThread"):
        if cpu.get(name) in ("", False) and name in cpu:
            note = "This value meant unset; today it would conflict with a VM that sets the field."
            draft.drop(cpu, name, "spec.cpu", note)
    return kept


def _check_complete(spec: Manifest) -> None:
    """The first flavors gave a VM's own cpu object, without memory."""
    cpu = spec.get("cpu") or {}
    for name in ("sockets", "cores", "threads"):
        if name in cpu:
            raise FieldError(
                f"spec.cpu.{name}", "has no counterpart in an instancetype; write spec.cpu.guest, the number of vCPUs"
            )
    for path, holder in (("spec.cpu.guest", cpu), ("spec.memory.guest", spec.get("memory") or {})):
        if holder.get("guest") is None:
            raise FieldError(path, "is required in every instancetype")


def _instancetype(draft: _Draft, spec: Manifest) -> None:
    if spec.get("launchSecurity") is not None:
        note = (
            "Deprecated since KubeVirt 1.9; it belongs into preferredLaunchSecurity of each preference used with this"
            " instancetype."
        )
        draft.left.append(Left("spec.launchSecurity", note))


def _preference(draft: _Draft, spec: Manifest) -> None:
    _topology(draft, spec)
    _spread_ratio(draft, spec)
    if spec.get("firmware"):
        _firmware(draft, spec["firmware"])


def _topology(draft: _Draft, spec: Manifest) -> None:
    was = (spec.get("cpu") or {}).get("preferredCPUTopology")
    now = topology.preferred(spec) if was is not None else ""
    if was in (None, now) or not now or now in draft.release.unknown_topologies:
        return
    spec["cpu"]["preferredCPUTopology"] = now
    path = "spec.cpu.preferredCPUTopology"
    draft.set(path, was, path, now, "Deprecated spelling of the same topology.")


def _spread_ratio(draft: _Draft, spec: Manifest) -> None:
    """KubeVirt looks at spreadOptions.ratio first, and takes 0 for not set."""
    name = "preferSpreadSocketToCoreRatio"
    path = "spec.cpu.spreadOptions.ratio"
    if name not in spec or not _knows(draft, {"cpu": {"spreadOptions": {"ratio": 1}}}):
        return
    was = spec[name]
    options = ((spec.get("cpu") or {}).get("spreadOptions")) or {}
    if not was:
        draft.drop(spec, name, "spec", "Means the same as not set.")
    elif options.get("ratio") is not None:
        draft.drop(spec, name, "spec", f"Had no effect together with {path}.")
    else:
        del spec[name]
        cpu = spec["cpu"] = spec.get("cpu") or {}
        cpu["spreadOptions"] = {**options, "ratio": was}
        draft.set(f"spec.{name}", was, path, was, "The options of a spread are in one place now.")


def _firmware(draft: _Draft, firmware: Manifest) -> None:
    """preferredEfi instead of preferredUseEfi and preferredUseSecureBoot.

    Both fill only what the VM leaves open, but preferredUseSecureBoot also the EFI that a VM chooses itself.
    """
    if not _knows(draft, {"firmware": {"preferredEfi": {}}}):
        return
    path = "spec.firmware"
    has_efi = firmware.get("preferredEfi") is not None
    use_efi = firmware.get("preferredUseEfi")
    if "preferredUseEfi" in firmware:
        if use_efi and not has_efi:
            secure = firmware.get("preferredUseSecureBoot")
            firmware["preferredEfi"] = {} if secure is None else {"secureBoot": secure}
            del firmware["preferredUseEfi"]
            draft.set(
                f"{path}.preferredUseEfi", use_efi, f"{path}.preferredEfi", firmware["preferredEfi"], "Deprecated."
            )
        else:
            note = "Had no effect together with preferredEfi." if has_efi else "Means the same as not set."
            draft.drop(firmware, "preferredUseEfi", path, note)
    _secure_boot(draft, firmware, path)


def _secure_boot(draft: _Draft, firmware: Manifest, path: str) -> None:
    """Gone with preferredEfi, as KubeVirt wants it: only a VM that chooses EFI itself, without saying whether it boots
    securely, notices that. Where nothing else prefers EFI, that is all that it is for, and it stays.
    """
    name = "preferredUseSecureBoot"
    if name not in firmware:
        return
    was = firmware[name]
    if was is None:
        draft.drop(firmware, name, path, "Means the same as not set.")
    elif firmware.get("preferredEfi") is not None:
        note = "Deprecated. A VM that chooses EFI now also has to set secureBoot."
        del firmware[name]
        if firmware["preferredEfi"].get("secureBoot") == was:
            draft.set(f"{path}.{name}", was, f"{path}.preferredEfi.secureBoot", was, note)
        else:
            draft.set(f"{path}.{name}", was, "", None, note)
    else:
        note = (
            "Deprecated, but preferredEfi does not replace it for VMs that choose EFI without secureBoot."
            " Set secureBoot in these VMs, then remove this field."
        )
        draft.left.append(Left(f"{path}.{name}", note))


def _knows(draft: _Draft, spec: Manifest) -> bool:
    """Whether the release knows all fields of a part of a preference."""
    return not any(release_schema.unknown(PREFERENCE.spec_type, spec, draft.release))


def _virtual_machine(draft: _Draft) -> None:
    manifest = draft.manifest
    was = manifest.get("apiVersion")
    if was in VM_API_VERSIONS:
        manifest["apiVersion"] = VM_API_VERSIONS[was]
        draft.set("apiVersion", was, "apiVersion", manifest["apiVersion"], "Deprecated name of the same version.")
    spec = manifest.get("spec")
    if spec is None:
        return
    schema.canonical("VirtualMachine", manifest)
    _flavor(draft, spec)
    _running(draft, spec)
    draft.left.extend(_given_up(spec))


def _flavor(draft: _Draft, spec: Manifest) -> None:
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
    """The kind as KubeVirt takes it: whatever the case, singular or plural."""
    for name, modern in _KINDS.items():
        if str(kind).lower() in (name.lower(), f"{name.lower()}s"):
            return modern
    raise FieldError("spec.flavor.kind", f"{shown(kind)} is not a kind of flavor; write {' or '.join(_KINDS)}")


def _running(draft: _Draft, spec: Manifest) -> None:
    if "running" not in spec:
        return
    was = spec["running"]
    if was is None:
        draft.drop(spec, "running", "spec", "Means the same as not set.")
        return
    if spec.get("runStrategy") is not None:
        raise FieldError(
            "spec.running", "is set together with spec.runStrategy, which KubeVirt rejects; remove spec.running"
        )
    strategy = "Always" if was else "Halted"
    _replace(spec, "running", "runStrategy", strategy)
    draft.set("spec.running", was, "spec.runStrategy", strategy, "Deprecated since KubeVirt 1.3.")


def _replace(holder: Manifest, name: str, other: str, value: Any) -> None:
    """Another field in the place of the old field, so that the manifest reads as before."""
    holder.pop(other, None)  # a null
    entries = [(other, value) if field == name else (field, entry) for field, entry in holder.items()]
    holder.clear()
    holder.update(entries)


def _given_up(spec: Manifest) -> Iterator[Left]:
    """Interfaces with a binding that a plugin replaces now."""
    value: Any = spec
    for name in ("template", "spec", "domain", "devices", "interfaces"):
        value = value.get(name) or {}
    for index, interface in enumerate(value):
        for name in _BINDINGS:
            if name in (interface or {}):
                path = f"spec.template.spec.domain.devices.interfaces[{index}].{name}"
                yield Left(path, "KubeVirt has removed this binding; choose another, or a network binding plugin.")
