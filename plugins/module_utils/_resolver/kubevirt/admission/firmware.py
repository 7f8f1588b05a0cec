"""Firmware, machine: ACPI tables, boot loader, kernel boot, secure boot, machine type, architecture, launch security.

KubeVirt: vmi-create-admitter.go, pkg/virt-api/webhooks/amd64.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from ...api import behaviour
from ...api.name_rules import quoted
from ..cluster import KubeVirt
from ..gates import MULTI_ARCHITECTURE, PERSISTENT_STATE
from .rows import Group, Place, Row, at_most_one, gate, needs, required
from .rule import AMD64, INVALID, S390X, Cause, Spec
from .volumes import absolute_path

_LAUNCH_SECURITY_GATES: Final = {
    "sev": "WorkloadEncryptionSEV",
    "snp": "WorkloadEncryptionSEV",
    "tdx": "WorkloadEncryptionTDX",
}
_BOOTLOADER: Final = "domain.firmware.bootloader"


def _machine_type(machine: str, place: Place) -> str:
    """validateEmulatedMachine."""
    allowed = place.kubevirt.emulated_machines(place.spec.get("architecture", ""))
    # A star of Go's filepath.Match stops at a slash, and no pattern contains a slash.
    slash = "/" in machine and place.kubevirt.release.has(behaviour.MACHINE_WITHOUT_SLASH)
    if not machine or (not slash and any(fnmatchcase(machine, pattern) for pattern in allowed)):
        return ""
    return f"must be one of {', '.join(allowed)}, not {quoted(machine)}"


def _acpi_tables(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateFirmwareACPI."""
    tables = (spec["domain"].get("firmware") or {}).get("acpi")
    if tables is None or not kubevirt.release.has(behaviour.ACPI):
        return
    field, has_msdm = f"{path}.acpi", kubevirt.release.has(behaviour.MSDM)
    known = ("slicNameRef", "msdmNameRef") if has_msdm else ("slicNameRef",)
    names = [name for name in known if tables.get(name)]
    if not names:
        yield Cause(INVALID, "acpi has no table; set slicNameRef or msdmNameRef", field)
    for name in names:
        volume = next((volume for volume in spec.get("volumes", ()) if volume["name"] == tables[name]), None)
        if volume is None:
            message = f"{name} {quoted(tables[name])} is no volume; add one"
            yield Cause(INVALID, message, f"{field}.{name}" if has_msdm else field)
        elif "secret" not in volume:
            yield Cause(INVALID, f"{name} needs a volume of a secret", f"{field}.{name}")


def _secure_boot(efi: Spec, place: Place) -> str:
    domain = place.spec["domain"]
    exempt = place.kubevirt.release.has(behaviour.TDX_WITHOUT_SMM) and "tdx" in (domain.get("launchSecurity") or {})
    if not efi.get("secureBoot", True) or _has_smm(domain) or exempt:
        return ""
    return "boots securely, which needs features.smm; set it, or secureBoot to false"


def _has_smm(domain: Spec) -> bool:
    """smmFeatureEnabled."""
    smm = (domain.get("features") or {}).get("smm")
    return smm is not None and smm.get("enabled", True)


def _kernel(container: Spec, _place: Place) -> str:
    named = container.get("kernelPath") or container.get("initrdPath")
    return "" if named else "has neither kernelPath nor initrdPath; set one"


MACHINE: Final = Group("", Row("domain.machine.type", _machine_type), _acpi_tables)
BOOT: Final = Group(  # validateFirmware, validateKernelBoot, and the secure boot part of validateDomainSpec
    "",
    Row(_BOOTLOADER, at_most_one("efi", "bios")),
    Group(
        "domain.firmware.kernelBoot",
        Row("kernelArgs", needs("container")),
        Group(
            "container",
            required("image"),
            Row("", _kernel),
            Row("kernelPath", absolute_path),
            Row("initrdPath", absolute_path),
        ),
    ),
    Row(f"{_BOOTLOADER}.efi", _secure_boot, at="{spec}.domain"),
)


def launch_security(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateLaunchSecurity, ValidateLaunchSecurityAmd64, ValidateLaunchSecurityS390x."""
    security, architecture = spec["domain"].get("launchSecurity"), spec.get("architecture", "")
    field = f"{path}.launchSecurity"
    if security is None:
        return
    place = Place(spec, path, kubevirt, {})
    if architecture == S390X and kubevirt.release.has(behaviour.SECURE_EXECUTION):
        yield from _closed("SecureExecution", place, field)
    chosen = [name for name in _LAUNCH_SECURITY_GATES if name in security]
    if not kubevirt.release.has(behaviour.ONE_LAUNCH_SECURITY):
        # These releases know no other type than SEV.
        if "sev" not in security and kubevirt.release.has(behaviour.BARE_LAUNCH_SECURITY):
            return
        chosen = ["sev"]
    elif architecture == S390X:
        return
    elif architecture != AMD64:
        message = f"architecture {quoted(architecture)} has no launchSecurity; remove one of them"
        yield Cause(INVALID, message, f"{path}.architecture")
        return
    if len(chosen) != 1:
        yield Cause(INVALID, "launchSecurity needs exactly one of sev, snp and tdx", field)
        return
    closed = list(_closed(_LAUNCH_SECURITY_GATES[chosen[0]], place, field))
    yield from closed
    if not closed and chosen[0] in security:
        for problem in _encrypted(chosen[0], spec):
            yield Cause(INVALID, f"launchSecurity {problem}", field)


def _closed(name: str, place: Place, field: str) -> Iterator[Cause]:
    problem = gate(name)({}, place)
    if problem:
        yield Cause(INVALID, f"launchSecurity {problem}", field)


def _encrypted(kind: str, spec: Spec) -> Iterator[str]:
    """The features that an encrypted guest lacks or must not have. kind: sev, snp or tdx."""
    domain = spec["domain"]
    if kind == "tdx" and _has_smm(domain):
        yield "tdx excludes features.smm; remove it"
    efi = ((domain.get("firmware") or {}).get("bootloader") or {}).get("efi")
    if efi is None:
        yield f"{kind} needs EFI; set firmware.bootloader.efi"
    else:
        if kind != "tdx" and efi.get("secureBoot", True):
            yield f"{kind} excludes secure boot; set efi.secureBoot to false"
        if kind != "sev" and efi.get("persistent"):
            yield f"{kind} excludes efi.persistent; remove it"
    if "attestation" in domain["launchSecurity"].get("sev", {}) and spec.get("startStrategy") != "Paused":
        yield "sev.attestation needs the startStrategy Paused; set it"
    for interface in domain["devices"].get("interfaces", ()):
        if "bootOrder" in interface:
            yield f"{kind} excludes boot from networks; remove bootOrder from interface {interface['name']}"


def _foreign(architecture: str, place: Place) -> str:
    return "" if architecture == place.kubevirt.architecture else gate(MULTI_ARCHITECTURE)(architecture, place)


def _persistent_tpm(tpm: Spec, place: Place) -> str:
    used = tpm.get("persistent") and tpm.get("enabled") is not False
    return gate(PERSISTENT_STATE)(used, place) if used else ""


ARCHITECTURE: Final = Group("", Row("architecture", _foreign))  # validateArchitecture
PERSISTENT: Final = Group(  # validatePersistentState
    "",
    Row("domain.devices.tpm", _persistent_tpm, at="{spec}.domain.devices.tpm.persistent"),
    Row(f"{_BOOTLOADER}.efi.persistent", gate(PERSISTENT_STATE)),
)
