"""Fixtures that run ansible-rulebook in a virtual environment of its own: the collection does not need it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
sys.path += [str(TESTS / place) for place in ("chaos", "integration/playbooks", "integration/modules")]

from chaos_support import Faulty  # noqa: E402
from rulebook_support import REQUIREMENTS, java  # noqa: E402


@pytest.fixture(scope="session")
def rulebook_programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with ansible-rulebook, made once for a checkout."""
    if java() is None:
        pytest.skip("no Java 17 or newer; Debian has openjdk-17-jre-headless")
    place = TESTS.parent / ".cache" / "ansible-rulebook"
    made = place / "-".join(REQUIREMENTS)
    if not made.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        # pytest-xdist sets PYTHONPATH, by which pip takes packages of the tests for installed ones.
        install = [place / "bin" / "python", "-I", "-m", "pip", "install", "--quiet", *REQUIREMENTS]
        subprocess.run(install, check=True)
        made.touch()
    return place / "bin"


@pytest.fixture(scope="module")
def faulty(
    launch: Callable[..., dict[str, Any]],
    start_cluster: Callable[..., dict[str, Any]],
    request: pytest.FixtureRequest,
) -> Faulty:
    """A cluster behind a fault proxy, with the NODES of the module. No guest can migrate, so changes need a restart."""
    nodes = json.dumps(getattr(request.module, "NODES", []))
    options = ("--name", "eda", "--faults", "--no-migratable", "--nodes", nodes)
    return Faulty(launch, Path(start_cluster(*options)["dir"]))
