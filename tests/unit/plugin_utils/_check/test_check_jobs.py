"""The jobs of docs/check.md: their commands run in a shell, in a repository of git, as each service would run them.

The tests leave out the commands that install the check, which need the network; the collection is already in place.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from checked_files import CHECKED

CHECKOUT = Path(__file__).parents[4]
PAGE = (CHECKOUT / "docs" / "check.md").read_text()
JOBS = dict(
    zip(
        ("github", "gitlab", "tekton", "pre-commit"),
        # The other blocks use the hooks and the Action: tests/unit/test_published_check.py.
        map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)),
        strict=False,
    )
)
INSTALLS = ("pip install ", "ansible-galaxy collection install ")
VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: shop}
spec: {runStrategy: Always, instancetype: {name: INSTANCETYPE}, template: {spec: {domain: {devices: {}}}}}
"""


def script(name: str) -> str:
    """The commands of a job, one a line."""
    job: Any = JOBS[name]
    if name == "github":
        steps = [step for step in job["jobs"]["check"]["steps"] if "run" in step]
        set_first = [" ".join(f"{key}={value}" for key, value in step.get("env", {}).items()) for step in steps]
        lines = [f"{first} {step['run']}".strip() for first, step in zip(set_first, steps)]
    elif name == "gitlab":
        lines = job["check"]["script"]
    elif name == "tekton":
        lines = [line for step in job["spec"]["steps"] for line in step["script"].splitlines()]
    else:
        # pre-commit appends the files of the commit.
        lines = [f"{hook['entry']} manifests/vm.yaml" for hook in job["repos"][0]["hooks"]]
    assert any("plugin_utils.check" in line for line in lines)
    return "\n".join(line for line in lines if not line.startswith(INSTALLS))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A clone whose branch has changed nothing yet."""
    folder = tmp_path / "repository"
    (folder / "manifests").mkdir(parents=True)
    (folder / "manifests" / "vm.yaml").write_text(VM.replace("INSTANCETYPE", "u1.medium"))
    (folder / "collections").symlink_to(CHECKOUT / ".cache" / "collections")
    someone = "-c user.name=x -c user.email=x@example.com -c commit.gpgsign=false"
    for command in (
        "init -q",
        "add manifests",
        f"{someone} commit -q -m first",
        "update-ref refs/remotes/origin/main HEAD",
    ):
        subprocess.run(["git", *shlex.split(command)], cwd=folder, check=True)
    return folder


def run(name: str, folder: Path) -> tuple[int, str]:
    """Exit code and output of a job."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "GITHUB_BASE_REF": "main"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        ["bash", "-e", "-c", script(name)], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("name", JOBS)
def test_valid_options_pass(name: str, repository: Path) -> None:
    code, output = run(name, repository)
    assert (code, f"1 object {CHECKED}: nothing found" in output) == (0, True), output


@pytest.mark.parametrize("name", JOBS)
def test_a_mistake_fails_the_job(name: str, repository: Path) -> None:
    (repository / "manifests" / "vm.yaml").write_text(VM.replace("INSTANCETYPE", "u1.medum"))
    code, output = run(name, repository)
    report = repository / "check.xml"
    result = report.read_text() if report.exists() else output
    assert code == 1 and "u1.medum" in result, output
    assert report.exists() == (name == "gitlab")
    assert ("::error file=manifests/vm.yaml,line=4" in output) == (name == "github")
