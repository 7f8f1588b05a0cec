"""A disk that boots by itself, under BIOS: GRUB before the first partition, which holds the root file system."""

from __future__ import annotations

import struct
from pathlib import Path

from .packages import Failed, run, run_unpacked

PACKAGES = ("e2fsprogs", "grub-common", "grub-pc-bin", "libarchive13t64")
"""Packages whose programs make the disk."""
LABEL = "guest"
_SECTOR = 512
_START = 2048
"""First sector of the partition; GRUB has the space before it."""
_LINUX = 0x83
_BOOT_CODE = 440
_MODULES = ("biosdisk", "part_msdos", "ext2", "search_label", "linux", "test", "configfile")
# A busy machine keeps the guest's timer waiting, which the kernel would take for a broken one.
_ARGUMENTS = f"root=LABEL={LABEL} rw console=ttyS0 quiet random.trust_cpu=on no_timer_check memhp_default_state=online"
_GRUB = f"search.fs_label {LABEL} root\nlinux {{kernel}} {_ARGUMENTS}\ninitrd {{initrd}}\nboot\n"


def make(tools: Path, archive: Path, target: Path, size: int, kernel: str, initrd: str) -> None:
    """Writes a qcow2 file with the root file system of the archive.

    tools: a folder with the unpacked PACKAGES. archive: a tar file of the root. size: of the disk, in MiB. kernel,
    initrd: their paths in the root.
    """
    partition, raw = target.with_suffix(".ext4"), target.with_suffix(".raw")
    sectors = size * 2048 - _START
    options = ["-q", "-F", "-t", "ext4", "-L", LABEL, "-m", "0", "-O", "^orphan_file", "-E", "lazy_itable_init=1"]
    run_unpacked(tools, "usr/sbin/mke2fs", *options, "-d", str(archive), str(partition), f"{sectors // 2}k")
    with raw.open("wb") as disk:
        disk.write(_boot_sectors(tools, target.parent, _GRUB.format(kernel=kernel, initrd=initrd), sectors))
    run(["dd", f"if={partition}", f"of={raw}", "bs=1M", "seek=1", "conv=sparse,notrunc", "status=none"])
    with raw.open("r+b") as disk:
        disk.truncate(size << 20)
    run(["qemu-img", "convert", "-q", "-O", "qcow2", str(raw), str(target)])
    partition.unlink()
    raw.unlink()


def _boot_sectors(tools: Path, folder: Path, configuration: str, sectors: int) -> bytes:
    """What lies before the partition: the master boot record, and GRUB where the record looks for it by default."""
    modules, grub_cfg, core = tools / "usr/lib/grub/i386-pc", folder / "grub.cfg", folder / "core.img"
    grub_cfg.write_text(configuration, encoding="utf-8")
    made = ["-O", "i386-pc", "-d", str(modules), "-c", str(grub_cfg), "-p", "/boot/grub", "-o", str(core)]
    run_unpacked(tools, "usr/bin/grub-mkimage", *made, *_MODULES)
    code, rest = (modules / "boot.img").read_bytes()[:_BOOT_CODE], core.read_bytes()
    if len(rest) > (_START - 1) * _SECTOR:
        raise Failed(f"GRUB has {len(rest)} bytes, too many for the space before the partition")
    return boot_record(code, sectors) + rest


def boot_record(code: bytes, sectors: int) -> bytes:
    """A master boot record with one active partition, addressed by sectors: the old addresses are out of range."""
    out_of_range = b"\xfe\xff\xff"
    entry = b"\x80" + out_of_range + bytes([_LINUX]) + out_of_range + struct.pack("<II", _START, sectors)
    record = code.ljust(_BOOT_CODE, b"\0") + b"virt\0\0" + entry
    return record.ljust(_SECTOR - 2, b"\0") + b"\x55\xaa"
