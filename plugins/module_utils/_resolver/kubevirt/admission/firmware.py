"""Firmware, machine: ACPI tables, boot loader, kernel boot, secure boot, machine type, architecture, launch security.

KubeVirt: vmi-create-admitter.go, pkg/virt-api/webhooks/amd64.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from ..config.cluster import KubeVirt
from ..config.gates import MULTI_ARCHITECTURE, PERSISTENT_STATE
from . import since
from .rule import AMD64, FORBIDDEN, INVALID, REQUIRED, S390X, Cause, Spec, absolute_path, not_enabled

_LAUNCH_SECURITY_GATES: Final = {
    "SEV": "WorkloadEncryptionSEV",
    "SNP": "WorkloadEncryptionSEV",
    "TDX": "WorkloadEncryptionTDX",
}


def machine_type(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateEmulatedMachine."""
    machine = (spec["domain"].get("machine") or {}).get("type")
    allowed = kubevirt.emulated_machines(spec.get("architecture", ""))
    # A star of Go's filepath.Match stops at a slash, and no pattern contains a slash.
    if machine and (
        ("/" in machine and kubevirt.release.has(since.MACHINE_WITHOUT_SLASH))
        or not any(fnmatchcase(machine, pattern) for pattern in allowed)
    ):
        field = f"{path}.domain.machine.type"
        yield Cause(INVALID, f"{field} is not supported: {machine} (allowed values: [{' '.join(allowed)}])", field)


