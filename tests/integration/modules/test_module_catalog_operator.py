"""catalog beside virt-operator, with the real KubeVirt object. The test does what virt-operator would: none runs."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import config, dynamic
from old_discovery import Discoverer

from modules_support import Task, objects

pytestmark = pytest.mark.own_cluster

OPTION = "common_instancetypes_deployment"
FILES = Path(__file__).resolve().parents[3] / "roles/common_instancetypes/files/catalog"
COMMON = {
    "source": "definitions",
    "definitions": [yaml.safe_load(path.read_text()) for path in sorted(FILES.glob("*.yml"))],
    "catalog": "common",
    "series": ["u1"],
    "preferences": ["fedora"],
}


@pytest.fixture
def own_cluster(start_cluster: Callable[..., dict[str, Any]]) -> Path:
    """A cluster for this test alone, which deletes the cluster's instancetypes."""
    return Path(start_cluster("--name", "operator")["kubeconfig"])


def test_one_owner_at_a_time(own_cluster: Path) -> None:
    task = Task(own_cluster)

    def deploy(choice: str, check: bool = False) -> dict[str, Any]:
        return task("catalog", check=check, **{OPTION: choice, **COMMON})

    def info() -> dict[str, Any]:
        result: dict[str, Any] = task("catalog_info", scope="cluster")[OPTION]
        return result

    with config.new_client_from_config(str(own_cluster)) as connection:
        api = dynamic.DynamicClient(connection, discoverer=Discoverer)
        there = info()["objects"]
        assert info()["enabled"] and there > 100
        task.refused("catalog", **{OPTION: "fail", **COMMON})
        kept = deploy("keep")
        assert not kept["changed"] and kept["counts"]["kept"] == kept["counts"]["instancetypes"] + 1
        checked = deploy("disable", check=True)
        assert checked[OPTION] == {"enabled": False, "changed": True} and info()["enabled"]
        operator = threading.Thread(target=delete_once_disabled, args=(api,))
        operator.start()
        taken = deploy("disable")
        operator.join()
        assert taken["counts"]["created"] == taken["counts"]["instancetypes"] + 1, taken["msg"]
        assert info() == {"enabled": False, "objects": 0}
        again = deploy("disable")
        assert not again["changed"] and again["counts"]["unchanged"] == taken["counts"]["created"]
        given_back = deploy("enable")
        assert given_back[OPTION] == {"enabled": True, "changed": True} and info()["enabled"]
        assert not deploy("enable")["changed"]


def delete_once_disabled(api: Any) -> None:
    """Deletes the labelled objects once the field says so, like virt-operator."""
    kubevirts = api.resources.get(api_version="kubevirt.io/v1", kind="KubeVirt")
    for event in api.watch(kubevirts, timeout=120):
        field = event["raw_object"]["spec"]["configuration"].get("commonInstancetypesDeployment") or {}
        if field.get("enabled") is False:
            break
    for kind in ("VirtualMachineClusterInstancetype", "VirtualMachineClusterPreference"):
        objects(api, kind).delete(label_selector="app.kubernetes.io/managed-by=virt-operator")
