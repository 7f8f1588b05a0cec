"""Fields of today's instancetypes and preferences that KubeVirt has deprecated, and what to write in their place."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..api import release_schema
from ..api.matcher import INSTANCETYPE, PREFERENCE, ROLE_OF_KIND, Role
from ..api.release import Release
from ..api.tree import copy
from ..instancetype.apply import topology

Manifest = dict[str, Any]


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


class Draft(NamedTuple):
    """A manifest under change."""

    manifest: Manifest
    changes: list[Change]
    left: list[Left]
    release: Release

    def set(self, path: str, was: Any, now_path: str, now: Any, note: str) -> None:
        self.changes.append(Change(path, copy(was), now_path, copy(now), note))

    def done(self) -> Modernized:
        return Modernized(self.manifest, tuple(self.changes), tuple(self.left))

    def drop(self, holder: Manifest, name: str, path: str, note: str) -> None:
        self.changes.append(Change(f"{path}.{name}", holder.pop(name), "", None, note))


def without_deprecated(manifest: Manifest, release: Release) -> Modernized:
    """An instancetype or a preference of today's API version without its deprecated fields.

    manifest: a plain one, left unchanged. release: replacements that it does not know are not made.
    """
    draft = Draft(copy(manifest), [], [], release)
    replace(draft, ROLE_OF_KIND[manifest["kind"]], draft.manifest.get("spec") or {})
    return draft.done()


def replace(draft: Draft, role: Role, spec: Manifest) -> None:
    """Changes the spec of a draft."""
    (_instancetype if role is INSTANCETYPE else _preference)(draft, spec)


def _instancetype(draft: Draft, spec: Manifest) -> None:
    if spec.get("launchSecurity") is not None:
        note = (
            "Deprecated since KubeVirt 1.9; it belongs into preferredLaunchSecurity of each preference used with this"
            " instancetype."
        )
        draft.left.append(Left("spec.launchSecurity", note))


def _preference(draft: Draft, spec: Manifest) -> None:
    _topology(draft, spec)
    _spread_ratio(draft, spec)
    if spec.get("firmware"):
        _firmware(draft, spec["firmware"])


def _topology(draft: Draft, spec: Manifest) -> None:
    was = (spec.get("cpu") or {}).get("preferredCPUTopology")
    now = topology.preferred(spec) if was is not None else ""
    if was in (None, now) or not now or now in draft.release.unknown_topologies:
        return
    spec["cpu"]["preferredCPUTopology"] = now
    path = "spec.cpu.preferredCPUTopology"
    draft.set(path, was, path, now, "Deprecated spelling of the same topology.")


def _spread_ratio(draft: Draft, spec: Manifest) -> None:
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


def _firmware(draft: Draft, firmware: Manifest) -> None:
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


def _secure_boot(draft: Draft, firmware: Manifest, path: str) -> None:
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


def _knows(draft: Draft, spec: Manifest) -> bool:
    """Whether the release knows all fields of a part of a preference."""
    return not any(release_schema.unknown(PREFERENCE.spec_type, spec, draft.release))
