"""The versions of Kubernetes and KubeVirt that can be built, each with a Go module file beside main.go.

go.mod has the default of both, go-VERSION.mod another Kubernetes, kubevirt-VERSION.mod another KubeVirt; others than
go.mod are written by tools/control_plane_version.py.
"""

from __future__ import annotations

import re
from pathlib import Path

from local_cluster.errors import LauncherError
from local_cluster.paths import CONTROL_PLANE_SOURCES

DEFAULT = "go.mod"
"""The module file of the default releases."""


def kubernetes(sources: Path = CONTROL_PLANE_SOURCES) -> dict[str, str]:
    """Version of Kubernetes, such as 1.34.4, → name of its module file; the default first."""
    return _offered(sources, "go-*.mod", "k8s.io/kubernetes")


def kubevirt(sources: Path = CONTROL_PLANE_SOURCES) -> dict[str, str]:
    """Release of KubeVirt, such as 1.9.0, → name of its module file; the default first."""
    return _offered(sources, "kubevirt-*.mod", "kubevirt.io/kubevirt")


def default_kubernetes(sources: Path = CONTROL_PLANE_SOURCES) -> str:
    """The default version of Kubernetes."""
    return next(iter(kubernetes(sources)))


def default_kubevirt(sources: Path = CONTROL_PLANE_SOURCES) -> str:
    """The default release of KubeVirt."""
    return next(iter(kubevirt(sources)))


def module_files(kubernetes_version: str, kubevirt_version: str, sources: Path = CONTROL_PLANE_SOURCES) -> list[str]:
    """The names of the module files that have the programs of a cluster, each once.

    The checksums of a module file are in the file of the same name with .sum. CDI is built of the default's.

    kubevirt_version: "" for a cluster without KubeVirt. Raises LauncherError for a version that cannot be built.
    """
    files = [_chosen("kubernetes_version", kubernetes_version, kubernetes(sources))]
    if kubevirt_version:
        files += [_chosen("kubevirt_version", kubevirt_version, kubevirt(sources)), DEFAULT]
    return list(dict.fromkeys(files))


def versions_of(module_file: Path) -> dict[str, str]:
    """Which of "kubernetes" and "kubevirt" a module file requires → its version."""
    text = module_file.read_text()
    versions = {name: _version(text, path) for name, path in _PATHS.items()}
    return {name: version for name, version in versions.items() if version}


def go_version(module_file: Path) -> tuple[int, int]:
    """The version of Go that builds the programs of a module file, such as (1, 24)."""
    match = re.search(r"^go (\d+)\.(\d+)", module_file.read_text(), re.MULTILINE)
    if not match:
        raise LauncherError(f"{module_file} has no line that begins with go")
    return int(match[1]), int(match[2])


_PATHS = {"kubernetes": "k8s.io/kubernetes", "kubevirt": "kubevirt.io/kubevirt"}


def _offered(sources: Path, pattern: str, path: str) -> dict[str, str]:
    others = sorted(sources.glob(pattern), key=lambda file: _numbers(_required(file, path)), reverse=True)
    return {_required(file, path): file.name for file in [sources / DEFAULT, *others]}


def _chosen(option: str, version: str, offered: dict[str, str]) -> str:
    if version not in offered:
        raise LauncherError(f"{option}: {version} cannot be built; use one of {', '.join(offered)}")
    return offered[version]


def _required(file: Path, path: str) -> str:
    version = _version(file.read_text(), path)
    if not version:
        raise LauncherError(f"{file} does not require {path}")
    return version


def _version(text: str, path: str) -> str:
    match = re.search(rf"^\s*(?:require )?{re.escape(path)} v(\d+\.\d+\.\d+)$", text, re.MULTILINE)
    return match[1] if match else ""


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]