def acpi_tables(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateFirmwareACPI."""
    tables = (spec["domain"].get("firmware") or {}).get("acpi")
    if tables is None or not kubevirt.release.has(since.ACPI):
        return
    field, has_msdm = f"{path}.acpi", kubevirt.release.has(since.MSDM)
    no_volume = f"{field} does not have a matching Volume."
    names = ("slicNameRef", "msdmNameRef") if has_msdm else ("slicNameRef",)
    references = {name: tables[name] for name in names if tables.get(name)}
    if not references:
        nothing = "ACPI was set but no SLIC nor MSDM volume reference was set"
        yield Cause(INVALID, nothing if has_msdm else no_volume, field)
    for name, volume_name in references.items():
        volume = next((volume for volume in spec.get("volumes", ()) if volume["name"] == volume_name), None)
        if volume is None:
            yield Cause(INVALID, no_volume, f"{field}.{name}" if has_msdm else field)
        elif "secret" not in volume:
            yield Cause(INVALID, f"{field} refers to Volume of unsupported type.", f"{field}.{name}")


def boot(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateFirmware, and the secure boot part of validateDomainSpec."""
    domain = spec["domain"]
    firmware = domain.get("firmware") or {}
    loader = firmware.get("bootloader") or {}
    if "efi" in loader and "bios" in loader:
        field = f"{path}.domain.firmware.bootloader"
        message = f"{field} has both EFI and BIOS configured, but they are mutually exclusive."
        yield Cause(INVALID, message, field)
    yield from _kernel_boot(firmware.get("kernelBoot"), f"{path}.domain.firmware.kernelBoot")
    secure = "efi" in loader and loader["efi"].get("secureBoot", True)
    exempt = kubevirt.release.has(since.TDX_WITHOUT_SMM) and "tdx" in (domain.get("launchSecurity") or {})
    if secure and not has_smm(domain) and not exempt:
        field = f"{path}.domain"
        message = "has EFI SecureBoot enabled. SecureBoot requires SMM, which is currently disabled."
        yield Cause(INVALID, f"{field} {message}", field)


def has_smm(domain: Spec) -> bool:
    """smmFeatureEnabled."""
    smm = (domain.get("features") or {}).get("smm")
    return smm is not None and smm.get("enabled", True)


def _kernel_boot(kernel_boot: Spec | None, field: str) -> Iterator[Cause]:
    """validateKernelBoot."""
    if kernel_boot is None:
        return
    container = kernel_boot.get("container")
    if container is None:
        if kernel_boot.get("kernelArgs"):
            message = "kernel arguments cannot be provided without an external kernel"
            yield Cause(INVALID, message, f"{field}.kernelArgs")
        return
    field += ".container"
    if not container.get("image"):
        yield Cause(REQUIRED, f"{field} must be defined with an image", f"{field}.image")
    paths = {name: container[name] for name in ("kernelPath", "initrdPath") if container.get(name)}
    if not paths:
        message = f"{field} must be defined with at least one of the following: kernelPath, initrdPath"
        yield Cause(REQUIRED, message, field)
    for name, value in paths.items():
        yield from absolute_path(value, f"{field}.{name}")


def launch_security(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateLaunchSecurity, ValidateLaunchSecurityAmd64, ValidateLaunchSecurityS390x."""
    security, architecture = spec["domain"].get("launchSecurity"), spec.get("architecture", "")
    field = f"{path}.launchSecurity"
    if security is None:
        return
    secure = architecture == S390X and kubevirt.release.has(since.SECURE_EXECUTION)
    if secure and not kubevirt.has_gate("SecureExecution"):
        yield Cause(INVALID, not_enabled("SecureExecution"), field)
    chosen = [name for name in _LAUNCH_SECURITY_GATES if name.lower() in security]
    if not kubevirt.release.has(since.ONE_LAUNCH_SECURITY):
        # These releases know no other type than SEV.
        if "sev" not in security and kubevirt.release.has(since.BARE_LAUNCH_SECURITY):
            return
        chosen = ["SEV"]
    elif architecture == S390X:
        return
    elif architecture != AMD64:
        message = f"No launchSecurity support for architecture: {architecture}"
        yield Cause(INVALID, message, f"{path}.architecture")
        return
    if len(chosen) != 1:
        yield Cause(FORBIDDEN, "One and only one launchSecurity type can be set", field)
    elif not kubevirt.has_gate(_LAUNCH_SECURITY_GATES[chosen[0]]):
        yield Cause(INVALID, not_enabled(_LAUNCH_SECURITY_GATES[chosen[0]]), field)
    elif chosen[0].lower() in security:
        for message in _encrypted(chosen[0], spec):
            yield Cause(INVALID, message, field)


def _encrypted(kind: str, spec: Spec) -> Iterator[str]:
    """Messages about what an encrypted guest lacks or must not have. kind: SEV, SNP or TDX."""
    domain = spec["domain"]
    if kind == "TDX" and has_smm(domain):
        yield "TDX does not work along with SMM"
    efi = ((domain.get("firmware") or {}).get("bootloader") or {}).get("efi")
    if efi is None:
        yield f"{kind} requires OVMF (UEFI)"
    else:
        if kind != "TDX" and efi.get("secureBoot", True):
            yield f"{kind} does not work along with SecureBoot"
        if kind != "SEV" and efi.get("persistent"):
            yield f"{kind} does not work along with Persistent EFI variables"
    if "attestation" in domain["launchSecurity"].get("sev", {}) and spec.get("startStrategy") != "Paused":
        yield "SEV attestation requires VMI StartStrategy 'Paused'"
    for interface in domain["devices"].get("interfaces", ()):
        if "bootOrder" in interface:
            yield f"{kind} does not work with bootable NICs: {interface['name']}"


def architecture(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateArchitecture."""
    foreign = spec.get("architecture", kubevirt.architecture) != kubevirt.architecture
    if foreign and not kubevirt.has_gate(MULTI_ARCHITECTURE):
        field = f"{path}.architecture"
        yield Cause(REQUIRED, f"{not_enabled(MULTI_ARCHITECTURE)}, invalid entry {field}", field)


def persistent_state(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validatePersistentState."""
    if kubevirt.has_gate(PERSISTENT_STATE):
        return
    domain = spec["domain"]
    tpm = domain["devices"].get("tpm") or {}
    if tpm.get("persistent") and tpm.get("enabled") is not False:
        yield Cause(INVALID, not_enabled(PERSISTENT_STATE), f"{path}.domain.devices.tpm.persistent")
    bootloader = (domain.get("firmware") or {}).get("bootloader") or {}
    if (bootloader.get("efi") or {}).get("persistent"):
        yield Cause(INVALID, not_enabled(PERSISTENT_STATE), f"{path}.domain.firmware.bootloader.efi.persistent")
