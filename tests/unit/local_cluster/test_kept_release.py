"""A start without a release keeps that of the data, and says so."""

import json
from pathlib import Path
from typing import Any

import pytest

from local_cluster import cli, cluster
from local_cluster.paths import Layout, write_json

OLD = "1.4.0"


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[cluster.Settings]:
    """The settings of each start, which starts nothing."""
    settings: list[cluster.Settings] = []

    def start(_layout: Layout, given: cluster.Settings, *_more: Any, **_options: Any) -> dict[str, Any]:
        settings.append(given)
        return {}

    monkeypatch.setattr(cluster, "start", start)
    return settings


def _data(folder: Path, *, kubevirt: bool = True) -> None:
    (folder / "etcd" / "member").mkdir(parents=True)
    write_json(Layout(folder).cluster, {"settings": {"kubevirt": kubevirt, "kubevirt_version": OLD}})


def test_release_of_the_data_is_kept_and_named(
    tmp_path: Path, chosen: list[cluster.Settings], capsys: pytest.CaptureFixture[str]
) -> None:
    _data(tmp_path)
    assert cli.main(["start", "--dir", str(tmp_path)]) == 0
    output = capsys.readouterr()
    note = f"kubevirt_version: the cluster keeps KubeVirt {OLD}, which wrote its data; set 1.9.0 to upgrade them"
    assert chosen[0].kubevirt_version == OLD
    assert json.loads(output.out) == {"note": note} and output.err == f"{note}\n"


@pytest.mark.parametrize("options", [["--kubevirt-version", "1.9.0"], ["--no-kubevirt"]])
def test_named_release_upgrades_the_data(
    tmp_path: Path, chosen: list[cluster.Settings], capsys: pytest.CaptureFixture[str], options: list[str]
) -> None:
    _data(tmp_path)
    assert cli.main(["start", "--dir", str(tmp_path), *options]) == 0
    assert chosen[0].kubevirt_version == "1.9.0"
    assert json.loads(capsys.readouterr().out) == {}


def test_cluster_without_data_gets_the_default(tmp_path: Path, chosen: list[cluster.Settings]) -> None:
    write_json(Layout(tmp_path).cluster, {"settings": {"kubevirt": True, "kubevirt_version": OLD}})
    assert cli.main(["start", "--dir", str(tmp_path)]) == 0
    _data(tmp_path / "without", kubevirt=False)
    assert cli.main(["start", "--dir", str(tmp_path / "without")]) == 0
    assert [settings.kubevirt_version for settings in chosen] == ["1.9.0", "1.9.0"]
