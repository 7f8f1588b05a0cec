"""The configuration file."""

import json
from pathlib import Path
from typing import Any

import pytest

from node.config import Config, ConfigError, load

NEEDED = {"kubeconfig": "k", "port": 1, "tls_cert": "c", "tls_key": "t", "ready_file": "r"}


def loaded(folder: Path, **values: Any) -> Config:
    file = folder / "config.json"
    file.write_text(json.dumps({**NEEDED, **values}))
    return load(str(file))


def test_configuration_without_nodes_gets_two_nodes(tmp_path: Path) -> None:
    config = loaded(tmp_path, nodes=[])
    assert [entry.name for entry in config.nodes] == ["node01", "node02"]
    assert config.bind and config.guest_agent and not config.migratable


def test_numbers_are_texts_in_nodes(tmp_path: Path) -> None:
    (node,) = loaded(tmp_path, nodes=[{"name": "a", "cpu": 4, "devices": {"example.com/gpu": 2}, "labels": None}]).nodes
    assert (node.cpu, node.devices, node.labels) == ("4", {"example.com/gpu": "2"}, {})


@pytest.mark.parametrize("values", [{"colour": "red"}, {"nodes": [{"name": "a", "colour": "red"}]}, {"nodes": [{}]}])
def test_invalid_configuration_names_its_file(tmp_path: Path, values: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"config\.json"):
        loaded(tmp_path, **values)


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        load(str(tmp_path / "none"))
