"""A disk that boots by itself, under BIOS and EFI.

sectors 0 to 2047    the master boot record and GRUB, for BIOS
partition 2, FAT     shim and GRUB, signed, for EFI with and without secure boot
partition 1, ext4    the root file system; the last one, so that it can grow
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

from .packages import Failed, run, run_unpacked

PACKAGES = (
    *("dosfstools", "e2fsprogs", "grub-common", "grub-efi-amd64-signed", "grub-pc-bin", "libarchive13t64", "mtools"),
    "shim-signed",
)
"""Packages whose programs make the disk."""
LABEL = "guest"
_SECTOR = 512
_FIRST = 2048
"""First sector of a partition; GRUB has the space before it."""
_EFI_SECTORS = 8 * 2048
_LINUX, _EFI = 0x83, 0xEF
_BOOT_CODE = 440
_MODULES = ("biosdisk", "part_msdos", "ext2", "search_label", "linux", "test", "configfile")
# A busy machine keeps the guest's timer waiting, which the kernel would take for a broken one.
_ARGUMENTS = f"root=LABEL={LABEL} rw console=ttyS0 quiet random.trust_cpu=on no_timer_check memhp_default_state=online"
_GRUB = f"search.fs_label {LABEL} root\nlinux {{kernel}} {_ARGUMENTS}\ninitrd {{initrd}}\nboot\n"


class Partition(NamedTuple):
    """first: its first sector. kind: its type in the boot record. active: BIOS boots from it."""

    kind: int
    first: int
    sectors: int
    active: bool = False


def make(tools: Path, archive: Path, target: Path, size: int, kernel: str, initrd: str) -> None:
    """Writes a qcow2 file with the root file system of the archive.

    tools: a folder with the unpacked PACKAGES. archive: a tar file of the root. size: of the disk, in MiB. kernel,
    initrd: their paths in the root.
    """
    efi = Partition(_EFI, _FIRST, _EFI_SECTORS)
    start = efi.first + efi.sectors
    root = Partition(_LINUX, start, size * 2048 - start, active=True)
    grub, raw = Grub(tools, target.parent, _GRUB.format(kernel=kernel, initrd=initrd)), target.with_suffix(".raw")
    file_systems = {efi: grub.efi_file_system(), root: target.with_suffix(".ext4")}
    options = ["-q", "-F", "-t", "ext4", "-L", LABEL, "-m", "0", "-O", "^orphan_file", "-E", "lazy_itable_init=1"]
    place = str(file_systems[root])
    run_unpacked(tools, "usr/sbin/mke2fs", *options, "-d", str(archive), place, f"{root.sectors // 2}k")
    raw.write_bytes(grub.boot_sectors(root, efi))
    for partition, path in file_systems.items():
        seek = f"seek={partition.first // 2048}"
        run(["dd", f"if={path}", f"of={raw}", "bs=1M", seek, "conv=sparse,notrunc", "status=none"])
        path.unlink()
    with raw.open("r+b") as disk:
        disk.truncate(size << 20)
    run(["qemu-img", "convert", "-q", "-O", "qcow2", str(raw), str(target)])
    raw.unlink()


class Grub:
    """GRUB with a configuration. tools: the unpacked PACKAGES. folder: for what is needed on the way."""

    def __init__(self, tools: Path, folder: Path, configuration: str) -> None:
        self._tools, self._folder, self._configuration = tools, folder, folder / "grub.cfg"
        self._configuration.write_text(configuration, encoding="utf-8")

    def boot_sectors(self, *partitions: Partition) -> bytes:
        """What lies before the partitions: the boot record, and GRUB where the record looks for it by default."""
        code = (self._tools / "usr/lib/grub/i386-pc/boot.img").read_bytes()[:_BOOT_CODE]
        rest = self._image().read_bytes()
        if len(rest) > (_FIRST - 1) * _SECTOR:
            raise Failed(f"GRUB has {len(rest)} bytes, too many for the space before the partitions")
        return boot_record(code, *partitions) + rest

    def efi_file_system(self) -> Path:
        """A file with the FAT file system in which EFI finds shim, which Microsoft has signed, and GRUB."""
        made = self._folder / "efi.fat"
        with made.open("wb") as file:
            file.truncate(_EFI_SECTORS * _SECTOR)
        run_unpacked(self._tools, "usr/sbin/mkfs.fat", str(made))
        mtools = ("usr/bin/mtools", "-c")
        run_unpacked(self._tools, *mtools, "mmd", "-i", str(made), "::/EFI", "::/EFI/BOOT", "::/EFI/debian")
        # Debian's GRUB reads its configuration where Debian's installer puts it.
        files = {
            self._tools / "usr/lib/shim/shimx64.efi.signed": "EFI/BOOT/BOOTX64.EFI",
            self._tools / "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed": "EFI/BOOT/grubx64.efi",
            self._configuration: "EFI/debian/grub.cfg",
        }
        for file, place in files.items():
            run_unpacked(self._tools, *mtools, "mcopy", "-i", str(made), str(file), f"::/{place}")
        return made

    def _image(self) -> Path:
        made, platform = self._folder / "grub.img", "i386-pc"
        folder = self._tools / "usr/lib/grub" / platform
        given = ["-O", platform, "-d", str(folder), "-c", str(self._configuration), "-p", "/boot/grub", "-o", str(made)]
        run_unpacked(self._tools, "usr/bin/grub-mkimage", *given, *_MODULES)
        return made


def boot_record(code: bytes, *partitions: Partition) -> bytes:
    """A master boot record whose partitions are addressed by sectors: the old addresses are out of range."""
    out_of_range = b"\xfe\xff\xff"
    entries = b""
    for kind, first, sectors, active in partitions:
        state = b"\x80" if active else b"\0"
        entries += state + out_of_range + bytes([kind]) + out_of_range + struct.pack("<II", first, sectors)
    record = code.ljust(_BOOT_CODE, b"\0") + b"virt\0\0" + entries
    return record.ljust(_SECTOR - 2, b"\0") + b"\x55\xaa"
