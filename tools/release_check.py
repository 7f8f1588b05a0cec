"""Whether this checkout could be released as it is: `python tools/release_check.py`.

The version, its changelog and the support policy agree. Tarball and wheels install into an empty virtual environment of
a user without anything else, Go included, where the demo, the check and recipes run. Says what is wrong, and exits 1.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import yaml
from build_tarball import build

CHECKOUT = Path(__file__).resolve().parent.parent
WHEELS = CHECKOUT / ".cache" / "wheel"
VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: shop}
spec: {runStrategy: Always, instancetype: {name: u1.medum}, template: {spec: {domain: {devices: {}}}}}
"""


def main() -> int:
    wrong = list(mistakes())
    print(*(f"release-check: {line}" for line in wrong), sep="\n", end="\n" if wrong else "")
    if wrong:
        return 1
    with tempfile.TemporaryDirectory() as folder:
        for what, seconds in install_and_run(Path(folder)):
            print(f"release-check: {what}: {seconds:.0f} s", flush=True)
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


def install_and_run(folder: Path) -> Iterator[tuple[str, float]]:
    """(what was done, seconds) of each step. Raises CalledProcessError."""
    tarball = build(folder)
    home, place = folder / "home", folder / "venv" / "bin"
    home.mkdir()
    environment = {
        "HOME": str(home),
        "PWD": str(home),
        "LC_ALL": "C.UTF-8",
        "PATH": f"{place}{os.pathsep}/usr/bin{os.pathsep}/bin",
    }
    # Where this machine finds packages; nothing else of its environment.
    environment |= {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_"))}

    def run(*command: str, expected: int = 0) -> float:
        began = time.monotonic()
        done = subprocess.run(command, cwd=home, env=environment, check=False, capture_output=True, text=True)
        if done.returncode != expected:
            print(done.stdout[-5000:], done.stderr[-5000:], sep="\n", file=sys.stderr)
            raise subprocess.CalledProcessError(done.returncode, command)
        return time.monotonic() - began

    yield "virtual environment", run(sys.executable, "-m", "venv", str(folder / "venv"))
    needed = [str(CHECKOUT / "requirements" / "run.txt"), "--find-links", str(WHEELS), "virtshape-local-cluster"]
    yield "packages", run(str(place / "python"), "-m", "pip", "install", "--quiet", "--requirement", *needed)
    install = ["collection", "install", "--no-deps", str(tarball)]
    yield "collection", run(str(place / "ansible-galaxy"), *install)
    yield "demo", run(str(place / "ansible-playbook"), "virtshape.instancetypes.demo")
    assert not (home / ".cache" / "virtshape").exists(), "the demo built programs, which the wheels have"
    (home / "vm.yaml").write_text(VM)
    environment["PYTHONPATH"] = str(home / ".ansible" / "collections")
    check = ["-m", "ansible_collections.virtshape.instancetypes.plugins.plugin_utils.check", "vm.yaml"]
    yield "check, of a mistake", run(str(place / "python"), *check, expected=1)
    recipes = {
        "check": ["check_paths=vm.yaml", "check_options=--ignore=not-found"],
        "modernize": ["modernize_paths=vm.yaml"],
        "catalog_report": ["catalog_report_source=builtin"],
    }
    for name, variables in recipes.items():
        options = [part for variable in variables for part in ("-e", variable)]
        yield f"playbook {name}", run(str(place / "ansible-playbook"), f"virtshape.instancetypes.{name}", *options)


if __name__ == "__main__":
    sys.exit(main())
