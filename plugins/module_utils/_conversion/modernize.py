"""Converts manifests of older API versions to the current ones, with a list of the changes.

Older forms are flavors (flavor.kubevirt.io/v1alpha1), instancetypes and preferences of v1alpha1 and v1alpha2, VMs that
refer to a flavor, and deprecated fields and values. The new manifest gives the same VMI, except for
`_secure_boot`. A field whose replacement would change another object stays, and is listed in `remaining`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from .._resolver.api import release_schema, schema
from .._resolver.api.errors import FieldError
from .._resolver.api.fields import SPEC_TYPES
from .._resolver.api.kinds import kind_meant
from .._resolver.api.manifest import Manifest
from .._resolver.api.matcher import API_VERSION, INSTANCETYPE, MATCHER_FIELD_OF_KIND, MatcherField
from .._resolver.api.name_rules import quoted
from .._resolver.api.release import NEWEST, Release
from .._resolver.api.tree import copy, value_at
from .._resolver.kubevirt.instancetype import topology


class FieldChange(NamedTuple):
    """A change of a manifest.

    path, before: the field and its value. new_path, after: the field that replaces it, and its value; "" and None if
    VMs lose the setting. note: why, in one sentence.
    """

    path: str
    before: Any
    new_path: str
    after: Any
    note: str


class RemainingField(NamedTuple):
    """A deprecated field that stays. path: the field. note: why, and what to do."""

    path: str
    note: str


@dataclasses.dataclass
class Modernization:
    """A manifest in the current API; without changes it equals the original.

    release: that knows the replacements. others: manifests that stand beside it from now on. guest_before, guest_after:
    the figures of the guest, and differences [{field, before, after}] of the VMI, without secrets; None if no
    instancetype was chosen.
    """

    manifest: Manifest
    release: Release = dataclasses.field(compare=False)
    changes: list[FieldChange] = dataclasses.field(default_factory=list)
    remaining: list[RemainingField] = dataclasses.field(default_factory=list)
    others: list[Manifest] = dataclasses.field(default_factory=list)
    guest_before: Manifest | None = None
    guest_after: Manifest | None = None
    differences: list[dict[str, Any]] | None = None

    def record(self, path: str, before: Any, new_path: str, after: Any, note: str) -> None:
        self.changes.append(FieldChange(path, copy(before), new_path, copy(after), note))

    def respell(self, holder: Manifest, name: str, after: Any, path: str, note: str) -> None:
        """Gives a field another value. path: of the holder, with a dot at its end; "" for the manifest."""
        self.record(path + name, holder[name], path + name, after, note)
        holder[name] = after

    def replace(self, spec: Manifest, name: str, new_name: str, value: Any, note: str) -> None:
        """Puts a new field at the position of an old field of a VM's spec."""
        self.record(f"spec.{name}", spec[name], f"spec.{new_name}", value, note)
        spec.pop(new_name, None)  # removes a null
        entries = [(new_name, value) if field == name else (field, entry) for field, entry in spec.items()]
        spec.clear()
        spec.update(entries)

    def drop(self, holder: Manifest, name: str, path: str, note: str) -> None:
        self.changes.append(FieldChange(f"{path}.{name}", holder.pop(name), "", None, note))


def without_deprecated(manifest: Manifest, release: Release) -> Modernization:
    """An instancetype or preference of v1beta1 without deprecated fields.

    manifest: a plain manifest, left unchanged. release: replacements that it does not know are not made.
    """
    draft = Modernization(copy(manifest), release)
    replace(draft, MATCHER_FIELD_OF_KIND[manifest["kind"]], draft.manifest.get("spec") or {})
    return draft


def replace(draft: Modernization, matcher_field: MatcherField, spec: Manifest) -> None:
    """Replaces deprecated fields in the spec of a manifest."""
    (_instancetype if matcher_field is INSTANCETYPE else _preference)(draft, spec)


def _instancetype(draft: Modernization, spec: Manifest) -> None:
    if spec.get("launchSecurity") is not None:
        note = (
            "Deprecated since KubeVirt 1.9; it belongs into preferredLaunchSecurity of each preference used with this"
            " instancetype."
        )
        draft.remaining.append(RemainingField("spec.launchSecurity", note))


