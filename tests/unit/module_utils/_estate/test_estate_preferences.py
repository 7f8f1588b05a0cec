"""Preferences by what sources say of guests."""

from typing import Any

import pytest
from estate_samples import BUILTIN, machine

from plugins.module_utils._estate.machine import machines_of
from plugins.module_utils._estate.preferences import ChosenPreference, choose
from plugins.module_utils._estate.rules import Rules
from plugins.module_utils._estate.size_catalog import preferences_of
from plugins.module_utils._resolver.api.release import NEWEST, parse_release

CATALOG = preferences_of(BUILTIN, NEWEST)
BIOS = {"firmware": {"bootloader": {"bios": {}}}}


def chosen(
    catalog: Any = None,
    own: Any = (),
    fixed: str | None = None,
    virtio: bool = False,
    release: str = "1.9.0",
    **fields: Any,
) -> ChosenPreference:
    (item,) = machines_of([machine(**fields)])
    rules = Rules(preferences=own, virtio_drivers=virtio)
    return choose(item, CATALOG if catalog is None else catalog, rules, fixed, parse_release(release))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Microsoft Windows Server 2025 (64-bit)", "windows.2k25"),
        ("windows2022srvNext_64Guest", "windows.2k25"),
        ("Microsoft Windows Server 2022 (64-bit)", "windows.2k22"),
        ("windows2019srvNext_64Guest", "windows.2k22"),
        ("windows2019srv_64Guest", "windows.2k19"),
        ("windows9Server64Guest", "windows.2k16"),
        ("Microsoft Windows Server 2012 R2 (64-bit)", "windows.2k12"),
        ("windows7Server64Guest", "windows.2k8"),
        ("Microsoft Windows Server 2003 (32-bit)", "windows.2k3"),
        ("windows9_64Guest", "windows.10"),
        ("Microsoft Windows 10 (64-bit)", "windows.10"),
        ("win11", "windows.11"),
        ("Microsoft Windows 8.1", "windows.2k12"),
        ("Microsoft Windows 7", "windows.7"),
        ("wxp", "windows.xp"),
        ("Windows 2000 Professional", "legacy"),
        ("Microsoft Windows Server Core", "windows.2k22"),
        ("Windows", "windows.10"),
        ("Red Hat Enterprise Linux 9.4 (Plow)", "rhel.9"),
        ("rhel8_64Guest", "rhel.8"),
        ("Red Hat Enterprise Linux 10 (64-bit)", "rhel.10"),
        ("rhel 9", "rhel.9"),
        ("CentOS Stream 9", "centos.stream9"),
        ("CentOS Stream 8", "rhel.8"),
        ("centos7_64Guest", "rhel.7"),
        ("CentOS 4/5 or later (64-bit)", "centos.stream9"),
        ("Rocky Linux 9.3 (Blue Onyx)", "rhel.9"),
        ("almalinux_64Guest", "rhel.9"),
        ("Oracle Linux Server 8.9", "oraclelinux"),
        ("fedora64Guest", "fedora"),
        ("Ubuntu 22.04.3 LTS", "ubuntu"),
        ("debian11_64Guest", "debian"),
        ("openSUSE Tumbleweed", "opensuse.tumbleweed"),
        ("openSUSE Leap 15.5", "opensuse.leap"),
        ("SUSE Linux Enterprise 15 (64-bit)", "sles"),
        ("VMware Photon OS (64-bit)", "linux"),
        ("l26", "linux"),
    ],
)
def test_texts_of_sources(text: str, name: str) -> None:
    assert chosen(guest={"text": text}).name == name


def test_running_guest_is_known_best() -> None:
    guest = {"text": "Ubuntu 22.04\nCentOS 7 (64-bit)", "id": "centos7_64Guest"}
    choice = chosen(guest=guest, firmware="bios")
    assert (choice.name, choice.reasons) == ("ubuntu", ("Ubuntu 22.04",))
    assert chosen(guest={"distro": "rhel", "version": "9.2", "id": "linux"}).name == "rhel.9"


def test_unknown_systems_get_none_with_a_reason() -> None:
    choice = chosen(guest={"text": "Other (64-bit)"}, firmware="efi")
    assert choice.name == ""
    assert choice.reasons == (
        "no preference is known for Other (64-bit)",
        "no preference",
        "the source boots with EFI without secure boot, so the VM does too",
    )
    assert choice.options == {"efi": {"secure_boot": False}}
    assert chosen().reasons == ("the source does not tell the guest's system", "no preference")


def test_neighbours_of_missing_preferences() -> None:
    choice = chosen(guest={"text": "Red Hat Enterprise Linux 6"})
    assert choice.name == "rhel.7"
    assert choice.reasons[1] == "the catalog lacks rhel.6; rhel.7 is the nearest"
    small = {"windows": {}, "linux": {}}
    assert chosen(small, guest={"text": "Windows 11"}).name == "windows"
    assert chosen(small, guest={"text": "Debian"}).name == "linux"
    assert "the catalog has no preference debian" in chosen({}, guest={"text": "Debian"}).reasons


