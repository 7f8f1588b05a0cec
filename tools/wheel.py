"""Packs the built programs of the local cluster into Python wheels in .cache/wheel: `make wheel`.

Where they are installed beside Ansible, the role takes the programs from them if they were made of the same sources,
and nobody needs Go. Arguments are older releases of KubeVirt, such as 1.8.4, to build and pack too; `all` stands for
each.

virtshape-local-cluster             no files: what people install, with an extra for each older release
virtshape-local-cluster-kubernetes  Kubernetes and etcd
virtshape-local-cluster-kubevirt-*  a release of KubeVirt; that of the newest also has CDI

One wheel for each set of programs, since PyPI takes 100 MB a file. All put their files into one folder, PACKAGE.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import sys
import sysconfig
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(CHECKOUT / "roles" / "local_cluster" / "files"), str(CHECKOUT / "tools")]

import licences  # noqa: E402

from local_cluster import versions  # noqa: E402
from local_cluster.build import WHEEL as PACKAGE  # noqa: E402
from local_cluster.build import Programs, ProgramSet, build  # noqa: E402
from local_cluster.toolchain import find_go  # noqa: E402

NAME = "virtshape-local-cluster"
KUBERNETES = f"{NAME}-kubernetes"
OWN_LICENCE = "GPL-3.0-or-later"
"""Of main.go and of the stand-ins, which are linked with the rest."""
LARGEST = 100_000_000
"""Bytes that PyPI takes for a file."""
_KUBERNETES_PROGRAM = "control-plane"
_BUILDS_OWN = ("build.lock", "build.log")
_DESCRIPTION = """\
# {name}

{summary}, for the role [local_cluster]({homepage}/blob/v{version}/roles/local_cluster/README.md) of the Ansible
collection `virtshape.instancetypes` {version}. The role starts the real control planes of Kubernetes, KubeVirt and CDI
on a laptop or in CI, without containers, root or a hypervisor. With this package it needs no Go:

```console
$ pip install ansible-core kubernetes aiohttp cryptography {root}=={version}
$ ansible-galaxy collection install virtshape.instancetypes:=={version}
$ ansible-playbook virtshape.instancetypes.demo
```

`pip install "{root}[kubevirt-1-8]"` adds an older release of KubeVirt.