def _preference(draft: Modernization, spec: Manifest) -> None:
    _topology(draft, spec)
    _spread_ratio(draft, spec)
    if spec.get("firmware"):
        _firmware(draft, spec["firmware"])


def _topology(draft: Modernization, spec: Manifest) -> None:
    before = (spec.get("cpu") or {}).get("preferredCPUTopology")
    after = topology.preferred(spec) if before is not None else ""
    if before in (None, after) or not after:
        return
    draft.respell(spec["cpu"], "preferredCPUTopology", after, "spec.cpu.", "Deprecated spelling of the same topology.")


def _spread_ratio(draft: Modernization, spec: Manifest) -> None:
    """Moves the ratio to spreadOptions. KubeVirt reads spreadOptions.ratio first; 0 means not set."""
    name = "preferSpreadSocketToCoreRatio"
    path = "spec.cpu.spreadOptions.ratio"
    if name not in spec:
        return
    ratio = spec[name]
    options = ((spec.get("cpu") or {}).get("spreadOptions")) or {}
    if not ratio:
        draft.drop(spec, name, "spec", "Means the same as not set.")
    elif options.get("ratio") is not None:
        draft.drop(spec, name, "spec", f"Had no effect together with {path}.")
    else:
        del spec[name]
        cpu = spec["cpu"] = spec.get("cpu") or {}
        cpu["spreadOptions"] = {**options, "ratio": ratio}
        draft.record(f"spec.{name}", ratio, path, ratio, "The options of a spread are in one place now.")


def _firmware(draft: Modernization, firmware: Manifest) -> None:
    """Replaces preferredUseEfi and preferredUseSecureBoot by preferredEfi.

    Both apply only if the VM leaves the choice open, but preferredUseSecureBoot also affects a VM that itself chooses
    EFI.
    """
    path = "spec.firmware"
    has_efi = firmware.get("preferredEfi") is not None
    use_efi = firmware.get("preferredUseEfi")
    if "preferredUseEfi" in firmware:
        if use_efi and not has_efi:
            secure = firmware.get("preferredUseSecureBoot")
            firmware["preferredEfi"] = {} if secure is None else {"secureBoot": secure}
            del firmware["preferredUseEfi"]
            draft.record(
                f"{path}.preferredUseEfi", use_efi, f"{path}.preferredEfi", firmware["preferredEfi"], "Deprecated."
            )
        else:
            note = "Had no effect together with preferredEfi." if has_efi else "Means the same as not set."
            draft.drop(firmware, "preferredUseEfi", path, note)
    _secure_boot(draft, firmware, path)


def _secure_boot(draft: Modernization, firmware: Manifest, path: str) -> None:
    """Removes preferredUseSecureBoot if the preference has preferredEfi, as KubeVirt recommends.

    Only a VM that itself chooses EFI and leaves secure boot open is affected. Without a preferred EFI the field stays,
    because such VMs are its only purpose.
    """
    name = "preferredUseSecureBoot"
    if name not in firmware:
        return
    secure_boot = firmware[name]
    if secure_boot is None:
        draft.drop(firmware, name, path, "Means the same as not set.")
    elif firmware.get("preferredEfi") is not None:
        note = "Deprecated. A VM that chooses EFI now also has to set secureBoot."
        if firmware["preferredEfi"].get("secureBoot") == secure_boot:
            del firmware[name]
            draft.record(f"{path}.{name}", secure_boot, f"{path}.preferredEfi.secureBoot", secure_boot, note)
        else:
            draft.drop(firmware, name, path, note)
    else:
        note = (
            "Deprecated, but preferredEfi does not replace it for VMs that choose EFI without secureBoot."
            " Set secureBoot in these VMs, then remove this field."
        )
        draft.remaining.append(RemainingField(f"{path}.{name}", note))


VM_API_VERSION: Final = "kubevirt.io/v1"
VM_API_VERSIONS: Final = {"kubevirt.io/v1alpha3": VM_API_VERSION}

OLD_KINDS: Final = {"VirtualMachineFlavor": INSTANCETYPE.kind, "VirtualMachineClusterFlavor": INSTANCETYPE.cluster_kind}
# Bindings of network interfaces that KubeVirt has removed.
_BINDINGS: Final = ("slirp", "macvtap", "passt")


