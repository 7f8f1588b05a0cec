"""The preference of a machine, from what its source says of the guest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from .._resolver.api.manifest import Manifest
from .._resolver.api.quantity import parse
from .._resolver.api.release import Release
from .._resolver.api.release_schema import has_field
from .._resolver.api.tree import copy, remove_at, value_at
from .._resolver.choose.windows import MOST_SOCKETS, desktop_in
from .._resolver.kubevirt.instancetype import topology
from .._resolver.kubevirt.instancetype.preferred_domain import firmware as apply_firmware
from .machine import Machine
from .rules import Rules

# A pattern for a text in lower case, the preference, and why it is not the very system; "" if it is. Groups of the
# pattern fill the braces. The first that matches counts, so what is special comes first.
_TABLE: Final[Sequence[tuple[str, str, str]]] = (
    (r"solaris|netware|os/2|ms-dos|unixware|windows (?:2000|nt|9[58])", "legacy", "no preference is made for it"),
    (r"windows.*server.*2025|windows2022srvnext|windows2025", "windows.2k25", ""),
    (r"windows.*server.*2022|windows2019srvnext|windows2022", "windows.2k22", ""),
    (r"windows.*server.*2019|windows2019", "windows.2k19", ""),
    (r"windows.*server.*2016|windows9server|windows2016", "windows.2k16", ""),
    (r"windows.*server.*2012|windows8server|windows2012", "windows.2k12", ""),
    (r"windows.*server.*2008|windows7server|winlonghorn|windows2008|\bw2k8\b", "windows.2k8", ""),
    (r"windows.*server.*2003|winnet|windows2003|\bw2k3\b", "windows.2k3", ""),
    (r"windows.*\b11\b|windows11|\bwin11\b", "windows.11", ""),
    (r"windows.*\b10\b|windows9|windows10|\bwin10\b", "windows.10", ""),
    (r"windows.*\b8(\.1)?\b|windows8|\bwin8\b", "windows.2k12", "Windows 8 shares the kernel of Windows Server 2012"),
    (r"windows.*\b7\b|windows7|\bwin7\b", "windows.7", ""),
    (r"windows.*vista|winvista|\bwvista\b", "windows.7", "Windows 7 is the nearest system"),
    (r"windows.*\bxp\b|winxp|\bwxp\b", "windows.xp", ""),
    (r"windows.*server", "windows.2k22", "the source does not tell the version of Windows Server"),
    (r"windows|microsoft", "windows.10", "the source does not tell the version of Windows"),
    (r"(?:red ?hat enterprise linux|rhel)[^0-9]*([6-9]|10)(?:_|\b)", "rhel.{}", ""),
    (r"centos.*stream[^0-9]*(8)\b", "rhel.{}", "CentOS Stream 8 is near RHEL 8"),
    (r"centos.*stream[^0-9]*(9|10)\b", "centos.stream{}", ""),
    (r"centos[^0-9]*([6-9])(?:_|\b)", "rhel.{}", "CentOS {} is built from RHEL {}"),
    (r"(?:rocky|alma) ?linux[^0-9]*(8|9|10)\b", "rhel.{}", "it is compatible with RHEL {}"),
    (r"rocky|alma", "rhel.9", "it is compatible with RHEL; the source does not tell the version"),
    (r"oracle ?linux", "oraclelinux", ""),
    (r"(fedora|ubuntu|debian|alpine|cirros)", "{}", ""),
    (r"tumbleweed", "opensuse.tumbleweed", ""),
    (r"opensuse", "opensuse.leap", ""),
    (r"suse|sles", "sles", ""),
    (r"red ?hat|rhel", "rhel.9", "the source does not tell the version of RHEL"),
    (r"centos", "centos.stream9", "the source does not tell the version of CentOS"),
    (r"linux|photon|coreos|\bl2[46]\b", "linux", "no preference is made for this distribution"),
)
# More of a text is not needed to tell two guests apart.
_LONGEST: Final = 500
_TPM: Final = ("devices", "preferredTPM")


class ChosenPreference(NamedTuple):
    """The preference of a machine; "" for none.

    options: VM options where the preference has another firmware or TPM than the source; `template` is its domain.
    cpu, memory: the preference's requirements.
    """

    name: str
    reasons: tuple[str, ...]
    options: Mapping[str, Any]
    cpu: int
    memory: int


def choose(
    machine: Machine,
    catalog: Mapping[str, Manifest],
    rules: Rules,
    fixed: str | None,
    release: Release,
    kept: str | None = None,
) -> ChosenPreference:
    """The preference of a machine, with reasons.

    catalog: the specs of preferences by name. fixed: the preference that the user names for this machine. kept: the one
    that an earlier run chose by the same facts, "" for none; None if there was no such run.
    """
    anew = _chosen(machine, catalog, rules, fixed, release)
    if fixed or kept in (None, anew.name) or kept not in ("", *catalog) or _rule_of(texts_of(machine), rules):
        return anew
    name, reasons = kept or "", [f"it keeps what an earlier run gave it; anew it would get {anew.name or 'none'}"]
    return _choice(machine, name, catalog, reasons)


def _chosen(
    machine: Machine, catalog: Mapping[str, Manifest], rules: Rules, fixed: str | None, release: Release
) -> ChosenPreference:
    name, reasons = (fixed, ["the rules name this preference"]) if fixed else _named(machine, catalog, rules)
    if name and name not in catalog:
        reasons.append(f"the catalog has no preference {name}")
        name = ""
    if name and not fixed:
        name = _variant(machine, name, catalog, rules.virtio_drivers or _has_virtio(machine), reasons)
        name = _with_cores(machine, name, catalog, reasons)
    if name and _adds_tpm(machine, catalog[name]) and not has_field("TPMDevice", "enabled", release):
        reasons.append(f"the source has no TPM, and KubeVirt {release.minor_version} adds that of {name} to each VM")
        name = ""
    return _choice(machine, name, catalog, reasons)


def _choice(machine: Machine, name: str, catalog: Mapping[str, Manifest], reasons: list[str]) -> ChosenPreference:
    if not name:
        reasons.append("no preference")
    spec = catalog[name] if name else {}
    options = _explicit_options(machine, spec, reasons)
    cpu, memory = (value_at(spec, ("requirements", resource, "guest")) for resource in ("cpu", "memory"))
    return ChosenPreference(name, tuple(reasons), options, cpu or 0, parse(memory).value if memory else 0)


def facts_of(machine: Machine) -> str:
    """The facts that the preference is chosen by, as a text."""
    drivers = "virtio" if _has_virtio(machine) else ""
    told = [f"{field} {machine[field]}".lower() for field in ("firmware", "secure_boot", "tpm") if field in machine]
    return ", ".join(filter(None, [machine.get("preference", ""), *texts_of(machine), *told, drivers]))[:_LONGEST]


def texts_of(machine: Machine) -> list[str]:
    """The source's texts about the guest, the best one first."""
    guest = machine["guest"]
    distro = " ".join(str(guest[part]) for part in ("distro", "version") if guest.get(part))
    parts = [*str(guest.get("text") or "").split("\n"), distro, str(guest.get("id") or "")]
    return [part for part in parts if part.strip()]


