"""Describe another version of Kubernetes for the local cluster: `python tools/control_plane_version.py 1.35.4`.

Writes roles/local_cluster/files/control_plane/go-VERSION.mod and .sum, which `go build -modfile` takes instead of
go.mod.
The version becomes one that the role offers once it is among the choices in the role's argument specs.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
from pathlib import Path

SOURCES = Path(__file__).resolve().parent.parent / "roles" / "local_cluster" / "files" / "control_plane"
TEMPLATE = """\
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


def _go(*arguments: str) -> str:
    environment = {**os.environ, "GOWORK": "off", "GOTOOLCHAIN": "local"}
    command = ["go", *arguments]
    done = subprocess.run(command, cwd=SOURCES, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def _one(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise SystemExit(f"the go.mod of k8s.io/kubernetes has no line like {pattern}")
    return found[1]


def describe(version: str) -> Path:
    """Write the module file of `version` (such as 1.35.4) and return its path."""
    module = json.loads(_go("mod", "download", "-json", f"k8s.io/kubernetes@v{version}"))
    theirs = Path(module["GoMod"]).read_text()
    staging = f"v0.{version.partition('.')[2]}"
    replaced = re.findall(r"^\s*(\S+) => \./staging/", theirs, re.MULTILINE)
    file = SOURCES / f"go-{version}.mod"
    file.write_text(
        TEMPLATE.format(
            version=version,
            go=_one(r"^go (\S+)$", theirs),
            etcd=_one(r"^\s*go\.etcd\.io/etcd/server/v3 (\S+)", theirs),
            staging=staging,
            replaces="\n".join(f"\t{name} => {name} {staging}" for name in replaced),
        )
    )
    _go("mod", "tidy", f"-modfile={file.name}")
    return file


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("version", help="such as 1.35.4")
    print(describe(parser.parse_args().version))
