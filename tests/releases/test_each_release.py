"""Each release of KubeVirt that the local cluster offers: it starts, and the demo and the property tests pass on it.

`make nightly` takes the oldest, VIRTSHAPE_TEST_RELEASES=all all of them.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ansible_environment import CHECKOUT, surroundings
from kubernetes import client, config

from chosen_releases import ALL
from local_cluster import versions

Launch = Callable[..., dict[str, Any]]

RELEASES = list(versions.kubevirt())
PROPERTIES = CHECKOUT / "tests" / "integration" / "properties"
SNAPSHOTS = CHECKOUT / "tests" / "integration" / "modules" / "test_module_virtual_machine_snapshot.py"


@pytest.mark.own_cluster
@pytest.mark.nightly("another release of KubeVirt")
@pytest.mark.parametrize("release", RELEASES if ALL else RELEASES[-1:])
def test_release_starts_and_runs_the_demo(launch: Launch, tmp_path: Path, release: str) -> None:
    where = ("--name", f"release-{release.replace('.', '-')}", "--dir", str(tmp_path / "cluster"))
    try:
        result = launch("start", "--kubevirt-version", release, *where)
        assert result["kubevirt_version"] == release
        kubeconfig = result["kubeconfig"]
        _pass(kubeconfig, "ansible-playbook", "virtshape.instancetypes.demo", "-e", "use_cluster=true")
        if ALL:
            _pass(kubeconfig, "pytest", "-m", "not own_cluster", str(PROPERTIES))
        # KubeVirt 1.4 stops no VM to restore it, and has an older API of clones.
        if ALL and not release.startswith("1.4."):
            _open_gate(kubeconfig, "Snapshot")
            _pass(kubeconfig, "pytest", str(SNAPSHOTS))
    finally:
        launch("stop", "--remove", *where, check=False)


def _open_gate(kubeconfig: str, gate: str) -> None:
    """Opens a feature gate. A release in which the feature is general ignores it."""
    configuration = {"developerConfiguration": {"featureGates": [gate]}}
    with config.new_client_from_config(kubeconfig) as connection:
        client.CustomObjectsApi(connection).patch_namespaced_custom_object(
            "kubevirt.io", "v1", "kubevirt", "kubevirts", "kubevirt", {"spec": {"configuration": configuration}}
        )


def _pass(kubeconfig: str, program: str, *arguments: str) -> None:
    command = [str(Path(sys.executable).parent / program), *arguments]
    environment = surroundings(kubeconfig, KUBECONFIG=kubeconfig)
    # Else pytest takes itself for a worker of the run that it is started by.
    environment.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(command, env=environment, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-5000:]
