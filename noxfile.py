"""The tests on each supported ansible-core, and with the oldest client: `make test-all`, or `nox -s "core(2.16)"`.

A session needs a Python that its ansible-core runs on, which uv fetches where there is none; a session without one
fails. All other versions are those of requirements/dev.txt.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv"
nox.options.envdir = ".cache/nox"
nox.options.error_on_missing_interpreters = True

PYTHONS = {
    "2.16": "3.11",
    "2.17": "3.11",
    "2.18": "3.11",
    "2.19": "3.11",
    "2.20": "3.12",
    "2.21": "3.14",
    "2.22": "3.13",
}
"""The versions of ansible-core that the collection supports, each with a Python that it supports. `make test` runs on
2.21 and Python 3.12."""
DEVEL = "https://github.com/ansible/ansible/archive/devel.tar.gz"
"""What becomes the next version of ansible-core. DEVEL in the environment may name another archive or a folder."""
FIRST = {"2.22": "2.22.0rc1"}
"""Of versions that are not released yet, what is."""
STRICT = "2.22"
"""The version on which a deprecation warning, of Python or of Ansible, is a failure."""
SANITY = ("2.16", "2.18", "2.19", "2.20", "2.21", "2.22")
"""The versions whose sanity tests run: certification wants 2.16, 2.18 and 2.20, the `ansible` package the newest."""
NEEDED = (
    "pip",
    "ansible-builder",
    "ansible-runner",
    "kubernetes",
    "PyYAML",
    "aiohttp",
    "jq",
    "cryptography",
    "pytest",
    "pytest-xdist",
    "pytest-timeout",
    "hypothesis",
    "python-calamine",
    "sarif-pydantic",
)
# What follows from the version of ansible-core, and the tools that need one certain version.
OWN_CHOICE = re.compile(r"^(ansible|resolvelib|molecule)")


def install(session: nox.Session, core: str, *constraints: str) -> None:
    """An ansible-core, and what the tests need in the versions of the lock, or of the constraints where they differ."""
    own_choice = {re.split("[=<>~]", one)[0] for one in constraints}
    lock = [line for line in Path("requirements/dev.txt").read_text().splitlines() if not OWN_CHOICE.match(line)]
    lock = [line for line in lock if line.partition("==")[0] not in own_choice]
    path = Path(session.create_tmp(), "constraints.txt").resolve()
    path.write_text("\n".join([*lock, *constraints]))
    wanted = os.environ.get("DEVEL", DEVEL) if core == "devel" else f"ansible-core~={FIRST.get(core, f'{core}.0')}"
    session.install(wanted, *NEEDED, "--constraint", str(path))
    collections = Path(".cache/collections").resolve()
    session.env["ANSIBLE_COLLECTIONS_PATH"] = session.env["PYTHONPATH"] = str(collections)
    session.env["ANSIBLE_CONFIG"] = str(Path("ansible.cfg").resolve())


def test(session: nox.Session, *paths: str, options: tuple[str, ...] = ()) -> None:
    # Nightly tests need thousands of VMs and other programs; with one ansible-core they say enough.
    daily = ("-m", "not nightly", "--numprocesses", "2", "--dist", "worksteal")
    session.run("pytest", *daily, *options, *(session.posargs or paths))


@nox.session
@nox.parametrize("python,core", [(python, core) for core, python in PYTHONS.items()], ids=list(PYTHONS))
def core(session: nox.Session, core: str) -> None:
    """The tests of modules, filters, roles and playbooks."""
    install(session, core)
    paths = ("tests/unit", "tests/integration/modules", "tests/integration/playbooks")
    if core != STRICT:
        test(session, *paths)
        return
    log = Path(session.create_tmp(), "ansible.log").resolve()
    log.unlink(missing_ok=True)
    session.env["ANSIBLE_LOG_PATH"] = str(log)
    test(session, *paths, options=("-W", "error::DeprecationWarning"))
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    found = {line.partition("DEPRECATION WARNING")[2] for line in lines if "DEPRECATION WARNING" in line}
    if found:
        session.error("\n".join(sorted(found)))


@nox.session
@nox.parametrize("python,core", [(PYTHONS[core], core) for core in SANITY], ids=list(SANITY))
def sanity(session: nox.Session, core: str) -> None:
    """The sanity tests of a version."""
    session.install(f"ansible-core~={FIRST.get(core, f'{core}.0')}", "pip")
    session.run("python", "tools/sanity.py", *session.posargs)


@nox.session(python="3.14", default=False)
def devel(session: nox.Session) -> None:
    """The tests of `core` on ansible-core's branch devel, where what this collection uses may change each day."""
    install(session, "devel")
    test(session, "tests/unit", "tests/integration/modules", "tests/integration/playbooks")


@nox.session(python="3.11")
def oldest(session: nox.Session) -> None:
    """The tests of all that talks to a cluster, with the oldest Python client that the collection takes, on the urllib3
    of its day, which many images still have."""
    wanted = [*Path("meta/ee-requirements.txt").read_text().splitlines(), "urllib3>=1.26.5"]
    install(session, "2.17", *(line.replace(">=", "==") for line in wanted if line and not line.startswith("#")))
    test(session, "tests/unit/module_utils/_cluster", "tests/unit/inventory", "tests/integration/modules")
