"""The demo and the roles as users run them: with ansible-playbook."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_environment import played
from kubernetes import client, config

FIRST = "first is a u1.medium with the preference fedora: 1 vCPU, 4Gi"


@pytest.fixture
def estate(cluster: Path) -> Iterator[tuple[str, str]]:
    """The names of two namespaces that the demo makes; they are deleted after the test."""
    run = uuid.uuid4().hex[:8]
    names = f"demo-{run}-shop", f"demo-{run}-office"
    yield names
    with config.new_client_from_config(str(cluster)) as connection:
        for name in names:
            client.CoreV1Api(connection).delete_namespace(name)


def test_the_demo_twice(cluster: Path, estate: tuple[str, str], tmp_path: Path) -> None:
    variables = {"use_cluster": True, "demo_shop": estate[0], "demo_office": estate[1]}
    drift = ("2 vCPUs would become 4, 4Gi would become 8Gi", "preference requires 2Gi", "refreshed: database")
    for result in ("5 virtual machines: 5 created", "5 virtual machines: 5 unchanged"):
        place = {"kubeconfig": cluster, "KUBECONFIG": str(cluster)}
        output = played(tmp_path, "virtshape.instancetypes.demo", variables=variables, **place)
        assert [text for text in (FIRST, result, *drift) if text not in output] == []


def test_part_of_the_catalog_in_a_namespace(cluster: Path, namespace: str, tmp_path: Path) -> None:
    def deploy(fails: bool = False, **chosen: Any) -> str:
        chosen = {"namespace": namespace, **chosen}
        variables = {f"common_instancetypes_{name}": value for name, value in chosen.items()}
        role = {"role": "virtshape.instancetypes.common_instancetypes", "vars": variables}
        book = [{"hosts": "localhost", "gather_facts": False, "roles": [role]}]
        return played(tmp_path, book, fails=fails, kubeconfig=cluster)

    refused = deploy(fails=True, series=["u2"])
    assert "u2" in refused and "created" not in refused
    part: dict[str, Any] = {"series": ["u1", "rt1"], "preferences": ["fedora", "windows.1*"]}
    assert "18 instancetypes, 5 preferences: 23 created" in deploy(**part)
    assert "23 unchanged" in deploy(**part)
    assert "23 deleted" in deploy(**part, state="absent")
