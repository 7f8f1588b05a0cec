"""Describe another version of the local cluster: `python tools/control_plane_version.py --kubevirt 1.8.4`.

`--kubernetes VERSION` writes go-VERSION.mod and .sum in roles/local_cluster/files/control_plane, `--kubevirt VERSION`
writes kubevirt-VERSION.mod and .sum. `go build -modfile` takes them instead of go.mod.
The role offers the version once it is among the choices in the role's argument specs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "roles" / "local_cluster" / "files" / "control_plane"
OLDEST_GO = (1, 24)
"""The oldest Go that knows `tool`."""
KUBERNETES = """\
// Kubernetes {version}; written by tools/control_plane_version.py.
module virtshape.dev/local-cluster/control-plane

go {go}

require (
\tgo.etcd.io/etcd/server/v3 {etcd}
\tk8s.io/component-base {staging}
\tk8s.io/kubernetes v{version}
)

// k8s.io/kubernetes requires its staging modules at v0.0.0 and replaces them by folders of its own;
// replaces of a dependency do not count, so they are said again here.
replace (
{replaces}
)
"""
KUBEVIRT = """\
// KubeVirt {version}; written by tools/control_plane_version.py.
module virtshape.dev/local-cluster/control-plane

go {go}

tool (
\tkubevirt.io/kubevirt/cmd/virt-api
\tkubevirt.io/kubevirt/cmd/virt-controller
)

require (
\tkubevirt.io/api v{version}
\tkubevirt.io/client-go v{version}
\tkubevirt.io/kubevirt v{version}
)

// Replaces of a dependency do not count, so those of KubeVirt are said again here;
// the folders of its own that it replaces modules by are published as modules.
replace (
{replaces}
)
"""


def _go(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "GOWORK": "off", "GOTOOLCHAIN": "local"}
    command = ["go", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def _required_match(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    if not match:
        raise SystemExit(f"the module file has no line like {pattern}")
    return match[1]


def _download(module: str, version: str) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        answer: dict[str, str] = json.loads(_go(Path(folder), "mod", "download", "-json", f"{module}@v{version}"))
    return answer


def kubernetes(version: str) -> Path:
    """Write the module file of a version of Kubernetes (such as 1.35.4) and return its path."""
    go_mod = Path(_download("k8s.io/kubernetes", version)["GoMod"]).read_text()
    staging = f"v0.{version.partition('.')[2]}"
    replaced = re.findall(r"^\s*(\S+) => \./staging/", go_mod, re.MULTILINE)
    text = KUBERNETES.format(
        version=version,
        go=_required_match(r"^go (\S+)$", go_mod),
        etcd=_required_match(r"^\s*go\.etcd\.io/etcd/server/v3 (\S+)", go_mod),
        staging=staging,
        replaces="\n".join(f"\t{name} => {name} {staging}" for name in replaced),
    )
    return _write(SOURCES / f"go-{version}.mod", text, "main.go")


def kubevirt(version: str) -> Path:
    """Write the module file of a release of KubeVirt (such as 1.8.4) and return its path."""
    module = _download("kubevirt.io/kubevirt", version)
    go_mod = Path(module["GoMod"]).read_text()
    # A "go" of 1.22 would do for KubeVirt, not for this file.
    major, minor = (int(number) for number in _required_match(r"^go (\d+\.\d+)", go_mod).split("."))
    text = KUBEVIRT.format(
        version=version,
        go=".".join(map(str, (*max(OLDEST_GO, (major, minor)), 0))),
        replaces="\n".join(f"\t{line}" for line in _replaces(go_mod, version)),
    )
    # Some of its dependencies are in no database of checksums: theirs are those that KubeVirt has recorded.
    checksums = Path(module["Dir"]) / "go.sum"
    return _write(SOURCES / f"kubevirt-{version}.mod", text, "kubevirt/main.go", checksums)


def _replaces(go_mod: str, version: str) -> list[str]:
    """KubeVirt's replace lines, with published modules instead of folders."""
    lines = []
    for name, replacement in re.findall(r"^\s*(?:replace )?(\S+)(?: v\S+)? => (\S.*)$", go_mod, re.MULTILINE):
        if not replacement.startswith("./"):
            lines.append(f"{name} => {replacement}")
        elif name.startswith("kubevirt.io/"):
            lines.append(f"{name} => {name} v{version}")
    return lines


def _write(file: Path, text: str, source: str, checksums: Path | None = None) -> Path:
    """Write a module file and its checksums, tidied for the one source that it builds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / source).parent.mkdir(exist_ok=True)
        shutil.copy(SOURCES / source, folder / source)
        (folder / "go.mod").write_text(text)
        if checksums:
            shutil.copyfile(checksums, folder / "go.sum")
        _go(folder, "mod", "tidy")
        shutil.copyfile(folder / "go.mod", file)
        shutil.copyfile(folder / "go.sum", file.with_suffix(".sum"))
    return file


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    choice = parser.add_mutually_exclusive_group(required=True)
    choice.add_argument("--kubernetes", metavar="VERSION", help="such as 1.35.4")
    choice.add_argument("--kubevirt", metavar="VERSION", help="such as 1.8.4")
    options = parser.parse_args()
    print(kubernetes(options.kubernetes) if options.kubernetes else kubevirt(options.kubevirt))
