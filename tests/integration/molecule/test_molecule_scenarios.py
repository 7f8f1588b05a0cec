"""The scenarios of extensions/molecule, as `molecule test` runs them, on the cluster of the test run."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_environment import ansible
from kubernetes import client, config

CHECKOUT = Path(__file__).resolve().parents[3]
SCENARIOS = sorted(path.parent.name for path in (CHECKOUT / "extensions" / "molecule").glob("*/molecule.yml"))
EACH = pytest.mark.nightly("a scenario of Molecule; tests of roles run its parts each day")
MARKS: dict[str, Any] = {"boot_sources": (pytest.mark.needs("cdi_here"), EACH)}
STEPS = ["destroy", "create", "prepare", "converge", "idempotence", "side_effect", "verify", "destroy"]


def molecule(command: str, scenario: str, state: Path, kubeconfig: Path | None) -> str:
    """Run a command of Molecule; its output. state: the scenario's ephemeral directory."""
    state.mkdir(exist_ok=True)
    environment = {
        **({} if kubeconfig is None else {"KUBECONFIG": str(kubeconfig)}),
        "MOLECULE_EPHEMERAL_DIRECTORY": str(state),
        "NO_COLOR": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    arguments = (command, "--scenario-name", scenario)
    code, printed = ansible(CHECKOUT, "molecule", *arguments, bare=True, **environment)
    assert code == 0, printed
    return printed


def executed(output: str, scenario: str) -> list[str]:
    """The steps that have passed, in order."""
    return re.findall(rf"\[{scenario} > (\w+)\] Executed: Successful", output)


def test_there_is_a_scenario_for_each_job() -> None:
    assert SCENARIOS == ["boot_sources", "catalog", "default", "fleet", "revision_refresh", "virtual_machines"]


def test_moved_recipes_are_in_the_ansible_section() -> None:
    example = CHECKOUT / "docs" / "examples" / "shop" / "molecule" / "default" / "molecule.yml"
    for path in (*(CHECKOUT / "extensions" / "molecule").glob("**/*.yml"), example):
        result = yaml.safe_load(path.read_text(encoding="utf-8"))
        if path.name in ("config.yml", "molecule.yml"):
            assert set(result.get("provisioner", {})) <= {"name", "inventory"}, path


@pytest.mark.parametrize(
    "scenario",
    [pytest.param(name, marks=MARKS.get(name, EACH)) for name in SCENARIOS],
)
def test_scenario_passes_and_cleans_a_given_cluster(cluster: Path, tmp_path: Path, scenario: str) -> None:
    assert executed(molecule("test", scenario, tmp_path / "state", cluster), scenario) == STEPS
    with config.new_client_from_config(str(cluster)) as connection:
        listed = client.CoreV1Api(connection).list_namespace().items
    left = [space.metadata.name for space in listed if space.status.phase == "Active"]
    assert not [name for name in left if name.startswith(f"molecule-{scenario.replace('_', '-')}-")]


@EACH
@pytest.mark.own_cluster
def test_scenario_starts_and_removes_its_own_cluster(tmp_path: Path, launch: Callable[..., Any]) -> None:
    state = tmp_path / "state"
    try:
        molecule("create", "default", state, None)
        assert (state / "kubeconfig").resolve() == (state / "cluster" / "kubeconfig").resolve()
        assert launch("status", "--dir", str(state / "cluster"))["state"] == "running"
        molecule("destroy", "default", state, None)
        assert not (state / "cluster").exists()
    finally:
        launch("stop", "--remove", "--dir", str(state / "cluster"), check=False)
