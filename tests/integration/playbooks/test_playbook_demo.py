"""The demo and the roles as users run them: with ansible-playbook."""

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_environment import surroundings
from kubernetes import client, config

CHECKOUT = Path(__file__).parents[3]
Play = Callable[..., subprocess.CompletedProcess[str]]
FIRST = "first is a u1.medium with the preference fedora: 1 vCPU, 4Gi"


@pytest.fixture
def play(cluster: Path) -> Play:
    """play(playbook, *arguments): the finished ansible-playbook, with its output."""

    def run(playbook: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = surroundings(cluster, KUBECONFIG=str(cluster))
        command = [str(Path(sys.executable).parent / "ansible-playbook"), playbook, *arguments]
        return subprocess.run(command, env=environment, cwd=CHECKOUT, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def estate(cluster: Path) -> Iterator[tuple[str, str]]:
    """The names of two namespaces that the demo makes; they are deleted after the test."""
    run = uuid.uuid4().hex[:8]
    names = f"demo-{run}-shop", f"demo-{run}-office"
    yield names
    with config.new_client_from_config(str(cluster)) as connection:
        for name in names:
            client.CoreV1Api(connection).delete_namespace(name)


def shown(done: subprocess.CompletedProcess[str], *texts: str) -> None:
    """Asserts that a demo has ended well, and has shown the texts besides what every demo shows."""
    assert done.returncode == 0, done.stdout + done.stderr
    output = " ".join(done.stdout.split())
    for text in ("2 vCPUs would become 4, 4Gi would become 8Gi", "preference requires 2Gi", *texts):
        assert text in output


def test_the_demo_twice(play: Play, estate: tuple[str, str]) -> None:
    variables = ["-e", "use_cluster=true", "-e", f"demo_shop={estate[0]}", "-e", f"demo_office={estate[1]}"]
    for result in ("5 virtual machines: 5 created", "5 virtual machines: 5 unchanged"):
        shown(play("virtshape.instancetypes.demo", *variables), FIRST, result, "refreshed: database")


PLAYBOOK = """
- hosts: localhost
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.include_role:
        name: virtshape.instancetypes.common_instancetypes
      vars: {catalog}
"""


def catalog(play: Play, tmp_path: Path, **variables: Any) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "play.yml"
    result = {f"common_instancetypes_{name}": value for name, value in variables.items()}
    path.write_text(PLAYBOOK.format(catalog=result))
    return play(str(path))


def test_part_of_the_catalog_in_a_namespace(play: Play, namespace: str, tmp_path: Path) -> None:
    part: dict[str, Any] = {"namespace": namespace, "series": ["u1", "rt1"], "preferences": ["fedora", "windows.1*"]}
    first = catalog(play, tmp_path, **part)
    result = " ".join(first.stdout.split())
    assert "18 instancetypes, 5 preferences: 23 created" in result, first.stdout + first.stderr
    assert "23 unchanged" in catalog(play, tmp_path, **part).stdout
    assert "23 deleted" in catalog(play, tmp_path, **part, state="absent").stdout


def test_a_misspelt_name_deploys_nothing(play: Play, namespace: str, tmp_path: Path) -> None:
    refused = catalog(play, tmp_path, namespace=namespace, series=["u2"])
    assert refused.returncode != 0
    assert "u2" in refused.stdout
    assert "created" not in refused.stdout