def test_own_patterns_come_first() -> None:
    own = [{"match": "acme (os)", "preference": "rhel.9"}, {"match": "none", "preference": "fedora"}]
    choice = chosen(own=own, guest={"text": "ACME OS 3"})
    assert (choice.name, choice.reasons[0]) == ("rhel.9", "a rule matches ACME OS 3")
    assert chosen(own=own, guest={"text": "Ubuntu"}).name == "ubuntu"


def test_named_preferences_win() -> None:
    assert chosen(fixed="windows.11", guest={"text": "Ubuntu"}).reasons[0] == "the rules name this preference"
    assert chosen(preference="fedora").reasons[0] == "the source names this preference"


def test_windows_with_virtio_drivers() -> None:
    guest = {"text": "Microsoft Windows Server 2019"}
    assert chosen(guest=guest, virtio=True).name == "windows.2k19.virtio"
    assert chosen(guest=guest, disks=[{"controller": "virtio-scsi-single"}]).name == "windows.2k19.virtio"
    assert chosen(guest=guest, disks=[{"controller": "virtio"}, {"controller": "ide"}]).name == "windows.2k19"


def test_variant_for_efi() -> None:
    assert chosen(guest={"text": "Other Linux"}, firmware="efi").name == "linux.efi"
    assert chosen(guest={"text": "Other Linux"}, firmware="bios").name == "linux"


@pytest.mark.parametrize(
    ("spec", "fields", "options"),
    [
        ({}, {"firmware": "bios"}, {}),
        ({}, {}, {}),
        ({"preferredEfi": {"secureBoot": True}}, {"firmware": "bios"}, {"template": BIOS}),
        ({"preferredEfi": {}}, {"firmware": "efi", "secure_boot": True}, {}),
        ({"preferredEfi": {}}, {"firmware": "efi"}, {}),
        ({"preferredEfi": {}}, {"firmware": "efi", "secure_boot": False}, {"efi": {"secure_boot": False}}),
        ({"preferredUseEfi": True}, {"firmware": "efi", "secure_boot": True}, {}),
        ({"preferredUseBios": True}, {"firmware": "efi", "secure_boot": True}, {"efi": {"secure_boot": True}}),
    ],
)
def test_firmware_stays_that_of_the_source(spec: Any, fields: Any, options: Any) -> None:
    choice = chosen({"own": {"firmware": spec}}, fixed="own", **fields)
    assert choice.options == options


def test_variant_that_agrees_is_taken() -> None:
    secure = {"firmware": {"preferredEfi": {"secureBoot": True}}, "features": {"preferredSmm": {}}}
    catalog = {"linux": {**secure, "devices": {"preferredTPM": {}}}, "linux.bios": {}, "linux.desktop": {"clock": {}}}
    linux = {"text": "Other Linux"}
    choice = chosen(catalog, guest=linux, firmware="bios", tpm=False)
    assert (choice.name, choice.options) == ("linux.bios", {})
    assert choice.reasons[-1] == "linux.bios has the firmware of the source"
    assert chosen(catalog, guest=linux, firmware="efi", secure_boot=True, tpm=True).name == "linux"
    # The rules name a preference, and the VM states what it has otherwise.
    assert chosen(catalog, fixed="linux", firmware="bios").options == {"template": BIOS}


def test_tpm_stays_that_of_the_source() -> None:
    with_tpm = {"own": {"devices": {"preferredTPM": {}}}}
    assert chosen({"own": {}}, fixed="own", tpm=True).options == {"tpm": {"persistent": True}}
    assert chosen(with_tpm, fixed="own", tpm=True).options == {}
    choice = chosen(with_tpm, fixed="own", tpm=False)
    assert (choice.name, choice.options) == ("own", {"template": {"devices": {"tpm": {"enabled": False}}}})
    # Before 1.6 no VM can refuse the TPM of its preference.
    older = chosen(with_tpm, fixed="own", tpm=False, release="1.5.0")
    assert (older.name, older.options) == ("", {})
    assert "the source has no TPM, and KubeVirt 1.5 adds that of own to each VM" in older.reasons
    assert chosen(with_tpm, fixed="own", release="1.5.0").name == "own"


def test_requirements_of_a_preference() -> None:
    choice = chosen(guest={"text": "Windows 11"})
    assert (choice.cpu, choice.memory) == (2, 4 << 30)
    assert (chosen({"own": {}}, fixed="own").cpu, chosen({"own": {}}, fixed="own").memory) == (0, 0)


def test_windows_desktops_get_cores_beyond_two_sockets() -> None:
    windows = {"guest": {"text": "Microsoft Windows 11 (64-bit)"}}
    two, four = (chosen(vcpus=vcpus, **windows) for vcpus in (2, 4))
    assert two.name == four.name == "windows.11" and not any("sockets" in reason for reason in two.reasons)
    told = (
        "Windows 11 uses 2 sockets at most, and windows.11 prefers sockets: name one with preferredCPUTopology: cores"
    )
    assert f"{told} in the rules" in four.reasons
    own = {**CATALOG, "desk": {**CATALOG["windows.11"], "cpu": {"preferredCPUTopology": "cores"}}}
    cores = chosen(own, vcpus=4, **windows)
    assert cores.name == "desk" and "Windows 11 uses 2 sockets at most, and desk prefers cores" in cores.reasons
    server = chosen(vcpus=8, guest={"text": "Microsoft Windows Server 2022"})
    assert not any("sockets" in reason for reason in server.reasons)