def modernize(manifest: Manifest, release: Release = NEWEST) -> Modernization:
    """The manifest in the current API; manifests of other kinds stay unchanged.

    manifest: a plain manifest, left unchanged. release: replacements that it does not know are not made. Raises
    FieldError for fields without a current counterpart, and for contradictions.
    """
    draft = Modernization(copy(manifest), release)
    api_version, kind = manifest.get("apiVersion"), manifest.get("kind")
    if kind == "VirtualMachine":
        _virtual_machine(draft)
    elif kind in OLD_KINDS or (
        kind in MATCHER_FIELD_OF_KIND and str(api_version).startswith(("flavor.", "instancetype."))
    ):
        _object(draft)
    return draft


def _object(draft: Modernization) -> None:
    """Converts an instancetype or preference of any version, or a flavor."""
    manifest = draft.manifest
    api_version, kind = manifest["apiVersion"], manifest["kind"]
    if kind in OLD_KINDS:
        draft.respell(manifest, "kind", OLD_KINDS[kind], "", "Flavors became instancetypes.")
    matcher_field = MATCHER_FIELD_OF_KIND[manifest["kind"]]
    type_name = (
        matcher_field.spec_type if api_version == API_VERSION else SPEC_TYPES.get((matcher_field.kind, api_version))
    )
    if type_name is None:
        raise FieldError(
            "apiVersion", f"{quoted(api_version)} is not a version of {matcher_field.kind} that KubeVirt ever had"
        )
    if "profiles" in manifest:
        raise FieldError("profiles", "have no counterpart today; write each profile as an instancetype of its own")
    try:
        schema.canonical(type_name, manifest.get("spec"))
    except FieldError as error:
        raise error.with_parent("spec") from None
    spec = manifest.get("spec") or {}
    if api_version != API_VERSION:
        draft.respell(manifest, "apiVersion", API_VERSION, "", "Newer releases of KubeVirt read only v1beta1.")
        if matcher_field is INSTANCETYPE:
            _check_complete(spec)
        spec = manifest["spec"] = _alpha_spec(draft, type_name, api_version, spec)
    replace(draft, matcher_field, spec)


def _alpha_spec(draft: Modernization, type_name: str, api_version: str, spec: Manifest) -> Manifest:
    """The spec without values that the old API ignored and the current API would apply."""
    for field in release_schema.unknown(type_name, spec, NEWEST):
        draft.record(
            f"spec.{field.path}", field.value, "", None, f"{api_version} did not know this field, so it had no effect."
        )
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


def _virtual_machine(draft: Modernization) -> None:
    manifest = draft.manifest
    modern = VM_API_VERSIONS.get(str(manifest.get("apiVersion")))
    if modern is not None:
        draft.respell(manifest, "apiVersion", modern, "", "Deprecated name of the same version.")
    spec = manifest.get("spec")
    if spec is None:
        return
    schema.canonical("VirtualMachine", manifest)
    _flavor(draft, spec)
    _running(draft, spec)
    draft.remaining.extend(_removed_bindings(spec))


def _flavor(draft: Modernization, spec: Manifest) -> None:
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
    draft.replace(spec, "flavor", INSTANCETYPE.name, matcher, "Flavors became instancetypes.")


def _flavor_kind(kind: Any) -> str:
    if flavor := kind_meant(str(kind), OLD_KINDS):
        return OLD_KINDS[flavor]
    raise FieldError("spec.flavor.kind", f"{quoted(kind)} is not a kind of flavor; write {' or '.join(OLD_KINDS)}")


def _running(draft: Modernization, spec: Manifest) -> None:
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
    draft.replace(spec, "running", "runStrategy", "Always" if running else "Halted", "Deprecated since KubeVirt 1.3.")


def _removed_bindings(spec: Manifest) -> Iterator[RemainingField]:
    """The interfaces with a binding that a plugin has replaced."""
    interfaces = value_at(spec, ("template", "spec", "domain", "devices", "interfaces"))
    for index, interface in enumerate(interfaces or ()):
        for name in _BINDINGS:
            if name in (interface or {}):
                path = f"spec.template.spec.domain.devices.interfaces[{index}].{name}"
                yield RemainingField(
                    path, "KubeVirt has removed this binding; choose another, or a network binding plugin."
                )
