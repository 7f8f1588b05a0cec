"""Other repositories use the GitHub Action of this one, here with a stand-in for GitHub, and the hooks."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
HOOKS = CHECKOUT / ".pre-commit-hooks.yaml"
PRE_COMMIT = "pre-commit==4.0.1"
ACTION: Any = yaml.safe_load((CHECKOUT / "action.yml").read_text())
SCRIPT = CHECKOUT / "tools" / "check_action.sh"
GH = """#!/bin/sh
echo "$@" >>"$LOG"
for last in "$@"; do :; done
case "$*" in *--paginate*) echo "$FOUND" ;; *PATCH*|*POST*) cp "${last#body=@}" "$LOG.body" ;; esac
"""
CHECK = """#!/bin/sh
exec PYTHON -m ansible_collections.virtshape.instancetypes.plugins.plugin_utils.check "$@"
"""
VM = """\
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: web, namespace: shop}
spec: {runStrategy: Always, instancetype: {name: SIZE}, template: {spec: {domain: {devices: {}}}}}
"""
OWN = """\
apiVersion: instancetype.kubevirt.io/v1beta1
kind: VirtualMachineInstancetype
metadata: {name: own, namespace: shop}
spec: {cpu: {guest: 1}, memory: {guest: MEMORY}}
"""


def git(folder: Path, command: str) -> str:
    someone = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *someone, *shlex.split(command)], cwd=folder, check=True, stdout=subprocess.PIPE)
    return done.stdout.decode().strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "manifests").mkdir(parents=True)
    (folder / "manifests" / "vm.yaml").write_text(VM.replace("SIZE", "u1.small"))
    for command in ("init -q", "add .", "commit -q -m first"):
        git(folder, command)
    return folder


def act(folder: Path, found: str = "") -> tuple[int, str, str, str]:
    """Exit code and output of the Action's script on a pull request, what it asked of GitHub, and the comment."""
    programs = folder.parent / "programs"
    programs.mkdir(exist_ok=True)
    for name, text in (("gh", GH), ("virtshape-check", CHECK.replace("PYTHON", sys.executable))):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    log = folder.parent / "log"
    log.write_text("")
    settings = {"PATHS": "manifests", "OPTIONS": "", "COMMENT": "true", "NUMBER": "7", "GITHUB_REPOSITORY": "a/b"}
    settings |= {"BASE": git(folder, "rev-parse HEAD"), "LOG": str(log), "FOUND": found}
    environment = {**os.environ, **settings, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", SCRIPT], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    body = Path(f"{log}.body")
    return done.returncode, done.stdout + done.stderr, log.read_text(), body.read_text() if body.exists() else ""


def test_the_action_comments_changed_guests(repository: Path) -> None:
    (repository / "manifests" / "vm.yaml").write_text(VM.replace("SIZE", "u1.medium"))
    code, output, asked, body = act(repository)
    assert code == 0, output
    assert "repos/a/b/issues/7/comments" in asked and "POST" in asked
    assert body.startswith("<!-- virtshape-check -->\n**1 object checked")
    assert "| VirtualMachine shop/web | 1 vCPU, 2Gi | 1 vCPU, 4Gi |" in body
    # The next push changes the comment.
    assert "PATCH repos/a/b/issues/comments/12 " in act(repository, found="12\n13")[2]
    assert git(repository, "worktree list").count("\n") == 0


def test_the_action_comments_guests_whose_size_changes(repository: Path) -> None:
    """The VM stays as it is; its instancetype changes in another file."""
    text = VM.replace("{name: SIZE}", "{name: own, kind: VirtualMachineInstancetype}")
    (repository / "manifests" / "vm.yaml").write_text(text)
    size = repository / "manifests" / "size.yaml"
    size.write_text(OWN.replace("MEMORY", "2Gi"))
    for command in ("add .", "commit -q -m second"):
        git(repository, command)
    size.write_text(OWN.replace("MEMORY", "4Gi"))
    code, output, _asked, body = act(repository)
    assert code == 0, output
    assert "| VirtualMachine shop/web | 1 vCPU, 2Gi | 1 vCPU, 4Gi | a refresh, then a live update |" in body


def test_the_action_fails_with_the_check(repository: Path) -> None:
    (repository / "manifests" / "vm.yaml").write_text(VM.replace("SIZE", "u1.medum"))
    code, output, _asked, body = act(repository)
    assert code == 1 and "::error file=manifests/vm.yaml,line=4" in output and "u1.medum" in body


def test_the_action_passes_inputs_as_variables() -> None:
    """An expression inside of a script would run what a pull request says."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
    used = {text for step in ACTION["runs"]["steps"] for text in step.get("env", {}).values()}
    assert {f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]} <= used


def test_hooks_name_commands_that_setup_installs() -> None:
    hooks = yaml.safe_load(HOOKS.read_text())
    assert [hook["entry"] for hook in hooks] == ["virtshape-check", "virtshape-modernize"]
    assert 'COMMANDS = ("check", "modernize")' in (CHECKOUT / "setup.py").read_text()


@pytest.mark.nightly("installs pre-commit and the hooks from PyPI")
def test_hooks_work_in_another_repository(repository: Path, tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    listed = git(CHECKOUT, "ls-files -z --cached --others --exclude-standard").split("\0")
    for name in listed:
        if name and (CHECKOUT / name).is_file():
            (ours / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, ours / name)
    for command in ("init -q", "add .", "commit -q -m first"):
        git(ours, command)
    hooks = [{"id": "virtshape-check"}, {"id": "virtshape-modernize", "files": "vm"}]
    config = {"repos": [{"repo": str(ours), "rev": git(ours, "rev-parse HEAD"), "hooks": hooks}]}
    (repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    git(repository, "add .")

    def run() -> tuple[int, str]:
        environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home")}
        environment.pop("PYTHONPATH", None)
        command = ["uv", "tool", "run", PRE_COMMIT, "run", "--all-files", "--verbose"]
        done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    code, output = run()
    assert code == 0 and "1 object checked for KubeVirt" in output and "1 guest" in output, output
    (repository / "manifests" / "vm.yaml").write_text(VM.replace("SIZE", "u1.medum"))
    code, output = run()
    assert code == 1 and "u1.medum" in output, output
