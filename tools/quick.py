"""The short loop of a change, `make quick`: formats and lints what changed, checks its types, finds what is to
be generated anew, and runs the pure tests.

What changed is what differs from the main branch, committed or not. Pure tests start nothing and connect to nothing:
those of the resolver always run, those of another room of plugins/module_utils if it changed. `make check` runs all.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNIT = Path("tests/unit")
ROOMS = ("plugins/module_utils", "tests/unit/module_utils")


def git(*arguments: str) -> list[str]:
    """The lines of an answer of git, none if it refuses."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def changed() -> list[str]:
    """The files that differ from the main branch, and new ones."""
    base = git("merge-base", "HEAD", "origin/main") or git("merge-base", "HEAD", "main") or ["HEAD"]
    new = git("ls-files", "--others", "--exclude-standard")
    return sorted({*git("diff", "--name-only", "--diff-filter=d", base[0]), *new})


def tests(files: list[str]) -> list[str]:
    """The folders of the pure tests, and the changed tests beside them that need no cluster."""
    rooms = {"_resolver", *(Path(name).parts[2] for name in files if name.startswith(ROOMS))}
    folders = [folder for room in sorted(rooms) if (ROOT / (folder := f"{UNIT}/module_utils/{room}")).is_dir()]
    unit = [name for name in files if Path(name).is_relative_to(UNIT) and Path(name).match("test_*.py")]
    return [*folders, *(name for name in unit if not name.startswith(tuple(folders)))]


def commands(files: list[str]) -> list[list[str]]:
    """The commands to run, in this order."""
    code = [name for name in files if name.endswith(".py")]
    typed = [name for name in code if name.startswith("plugins/") and "doc_fragments" not in name]
    result = []
    if code:
        result += [["ruff", "format", "--quiet", *code], ["ruff", "check", "--output-format", "concise", *code]]
    if files:
        result.append(["python", "tools/lint_prose.py", *files])
    if any(name.startswith(("plugins/", "tools/", "docs/")) for name in files):
        result += [["python", f"tools/generate_{what}.py", "--check"] for what in ("fields", "docs")]
    if typed:
        result.append(["mypy", *typed])
    return [*result, ["pytest", "--quiet", "--numprocesses", "2", "--dist", "worksteal", *tests(files)]]


def main() -> int:
    """Runs all commands, whatever the earlier ones find."""
    codes = []
    for command in commands(changed()):
        print(f"== {' '.join(command[:2])}", flush=True)
        codes.append(subprocess.run(command, cwd=ROOT, check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
