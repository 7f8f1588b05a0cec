"""The example repository of docs/testing_your_playbooks.md, run step by step as that page says."""

import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_environment import ansible
from guest_images import guest_image

pytestmark = pytest.mark.own_cluster

CHECKOUT = Path(__file__).resolve().parents[3]
Launch = Callable[..., dict[str, Any]]
EXAMPLE = CHECKOUT / "docs" / "examples" / "shop"


@pytest.fixture
def repository(tmp_path: Path, launch: Launch) -> Iterator[Path]:
    """A copy of the example, whose cluster is removed after the test."""
    path = Path(shutil.copytree(EXAMPLE, tmp_path / "shop"))
    yield path
    launch("stop", "--remove", "--dir", str(path / ".cluster"))


def _run(repository: Path, *command: str, **environment: str) -> str:
    """Run a command of the virtual environment in the repository, which has to succeed; its output."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    code, printed = ansible(repository, *command, bare=True, PATH=path, **environment)
    assert code == 0, printed
    return printed


def _play(repository: Path, step: str, scenario: str = "default", **environment: str) -> int:
    """Run a playbook of the scenario; the number of tasks that changed something."""
    environment["K8S_AUTH_KUBECONFIG"] = str(repository / ".cluster" / "kubeconfig")
    output = _run(repository, "ansible-playbook", f"molecule/{scenario}/{step}.yml", **environment)
    recap = output.rpartition("PLAY RECAP")[2]
    return sum(map(int, re.findall(r"changed=(\d+)", recap)))


@pytest.mark.nightly("a further scenario of Molecule")
def test_the_scenario_passes_step_by_step(repository: Path, launch: Launch) -> None:
    steps = yaml.safe_load((repository / "molecule" / "default" / "molecule.yml").read_text())
    sequence = steps["scenario"]["test_sequence"]
    assert sequence == ["destroy", "create", "converge", "idempotence", "side_effect", "verify", "destroy"]
    changed = {step: _play(repository, step) for step in ("create", "converge")}
    assert changed == {"create": 1, "converge": 3}
    assert _play(repository, "converge") == 0  # idempotence
    # Only the faults are switched: the playbook got through them and had nothing to do.
    assert _play(repository, "side_effect") == 1
    counts = launch("faults", "--dir", str(repository / ".cluster"))["counts"]
    assert counts["faults"] == {"reset": 2, "status": 2}
    assert counts["writes"] == 0
    assert _play(repository, "verify") == 0
    assert _play(repository, "destroy") == 1
    assert not (repository / ".cluster").exists()


@pytest.mark.nightly("a further scenario of Molecule")
@pytest.mark.skipif(importlib.util.find_spec("molecule") is None, reason="Molecule is not installed")
def test_molecule_runs_the_scenario(repository: Path) -> None:
    state = repository.parent / "molecule"
    state.mkdir()
    _run(repository, "molecule", "test", MOLECULE_EPHEMERAL_DIRECTORY=str(state))
    assert not (repository / ".cluster").exists()


@pytest.mark.nightly("a further scenario of Molecule, whose guest boots twice")
def test_a_guest_is_configured_and_made_larger(repository: Path) -> None:
    image = {"SHOP_IMAGE": str(guest_image("minimal"))}
    steps = ["create", "converge", "converge", "side_effect", "verify", "destroy"]
    changed = [(step, _play(repository, step, "guest", **image)) for step in steps]
    # The VM, and the folder and the page in its guest; then the VM alone, whose disk keeps them.
    assert changed == list(zip(steps, [2, 3, 0, 1, 0, 1]))
