"""Deprecated fields of instancetypes and preferences (v1beta1), and their replacements."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..api import release_schema
from ..api.matcher import INSTANCETYPE, PREFERENCE, ROLE_OF_KIND, Role
from ..api.release import Release
from ..api.tree import copy
from ..kubevirt.apply import topology

Manifest = dict[str, Any]


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


class Modernized(NamedTuple):
    """An object without its deprecated fields.

    manifest: the new manifest; without changes it equals the original.
    """

    manifest: Manifest
    changes: tuple[FieldChange, ...]
    remaining: tuple[RemainingField, ...]


class Draft(NamedTuple):
    """A manifest and its changes so far."""

    manifest: Manifest
    changes: list[FieldChange]
    remaining: list[RemainingField]
    release: Release

    def set(self, path: str, before: Any, new_path: str, after: Any, note: str) -> None:
        self.changes.append(FieldChange(path, copy(before), new_path, copy(after), note))

    def done(self) -> Modernized:
        return Modernized(self.manifest, tuple(self.changes), tuple(self.remaining))

    def drop(self, holder: Manifest, name: str, path: str, note: str) -> None:
        self.changes.append(FieldChange(f"{path}.{name}", holder.pop(name), "", None, note))


def without_deprecated(manifest: Manifest, release: Release) -> Modernized:
    """An instancetype or preference of v1beta1 without deprecated fields.

    manifest: a plain manifest, left unchanged. release: replacements that it does not know are not made.
    """
    draft = Draft(copy(manifest), [], [], release)
    replace(draft, ROLE_OF_KIND[manifest["kind"]], draft.manifest.get("spec") or {})
    return draft.done()


def replace(draft: Draft, role: Role, spec: Manifest) -> None:
    """Replaces deprecated fields in the spec of a draft."""
    (_instancetype if role is INSTANCETYPE else _preference)(draft, spec)


def _instancetype(draft: Draft, spec: Manifest) -> None:
    if spec.get("launchSecurity") is not None:
        note = (
            "Deprecated since KubeVirt 1.9; it belongs into preferredLaunchSecurity of each preference used with this"
            " instancetype."
        )
        draft.remaining.append(RemainingField("spec.launchSecurity", note))


def _preference(draft: Draft, spec: Manifest) -> None:
    _topology(draft, spec)
    _spread_ratio(draft, spec)
    if spec.get("firmware"):
        _firmware(draft, spec["firmware"])


def _topology(draft: Draft, spec: Manifest) -> None:
    before = (spec.get("cpu") or {}).get("preferredCPUTopology")
    after = topology.preferred(spec) if before is not None else ""
    if before in (None, after) or not after or after in draft.release.unknown_topologies:
        return
    spec["cpu"]["preferredCPUTopology"] = after
    path = "spec.cpu.preferredCPUTopology"
    draft.set(path, before, path, after, "Deprecated spelling of the same topology.")


def _spread_ratio(draft: Draft, spec: Manifest) -> None:
    """Moves the ratio to spreadOptions. KubeVirt reads spreadOptions.ratio first; 0 means not set."""
    name = "preferSpreadSocketToCoreRatio"
    path = "spec.cpu.spreadOptions.ratio"
    if name not in spec or not _supports(draft, {"cpu": {"spreadOptions": {"ratio": 1}}}):
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
        draft.set(f"spec.{name}", ratio, path, ratio, "The options of a spread are in one place now.")


def _firmware(draft: Draft, firmware: Manifest) -> None:
    """Replaces preferredUseEfi and preferredUseSecureBoot by preferredEfi.

    Both apply only if the VM leaves the choice open, but preferredUseSecureBoot also affects a VM that itself chooses
    EFI.
    """
    if not _supports(draft, {"firmware": {"preferredEfi": {}}}):
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


def _secure_boot(draft: Draft, firmware: Manifest, path: str) -> None:
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
        del firmware[name]
        if firmware["preferredEfi"].get("secureBoot") == secure_boot:
            draft.set(f"{path}.{name}", secure_boot, f"{path}.preferredEfi.secureBoot", secure_boot, note)
        else:
            draft.set(f"{path}.{name}", secure_boot, "", None, note)
    else:
        note = (
            "Deprecated, but preferredEfi does not replace it for VMs that choose EFI without secureBoot."
            " Set secureBoot in these VMs, then remove this field."
        )
        draft.remaining.append(RemainingField(f"{path}.{name}", note))


def _supports(draft: Draft, spec: Manifest) -> bool:
    """Whether the release knows all fields of a part of a preference."""
    return not any(release_schema.unknown_fields(PREFERENCE.spec_type, spec, draft.release))
