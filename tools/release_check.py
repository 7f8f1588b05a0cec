"""Whether this checkout could be released as it is: `python tools/release_check.py`.

The version, its changelog and the support policy agree; the tarball installs into an empty directory, and the demo runs
from there. Says what is wrong, and exits 1.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml
from build_tarball import build

CHECKOUT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def main() -> int:
    wrong = list(mistakes())
    print(*(f"release-check: {line}" for line in wrong), sep="\n", end="\n" if wrong else "")
    if wrong:
        return 1
    with tempfile.TemporaryDirectory() as folder:
        run_demo(Path(folder))
    print("release-check: the demo ran from the installed tarball")
    return 0


def mistakes() -> Iterator[str]:
    version = yaml.safe_load((CHECKOUT / "galaxy.yml").read_text())["version"]
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        yield f"galaxy.yml: version: {version} is not a version that can be released, such as 1.2.0"
    releases = yaml.safe_load((CHECKOUT / "changelogs" / "changelog.yaml").read_text())["releases"]
    fragments = [path.name for path in (CHECKOUT / "changelogs" / "fragments").glob("*.y*ml")]
    if version not in releases and not fragments:
        yield f"changelogs: neither a release {version} nor a fragment that would go into it"
    if version in releases and fragments:
        yield f"changelogs: {version} was released, but {', '.join(fragments)} are new: raise version in galaxy.yml"
    needed = yaml.safe_load((CHECKOUT / "meta" / "runtime.yml").read_text())["requires_ansible"]
    oldest = ".".join(needed.removeprefix(">=").split(".")[:2])
    for name in ("README.md", "noxfile.py"):
        if oldest not in (CHECKOUT / name).read_text():
            yield f"{name}: does not name ansible-core {oldest}, the oldest that meta/runtime.yml allows"
    listed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=CHECKOUT, check=True, stdout=subprocess.PIPE, text=True
    )
    if listed.stdout:
        yield f"git: not committed: {', '.join(line[3:] for line in listed.stdout.splitlines()[:5])}"


def run_demo(folder: Path) -> None:
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(folder / "collections"), "LC_ALL": "C.UTF-8"}
    for name in ("ANSIBLE_CONFIG", "PYTHONPATH"):
        environment.pop(name, None)

    def run(command: str, *arguments: str, cwd: Path = folder) -> None:
        subprocess.run([str(BIN / command), *arguments], cwd=cwd, env=environment, check=True)

    tarball = build(folder)
    run("ansible-galaxy", "collection", "install", "--no-deps", str(tarball), "-p", str(folder / "collections"))
    run("ansible-playbook", "virtshape.instancetypes.demo")


if __name__ == "__main__":
    sys.exit(main())
