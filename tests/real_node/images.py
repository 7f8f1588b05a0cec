"""The images of a node as docker archives: those of virt-handler and virt-launcher, of guests, and of pauses.

virt-handler and virt-launcher share one image: the root, and a layer with KubeVirt's programs and configuration.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import subprocess
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

GUEST = "localhost/guest:1"
"""The container disk that boots."""
BROKEN = "localhost/broken:1"
"""A container disk without a disk."""
PAUSE = "localhost/pause:1"
QEMU = 107
"""The user and the group as which KubeVirt runs QEMU."""
_LEFT_OUT = ("./usr/include", "./usr/lib/modules", "./boot", "./var/cache", "./var/lib/apt", "./dev")
_VIRTQEMUD = """#!/bin/sh
# Debian has one daemon for all of libvirt's drivers; KubeVirt calls the one for QEMU.
mkdir -p /run/libvirt
ln -sfn libvirt-sock /run/libvirt/virtqemud-sock
exec /usr/sbin/libvirtd "$@"
"""
_BIND = {"SCHILY.xattr.security.capability": struct.pack("<IIIII", 0x02000001, 1 << 10, 0, 0, 0).decode()}
"""The effective capability CAP_NET_BIND_SERVICE, which virt-launcher-monitor hands on: version 2 of capabilities(7)."""
_FIRMWARE = {
    "OVMF_CODE.fd": "OVMF_CODE_4M.fd",
    "OVMF_VARS.fd": "OVMF_VARS_4M.fd",
    "OVMF_CODE.secboot.fd": "OVMF_CODE_4M.secboot.fd",
    "OVMF_VARS.secboot.fd": "OVMF_VARS_4M.ms.fd",
}
"""KubeVirt's names → Debian's."""


def kubevirt_images(release: str) -> list[str]:
    return [f"quay.io/kubevirt/{name}:v{release}" for name in ("virt-handler", "virt-launcher")]


def make(folder: Path, root: Path, programs: Path, kubevirt: Path, guest: Path) -> None:
    """Write the archives to a folder. kubevirt: its module. guest: the disk of the guests."""
    base, own, disk, pause, nothing = (folder / f"{name}.layer" for name in ("base", "own", "disk", "pause", "nothing"))
    left_out = [f"--exclude={path}/*" for path in _LEFT_OUT]
    subprocess.run(["tar", "-C", str(root), "--numeric-owner", *left_out, "-cf", str(base), "."], check=True)
    with tarfile.open(own, "w") as layer:
        _add_kubevirt(layer, root, programs, kubevirt)
    release = kubevirt.name.partition("@v")[2]
    _archive(folder / "kubevirt.tar", kubevirt_images(release), [base, own], user="0")
    with tarfile.open(disk, "w") as layer:
        _add_folder(layer, "disk", QEMU)
        _add(layer, "disk/guest.qcow2", guest.read_bytes(), mode=0o440, owner=QEMU)
    _archive(folder / "guest.tar", [GUEST], [disk])
    with tarfile.open(pause, "w") as layer:
        _add(layer, "pause", (programs / "pause").read_bytes(), mode=0o755)
    _archive(folder / "pause.tar", [PAUSE], [pause], entrypoint=["/pause"])
    with tarfile.open(nothing, "w") as layer:
        _add(layer, "README", b"There is no disk here.\n")
    _archive(folder / "broken.tar", [BROKEN], [nothing])
    for layer_file in (base, own, disk, pause, nothing):
        layer_file.unlink()


def _add_kubevirt(layer: tarfile.TarFile, root: Path, programs: Path, kubevirt: Path) -> None:
    launcher = kubevirt / "cmd/virt-launcher"
    for program in sorted(programs.iterdir()):
        if program.name not in ("kubelet", "pause"):
            capability = _BIND if program.name == "virt-launcher-monitor" else {}
            _add(layer, f"usr/bin/{program.name}", program.read_bytes(), mode=0o755, attributes=capability)
    labeller = (launcher / "node-labeller/node-labeller.sh").read_bytes()
    _add(layer, "usr/bin/node-labeller.sh", labeller, mode=0o755)
    _add(layer, "usr/sbin/virtqemud", _VIRTQEMUD.encode(), mode=0o755)
    for name in ("qemu.conf", "virtqemud.conf"):
        _add(layer, f"etc/libvirt/{name}", (launcher / name).read_bytes())
    _add(layer, "etc/nsswitch.conf", (launcher / "nsswitch.conf").read_bytes())
    _add_folder(layer, "etc/libvirt/hooks", QEMU)
    _add(layer, "etc/libvirt/hooks/qemu", (launcher / "qemu").read_bytes(), mode=0o755, owner=QEMU)
    _add_folder(layer, "var/log/libvirt", QEMU)
    _add_folder(layer, "home/qemu", QEMU)
    # Of a link from the root, virt-handler would find its own folder.
    _add_link(layer, "var/run", "../run")
    _add_link(layer, "usr/libexec/qemu-kvm", "../bin/qemu-system-x86_64")
    for name, debians in _FIRMWARE.items():
        _add_link(layer, f"usr/share/OVMF/{name}", debians)
    accounts = {"passwd": f"qemu:x:{QEMU}:{QEMU}::/home/qemu:/bin/bash", "group": f"qemu:x:{QEMU}:"}
    for name, line in accounts.items():
        kept = [entry for entry in (root / "etc" / name).read_text().splitlines() if f":x:{QEMU}:" not in entry]
        _add(layer, f"etc/{name}", "".join(f"{entry}\n" for entry in [*kept, line]).encode())


def _add(
    layer: tarfile.TarFile,
    name: str,
    content: bytes,
    *,
    mode: int = 0o644,
    owner: int = 0,
    attributes: Mapping[str, str] | None = None,
) -> None:
    entry = tarfile.TarInfo(name)
    entry.pax_headers = dict(attributes or {})
    entry.size, entry.mode, entry.uid, entry.gid = len(content), mode, owner, owner
    layer.addfile(entry, io.BytesIO(content))


def _add_folder(layer: tarfile.TarFile, name: str, owner: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.uid, entry.gid = tarfile.DIRTYPE, 0o755, owner, owner
    layer.addfile(entry)


def _add_link(layer: tarfile.TarFile, name: str, target: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    layer.addfile(entry)


def _archive(
    path: Path, names: list[str], layers: Iterable[Path], *, user: str = "", entrypoint: list[str] | None = None
) -> None:
    """Write what `docker save` would of an image."""
    layers = list(layers)
    settings: dict[str, Any] = {"User": user, "Entrypoint": entrypoint, "Env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]}
    digests = [f"sha256:{_sha256(layer)}" for layer in layers]
    config: Mapping[str, Any] = {
        "architecture": "amd64",
        "os": "linux",
        "config": settings,
        "rootfs": {"type": "layers", "diff_ids": digests},
    }
    text = json.dumps(config).encode()
    name = f"{hashlib.sha256(text).hexdigest()}.json"
    manifest = [{"Config": name, "RepoTags": names, "Layers": [layer.name for layer in layers]}]
    with tarfile.open(path, "w") as archive:
        _add(archive, name, text)
        for layer in layers:
            archive.add(layer, layer.name)
        _add(archive, "manifest.json", json.dumps(manifest).encode())


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
        return digest.hexdigest()
