"""The tests on each supported ansible-core: `make test-all`, or `nox --session "core(2.17)"`.

A session needs a Python that its ansible-core runs on; nox says which it has not found. All other versions are those
of requirements/dev.txt.
"""

from __future__ import annotations

import re
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv"
nox.options.envdir = ".cache/nox"
nox.options.error_on_missing_interpreters = False

PYTHONS = {"2.17": "3.11", "2.18": "3.11", "2.19": "3.11", "2.20": "3.12"}
"""The versions of ansible-core that the collection supports, each with a Python that it supports."""
NEEDED = (
    "ansible-builder",
    "ansible-runner",
    "kubernetes",
    "PyYAML",
    "aiohttp",
    "cryptography",
    "jsonpatch",
    "pytest",
    "pytest-xdist",
    "pytest-timeout",
    "pytest-rerunfailures",
    "hypothesis",
)
# What follows from the version of ansible-core, and the tools that need one certain version.
OWN_CHOICE = re.compile(r"^(ansible|resolvelib|molecule)")


@nox.session
@nox.parametrize("python,core", [(python, core) for core, python in PYTHONS.items()], ids=list(PYTHONS))
def core(session: nox.Session, core: str) -> None:
    """The tests of modules, filters and roles."""
    lock = Path("requirements/dev.txt").read_text().splitlines()
    constraints = Path(session.create_tmp(), "constraints.txt").resolve()
    constraints.write_text("\n".join(line for line in lock if not OWN_CHOICE.match(line)))
    session.install(f"ansible-core~={core}.0", *NEEDED, "--constraint", str(constraints))
    collections = Path(".cache/collections").resolve()
    session.env["ANSIBLE_COLLECTIONS_PATH"] = session.env["PYTHONPATH"] = str(collections)
    session.env["ANSIBLE_CONFIG"] = str(Path("ansible.cfg").resolve())
    wanted = session.posargs or ["tests/unit", "tests/integration/modules", "tests/integration/playbooks"]
    session.run("pytest", "--numprocesses", "2", "--dist", "worksteal", *wanted)
