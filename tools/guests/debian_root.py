"""A small Debian that playbooks treat as a cloud's: systemd, cloud-init, OpenSSH, Python, and the QEMU guest agent."""

from __future__ import annotations

import os
from pathlib import Path

from . import disk
from .packages import KERNEL, debootstrap, unpack

PACKAGES = (
    *("cloud-guest-utils", "cloud-init", "dbus", "e2fsprogs", "iproute2", "iputils-ping", KERNEL, "netbase"),
    *("openssh-server", "qemu-guest-agent", "sudo", "systemd-resolved", "systemd-sysv", "udev"),
)
SIZE = 2048
"""Of the disk, in MiB; cloud-init grows the file system where the disk is larger."""


def make(folder: Path, target: Path) -> None:
    """Writes the image. folder: for what is needed on the way."""
    tools, archive = folder / "tools", folder / "root.tar"
    unpack(disk.PACKAGES, tools)
    mode = "root" if os.getuid() == 0 else "unshare"
    debootstrap(PACKAGES, archive, f"--mode={mode}", "--variant=minbase", *_customized())
    disk.make(tools, archive, target, SIZE, "/vmlinuz", "/initrd.img")


def _customized() -> list[str]:
    files = {
        "etc/fstab": f"LABEL={disk.LABEL} / ext4 defaults 0 1\n",
        "etc/hostname": "localhost\n",
        "etc/cloud/cloud.cfg.d/90-datasources.cfg": "datasource_list: [NoCloud, ConfigDrive, None]\n",
        # The others take long without KVM.
        "etc/cloud/cloud.cfg.d/91-keys.cfg": "ssh_genkeytypes: [ed25519, ecdsa]\n",
    }
    hooks = [f"printf '%s' '{content}' >\"$1/{path}\"" for path, content in files.items()]
    hooks += ['rm -f "$1"/etc/ssh/ssh_host_*', 'chroot "$1" systemctl --quiet enable systemd-networkd']
    hooks.append('chroot "$1" systemctl --quiet mask e2scrub_reap.service')
    return [f"--customize-hook={hook}" for hook in hooks]
