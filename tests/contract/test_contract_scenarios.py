"""The local cluster answers as the real KubeVirt did when the scenarios were recorded.

As the newest and the oldest release did; with RELEASES=all in the environment (`make contract RELEASES=all`) as all
that were recorded, with RELEASES=1.6.6,1.7.4 as those.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent))

from api import Api
from run import NEWEST, RELEASES, scenario_files

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.catalog.objects import expand_catalog

HERE = Path(__file__).parent
CATALOG = HERE.parents[1] / "roles" / "common_instancetypes" / "files" / "catalog"


RECORDED = [NEWEST, *sorted(path.name for path in RELEASES.iterdir())]
ASKED = os.environ.get("RELEASES") or f"{NEWEST},{RECORDED[1]}"


@pytest.fixture(scope="module", params=RECORDED if ASKED == "all" else ASKED.split(","))
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def own_cluster(release: str, launch: Callable[..., dict[str, Any]], run_cluster: tuple[str, ...]) -> Iterator[str]:
    """A cluster for these scenarios alone: some change its configuration, and they look at all there is."""
    _name, _tests, _dir, folder = run_cluster
    which = ("--name", "contract", "--dir", f"{folder}-contract-{release}")
    kubeconfig = str(launch("start", "--kubevirt-version", release, *which)["kubeconfig"])
    # The recorded clusters had no StorageClass, and CDI's kinds without CDI.
    for path in ("/apis/storage.k8s.io/v1/storageclasses/local", "/apis/cdi.kubevirt.io/v1beta1/cdis/cdi"):
        assert Api(kubeconfig).send("DELETE", path).code == 200
    yield kubeconfig
    launch("stop", "--remove", *which)


def test_all_scenarios(release: str, own_cluster: str, tmp_path: Path) -> None:
    objects = tmp_path / "catalog.yaml"
    definitions = [yaml.safe_load(path.read_text()) for path in sorted(CATALOG.glob("*.yml"))]
    objects.write_text(yaml.safe_dump_all(expand_catalog(*definitions)))
    command = [sys.executable, HERE / "run.py", HERE / "scenarios", "--kubeconfig", own_cluster, "--objects", objects]
    how = ["--release", release, "--jobs", "16", "--patience", "6"]
    done = subprocess.run([*command, *how], capture_output=True, text=True, check=False)
    scenarios = len(scenario_files(HERE / "scenarios", None if release == NEWEST else RELEASES / release))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"all {scenarios}/{scenarios}" in done.stdout


def test_admission_beside_the_scenarios(release: str, own_cluster: str) -> None:
    if release != NEWEST:
        pytest.skip("messages of other releases differ")
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
