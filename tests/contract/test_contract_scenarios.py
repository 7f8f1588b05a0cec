"""The local cluster answers as the real KubeVirt did when the scenarios were recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent))

from api import Api

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.catalog.objects import expand_catalog

HERE = Path(__file__).parent
CATALOG = HERE.parents[1] / "roles" / "common_instancetypes" / "files" / "catalog"


@pytest.fixture(scope="module")
def own_cluster(launch: Callable[..., dict[str, Any]], run_cluster: tuple[str, ...]) -> Iterator[str]:
    """A cluster for these scenarios alone: some change its configuration, and they look at all there is."""
    _name, _tests, _dir, folder = run_cluster
    which = ("--name", "contract", "--dir", f"{folder}-contract")
    kubeconfig = str(launch("start", *which)["kubeconfig"])
    # The recorded clusters had no StorageClass.
    assert Api(kubeconfig).send("DELETE", "/apis/storage.k8s.io/v1/storageclasses/local").code == 200
    yield kubeconfig
    launch("stop", "--remove", *which)


def test_all_scenarios(own_cluster: str, tmp_path: Path) -> None:
    objects = tmp_path / "catalog.yaml"
    definitions = [yaml.safe_load(path.read_text()) for path in sorted(CATALOG.glob("*.yml"))]
    objects.write_text(yaml.safe_dump_all(expand_catalog(*definitions)))
    command = [sys.executable, HERE / "run.py", HERE / "scenarios", "--kubeconfig", own_cluster, "--objects", objects]
    done = subprocess.run([*command, "--jobs", "16", "--patience", "6"], capture_output=True, text=True, check=False)
    scenarios = len(list((HERE / "scenarios").glob("*.json")))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"all {scenarios}/{scenarios}" in done.stdout


def test_admission_beside_the_scenarios(own_cluster: str) -> None:
    command = [
        sys.executable,
        HERE / "admission" / "record.py",
        "--kubeconfig",
        own_cluster,
        "--print",
        "--pause",
        "0.3",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    recorded = json.loads((HERE / "admission" / "recorded.json").read_text())
    answers = json.loads(done.stdout)
    assert {name: answer for name, answer in answers.items() if answer != recorded[name]} == {}
    assert answers.keys() == recorded.keys()
