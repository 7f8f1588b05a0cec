"""The versions of Kubernetes that can be built, each with a Go module file beside main.go.

go.mod is for the default version, go-VERSION.mod for others, which tools/control_plane_version.py writes.
"""

from __future__ import annotations

import re
from pathlib import Path

from local_cluster.errors import LauncherError
from local_cluster.paths import CONTROL_PLANE_SOURCES

_DEFAULT = "go.mod"


def offered(sources: Path = CONTROL_PLANE_SOURCES) -> dict[str, str]:
    """Version, such as 1.34.4, → name of its module file; the default first."""
    files = [sources / _DEFAULT, *sorted(sources.glob("go-*.mod"))]
    return {_required(file, r"^\s*k8s\.io/kubernetes v(\d+\.\d+\.\d+)$"): file.name for file in files}


def default(sources: Path = CONTROL_PLANE_SOURCES) -> str:
    """The default version of a cluster."""
    return next(iter(offered(sources)))


def module_file(version: str, sources: Path = CONTROL_PLANE_SOURCES) -> str:
    """The name of the module file of `version`; the checksums are in the file of the same name with .sum."""
    files = offered(sources)
    if version not in files:
        raise LauncherError(f"kubernetes_version: {version} cannot be built; use one of {', '.join(files)}")
    return files[version]


def needed_go(version: str, sources: Path = CONTROL_PLANE_SOURCES) -> tuple[int, int]:
    """The version of Go that builds `version`, such as (1, 24)."""
    major, minor = _required(sources / module_file(version, sources), r"^go (\d+\.\d+)").split(".")
    return int(major), int(minor)


def _required(file: Path, pattern: str) -> str:
    found = re.search(pattern, file.read_text(), re.MULTILINE)
    if not found:
        raise LauncherError(f"{file} has no line like {pattern}")
    return found[1]
