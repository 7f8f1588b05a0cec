"""The minimal guest: a kernel, busybox, an SSH server, Python and the QEMU guest agent, up in seconds without KVM."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

from . import disk, initramfs
from .packages import KERNEL, run_unpacked, unpack

PACKAGES = (
    *("base-files", "base-passwd", "bash", "busybox-static", "dropbear-bin", "openssh-sftp-server", "passwd"),
    *("iproute2", "python3", "python3-yaml", "qemu-guest-agent", "sudo"),
)
SIZE = 1024
"""Of the disk, in MiB. The file is as large as what it holds."""
FILES = Path(__file__).parent / "minimal"
_PLACES = {
    "inittab": "etc/inittab",
    "shutdown": "usr/sbin/shutdown",
    "cloud-init": "usr/bin/cloud-init",
    "power_button": "etc/acpi/PWRF/00000080",
}
"""Where files of FILES go; the others to usr/lib/guest."""
_MODES = {"usr/bin/sudo": 0o4755, "usr/bin/passwd": 0o4755, "tmp": 0o1777, "var/tmp": 0o1777}
"""What is lost where an ordinary user unpacks it."""
_UNUSED = ("usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/lintian", "usr/lib/python3.13/test")
_PAM = {
    "common-auth": "auth required pam_unix.so",
    "common-account": "account required pam_unix.so",
    "common-password": "password required pam_unix.so yescrypt",
    "common-session": "session required pam_unix.so",
    "common-session-noninteractive": "session required pam_unix.so",
}
"""What pam-auth-update makes where packages are installed."""
_SHADOW = "root:*:20000:0:99999:7:::\n"


def make(folder: Path, target: Path) -> None:
    """Writes the image. folder: for what is needed on the way."""
    root, tools = folder / "root", folder / "tools"
    unpack(PACKAGES, root)
    unpack((KERNEL, *disk.PACKAGES), tools)
    _complete(root)
    boot = root / "boot"
    shutil.copy(next(tools.glob("boot/vmlinuz-*")), boot / "vmlinuz")
    init = (FILES / "initramfs_init").read_text(encoding="utf-8")
    busybox = (root / "usr/bin/busybox").read_bytes()
    (boot / "initrd").write_bytes(initramfs.archive(init, busybox, initramfs.modules(tools)))
    archive = folder / "root.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(root, ".", filter=_owned_by_root)
    disk.make(tools, archive, target, SIZE, "/boot/vmlinuz", "/boot/initrd")


def _complete(root: Path) -> None:
    """Adds what scripts of packages would have made, and our own files."""
    for unused in _UNUSED:
        shutil.rmtree(root / unused, ignore_errors=True)
    etc = root / "etc"
    for name in ("passwd", "group"):
        shutil.copy(root / f"usr/share/base-passwd/{name}.master", etc / name)
    (etc / "shadow").write_text(_SHADOW, encoding="utf-8")
    (etc / "shadow").chmod(0o640)
    (etc / "shells").write_text("/bin/sh\n/bin/bash\n", encoding="utf-8")
    (etc / "hostname").write_text("localhost\n", encoding="utf-8")
    for name, line in _PAM.items():
        (etc / "pam.d" / name).write_text(f"{line}\n", encoding="utf-8")
    for path in FILES.glob("*"):
        if path.is_file() and path.name != "initramfs_init":
            copied = root / _PLACES.get(path.name, f"usr/lib/guest/{path.name}")
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copied)
            copied.chmod(0o755 if os.access(path, os.X_OK) else 0o644)
    (etc / "dropbear").mkdir(exist_ok=True)
    applets = subprocess.run([root / "usr/bin/busybox", "--list"], stdout=subprocess.PIPE, text=True, check=True)
    for applet in applets.stdout.splitlines():
        # Debian has some elsewhere than busybox, such as ip.
        places = [root / folder / applet for folder in ("usr/bin", "usr/sbin")]
        if not any(map(os.path.lexists, places)):
            for place in places:
                place.symlink_to("/usr/bin/busybox")
    _compile(root)


def _compile(root: Path) -> None:
    """Compiles the modules of Python, which takes long in the guest and would be done at each first boot."""
    folders = ["usr/lib/python3.13", "usr/lib/python3/dist-packages", "usr/lib/guest"]
    arguments = ["-m", "compileall", "-q", "-s", str(root), "-p", "/", *(str(root / folder) for folder in folders)]
    environment = {"PYTHONHOME": str(root / "usr")}
    run_unpacked(root, "usr/bin/python3.13", *arguments, environment=environment)


def _owned_by_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mode = _MODES.get(member.name.removeprefix("./"), member.mode)
    return member