The programs are linked of unchanged modules of these projects, as their licences permit; licences and notices of every
module are in this package. The repository has the
[sources and module files]({homepage}/tree/v{version}/roles/local_cluster/files/control_plane).
"""


@dataclass(frozen=True)
class Distribution:
    """What becomes a wheel. files: path in the wheel → path of the file."""

    name: str
    summary: str
    files: Mapping[str, Path] = field(default_factory=dict)
    requires: Sequence[str] = ()
    extras: Mapping[str, str] = field(default_factory=dict)
    """Extra → what it requires."""


def main(arguments: list[str]) -> int:
    galaxy = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text())
    version, out = galaxy["version"], CHECKOUT / ".cache" / "wheel"
    newest, *older = versions.kubevirt()
    chosen = older if arguments == ["all"] else arguments
    programs = ProgramSet(versions.default_kubernetes(), newest)
    for release in [newest, *chosen]:
        build(ProgramSet(programs.kubernetes_version, release), lambda line: print(line, file=sys.stderr))
    others = [Programs(versions.kubevirt()[release]) for release in chosen]
    go = find_go(versions.go_version(programs.parts()[0].sources / "go.mod"))
    shutil.rmtree(out, ignore_errors=True)
    for distribution in distributions([*programs.parts(), *others], version):
        path = pack(distribution, out, version, galaxy["homepage"], go)
        if path.stat().st_size > LARGEST:
            print(f"{path.name} has {path.stat().st_size} bytes; PyPI takes {LARGEST}", file=sys.stderr)
            return 1
        print(path)
    return 0


def distributions(parts: Sequence[Programs], version: str) -> Iterable[Distribution]:
    """The wheels of the programs, the first of which are those of the default versions."""
    default, *older = parts
    files = _files(default)
    control_plane = {path: file for path, file in files.items() if file.name == _KUBERNETES_PROGRAM}
    releases = default.releases
    yield Distribution(KUBERNETES, f"Kubernetes {releases['kubernetes']}", control_plane)
    newest = distribution_of(releases["kubevirt"])
    rest = {path: file for path, file in files.items() if path not in control_plane}
    summary = f"KubeVirt {releases['kubevirt']} and CDI"
    # `complete`, without which the launcher ignores the programs, is in this one: it requires the other.
    yield Distribution(newest, summary, rest, [f"{KUBERNETES}=={version}"])
    extras = {}
    for part in older:
        release = part.releases["kubevirt"]
        name = distribution_of(release)
        yield Distribution(name, f"KubeVirt {release}", _files(part), [f"{newest}=={version}"])
        extras[name.removeprefix(f"{NAME}-")] = f"{name}=={version}"
    summary = f"Kubernetes {releases['kubernetes']}, {summary}"
    yield Distribution(NAME, summary, requires=[f"{newest}=={version}"], extras=extras)


def distribution_of(release: str) -> str:
    """The name for a release of KubeVirt, such as 1.8.4."""
    return f"{NAME}-kubevirt-{'-'.join(release.split('.')[:2])}"


def _files(part: Programs) -> dict[str, Path]:
    folder = part.folder
    kept = [file for file in sorted(folder.iterdir()) if file.name not in _BUILDS_OWN]
    return {f"{PACKAGE}/{folder.name}/{file.name}": file for file in kept}


def pack(distribution: Distribution, out: Path, version: str, homepage: str, go: str) -> Path:
    """Write a wheel to `out` and return its path. The same input gives the same bytes. Raises UnknownLicence."""
    platforms = tags(sysconfig.get_platform()) if distribution.files else ["any"]
    stem = f"{distribution.name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    programs = [file for file in distribution.files.values() if os.access(file, os.X_OK)]
    texts = licences.texts(go, licences.modules(go, programs)) if programs else {}
    licence = licences.expression(texts.values(), OWN_LICENCE)
    texts["LICENSE"] = (CHECKOUT / "LICENSE").read_bytes()
    files = {path: (file.read_bytes(), file in programs) for path, file in distribution.files.items()}
    files |= {f"{info}/licenses/{name}": (text, False) for name, text in sorted(texts.items())}
    files[f"{info}/METADATA"] = (_metadata(distribution, version, homepage, licence, texts).encode(), False)
    wheel = f"Wheel-Version: 1.0\nGenerator: virtshape\nRoot-Is-Purelib: {str(not programs).lower()}\n"
    files[f"{info}/WHEEL"] = ((wheel + "".join(f"Tag: py3-none-{tag}\n" for tag in platforms)).encode(), False)
    record = "".join(f"{_quoted(name)},sha256={_digest(data)},{len(data)}\n" for name, (data, _runs) in files.items())
    files[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), False)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{stem}-py3-none-{'.'.join(platforms)}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (data, runs) in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100755 if runs else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return path


def _metadata(
    distribution: Distribution, version: str, homepage: str, licence: str, licence_files: Iterable[str]
) -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {distribution.name}",
        f"Version: {version}",
        f"Summary: {distribution.summary} for the role virtshape.instancetypes.local_cluster",
        f"License-Expression: {licence}",
        *(f"License-File: {name}" for name in sorted(licence_files)),
        "Requires-Python: >=3.9",
        *(f"Requires-Dist: {requirement}" for requirement in distribution.requires),
        *(
            line
            for extra, requirement in distribution.extras.items()
            for line in (f"Provides-Extra: {extra}", f'Requires-Dist: {requirement}; extra == "{extra}"')
        ),
        f"Project-URL: Homepage, {homepage}",
        f"Project-URL: Documentation, {homepage}/blob/main/docs/local_cluster.md",
        f"Project-URL: Source, {homepage}/tree/v{version}/roles/local_cluster/files/control_plane",
        f"Project-URL: Issues, {homepage}/issues",
        "Keywords: kubevirt,kubernetes,ansible,testing",
        "Description-Content-Type: text/markdown",
    ]
    description = _DESCRIPTION.format(
        name=distribution.name, summary=distribution.summary, homepage=homepage, version=version, root=NAME
    )
    return "\n".join(lines) + f"\n\n{description}"


def tags(platform: str) -> list[str]:
    """The tags of programs without a C library on a platform of sysconfig, such as linux-x86_64."""
    system, _dash, machine = platform.partition("-")
    if system == "linux":
        return [f"manylinux2014_{machine}", f"musllinux_1_1_{machine}"]
    return [platform.replace("-", "_").replace(".", "_")]


def _quoted(name: str) -> str:
    """A path as a field of CSV."""
    return f'"{name}"' if "," in name else name


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