def _named(machine: Machine, catalog: Mapping[str, Manifest], rules: Rules) -> tuple[str, list[str]]:
    """(the preference by the texts, reasons)."""
    if machine.get("preference"):
        return machine["preference"], ["the source names this preference"]
    texts = texts_of(machine)
    if not texts:
        return "", ["the source does not tell the guest's system"]
    found = _rule_of(texts, rules)
    if found:
        return found[0], [f"a rule matches {found[1]}"]
    for text in texts:
        for pattern, preference, note in _TABLE:
            match = re.search(pattern, text.lower())
            if match:
                version = match[1] if match.re.groups and match[1] else ""
                name = preference.replace("{}", version)
                reasons = [f"{text}: {note.replace('{}', version)}" if note else text]
                return _known(name, catalog, reasons), reasons
    return "", [f"no preference is known for {texts[0]}"]


def _rule_of(texts: Sequence[str], rules: Rules) -> tuple[str, str] | None:
    """(the preference of the first rule that matches a text, the text)."""
    matches = (
        (rule["preference"], text)
        for rule in rules.preferences
        for text in texts
        if re.search(rule["match"], text, re.IGNORECASE)
    )
    return next(matches, None)


def _known(name: str, catalog: Mapping[str, Manifest], reasons: list[str]) -> str:
    """The name itself if the catalog has it; else the next newer version; else the preference of the family."""
    if name in catalog:
        return name
    family, _dot, version = name.partition(".")
    digits = re.sub("[^0-9]", "", version)
    newer = sorted(
        (int(match[1]), other)
        for other in catalog
        for match in [re.fullmatch(rf"{re.escape(family)}\.[a-z0-9]*?([0-9]+)", other)]
        if match and digits and int(match[1]) > int(digits)
    )
    bases = ["windows", "linux"] if name.startswith("windows") else ["linux"]
    for other in [*(other for _number, other in newer), *bases]:
        if other in catalog:
            reasons.append(f"the catalog lacks {name}; {other} is the nearest")
            return other
    return name


