"""Packs the built programs of the local cluster into a Python wheel in .cache/wheel: `make wheel`.

Arguments are those of `python -m local_cluster build`, such as --kubevirt-version 1.8.4. Where the wheel is installed
beside Ansible, the role takes the programs from it if it was made of the same sources, and nobody needs Go.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterable
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).resolve().parent.parent
NAME = "virtshape_local_cluster_programs"
"""Of the distribution and of its package; roles/local_cluster/files/local_cluster/build.py looks for it."""
METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: Kubernetes, KubeVirt and CDI for the role virtshape.instancetypes.local_cluster
License: Apache-2.0
Home-page: {homepage}
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: virtshape\nRoot-Is-Purelib: false\n"
BUILDS_OWN = ("build.lock", "build.log")


def main(arguments: list[str]) -> int:
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT / "roles" / "local_cluster" / "files")}
    command = [sys.executable, "-m", "local_cluster", "build", *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return done.returncode
    galaxy = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text())
    folders = [Path(folder) for folder in json.loads(done.stdout)["folders"]]
    print(pack(folders, CHECKOUT / ".cache" / "wheel", galaxy["version"], galaxy["homepage"]))
    return 0


def pack(folders: Iterable[Path], out: Path, version: str, homepage: str) -> Path:
    """Write a wheel with the folders of programs to `out` and return its path. The same input gives the same bytes."""
    platforms = tags(sysconfig.get_platform())
    info = f"{NAME}-{version}.dist-info"
    files: dict[str, tuple[bytes, bool]] = {f"{NAME}/__init__.py": (b"", False)}
    for folder in folders:
        for file in sorted(folder.iterdir()):
            if file.name not in BUILDS_OWN:
                files[f"{NAME}/{folder.name}/{file.name}"] = (file.read_bytes(), os.access(file, os.X_OK))
    files[f"{info}/METADATA"] = (METADATA.format(name=NAME, version=version, homepage=homepage).encode(), False)
    files[f"{info}/WHEEL"] = ((WHEEL + "".join(f"Tag: py3-none-{tag}\n" for tag in platforms)).encode(), False)
    record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, (data, _runs) in files.items())
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), False)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{NAME}-{version}-py3-none-{'.'.join(platforms)}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (data, runs) in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100755 if runs else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return path


def tags(platform: str) -> list[str]:
    """The tags of programs without a C library on a platform of sysconfig, such as linux-x86_64."""
    system, _dash, machine = platform.partition("-")
    if system == "linux":
        return [f"manylinux2014_{machine}", f"musllinux_1_1_{machine}"]
    return [platform.replace("-", "_").replace(".", "_")]


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