def _has_virtio(machine: Machine) -> bool:
    controllers = [str(disk.get("controller") or "").lower() for disk in machine["disks"]]
    return bool(controllers) and all("virtio" in controller for controller in controllers)


def _variant(machine: Machine, name: str, catalog: Mapping[str, Manifest], virtio: bool, reasons: list[str]) -> str:
    """The variant of a preference that agrees with the drivers, the firmware and the TPM of the source."""
    drivers = f"{name}.virtio"
    if virtio and drivers in catalog:
        reasons.append("the guest has virtio drivers")
        name = drivers
    same = _without_firmware(catalog[name])
    variants = [
        other for other in catalog if other.startswith(f"{name}.") and _without_firmware(catalog[other]) == same
    ]
    best = min([name, *sorted(variants)], key=lambda other: len(_explicit_options(machine, catalog[other], [])))
    if best != name:
        reasons.append(f"{best} has the firmware of the source")
    return best


def _with_cores(machine: Machine, name: str, catalog: Mapping[str, Manifest], reasons: list[str]) -> str:
    """The preference with cores, for a machine with more vCPUs than its Windows uses sockets."""
    desktop = desktop_in(name)
    if not desktop or machine["vcpus"] <= MOST_SOCKETS or topology.preferred(catalog[name]) != topology.SOCKETS:
        return name
    why = f"Windows {desktop} uses {MOST_SOCKETS} sockets at most"
    rest = _without_cpu(catalog[name])
    for other in sorted(catalog):
        if topology.preferred(catalog[other]) == topology.CORES and _without_cpu(catalog[other]) == rest:
            reasons.append(f"{why}, and {other} prefers cores")
            return other
    reasons.append(f"{why}, and {name} prefers sockets: name one with preferredCPUTopology: cores in the rules")
    return name


def _without_cpu(spec: Manifest) -> Manifest:
    return {field: value for field, value in spec.items() if field != "cpu"}


def _without_firmware(spec: Manifest) -> Manifest:
    """The fields that variants for other firmware share."""
    shared = copy(spec)
    for path in (("firmware",), ("features", "preferredSmm"), _TPM):
        remove_at(shared, path)
    return shared


def _efi(spec: Manifest) -> Any:
    """The EFI that a VM has by a preference; None with BIOS."""
    vmi: dict[str, Any] = {"domain": {}}
    apply_firmware(spec, vmi)
    return value_at(vmi, ("domain", "firmware", "bootloader", "efi"))


def _adds_tpm(machine: Machine, spec: Manifest) -> bool:
    """Whether the preference gives a TPM to a machine that has none."""
    return machine.get("tpm") is False and value_at(spec, _TPM) is not None


def _explicit_options(machine: Machine, spec: Manifest, reasons: list[str]) -> dict[str, Any]:
    """Options of the VM for devices and firmware of the source that the preference does not set. Adds reasons.

    A VM's own fields come before its preference, see applyFirmwarePreferences and applyDevicePreferences of KubeVirt.
    """
    options: dict[str, Any] = {}
    firmware, secure = machine.get("firmware"), machine.get("secure_boot")
    efi = _efi(spec)
    if firmware == "bios" and efi is not None:
        options["template"] = {"firmware": {"bootloader": {"bios": {}}}}
        reasons.append("the source boots with BIOS, so the VM does too, whatever the preference prefers")
    if firmware == "efi" and (efi is None or secure not in (None, efi.get("secureBoot") is not False)):
        options["efi"] = {"secure_boot": bool(secure)}
        reasons.append(f"the source boots with EFI {'and' if secure else 'without'} secure boot, so the VM does too")
    if machine.get("tpm") and value_at(spec, _TPM) is None:
        options["tpm"] = {"persistent": True}
        reasons.append("the source has a TPM, so the VM does too")
    if _adds_tpm(machine, spec):
        options.setdefault("template", {})["devices"] = {"tpm": {"enabled": False}}
        reasons.append("the source has no TPM, so the VM has none, whatever the preference prefers")
    return options
