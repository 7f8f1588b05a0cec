"""Declared nodes: what the real kube-scheduler and the real admission refuse, the modules foresee.

The cluster is one of the test's own.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from waiting import wait_until

from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api import write
from plugins.module_utils._resolver.api.kinds import KINDS, Kind

sys.path.append(str(Path(__file__).parents[1] / "modules"))

from modules_support import execute

pytestmark = pytest.mark.own_cluster

Manifest = dict[str, Any]
VM, VMI, NODE = (KINDS[kind] for kind in ("VirtualMachine", "VirtualMachineInstance", "Node"))
NODES = [
    {"name": "small", "cpu": 4, "memory": "16Gi"},
    {"name": "reserved", "cpu": 64, "memory": "64Gi", "taints": [{"key": "reserved", "effect": "NoSchedule"}]},
]


@pytest.fixture(scope="module")
def kubeconfig(start_cluster: Callable[..., dict[str, str]]) -> str:
    nodes = ("--nodes", json.dumps(NODES))
    return start_cluster(*nodes, "--namespace", "shop", "--namespace", "team")["kubeconfig"]


@pytest.fixture
def api(kubeconfig: str) -> Session:
    return Session({"kubeconfig": kubeconfig, "retry_timeout": 30})


def _machine(name: str, memory: str = "1Gi", **domain: Any) -> Manifest:
    domain = {"devices": {}, "memory": {"guest": memory}, **domain}
    return {
        "apiVersion": VM.api_version,
        "kind": VM.kind,
        "metadata": {"name": name},
        "spec": {"runStrategy": "Always", "template": {"spec": {"domain": domain}}},
    }


def _pods(api: Session, namespace: str) -> list[Manifest]:
    result: list[Manifest] = api.request("GET", f"/api/v1/namespaces/{namespace}/pods")["items"]
    return result


def _status(api: Session, kind: Kind, namespace: str, name: str) -> Manifest:
    return (api.get(kind, namespace, name) or {}).get("status") or {}


def _wait_for(api: Session, namespace: str, name: str, status: str) -> None:
    wait_until(lambda: _status(api, VM, namespace, name).get("printableStatus") == status)


def test_vm_that_fits_no_node_stays_unschedulable(api: Session, kubeconfig: str) -> None:
    manifests = [
        _machine("fits", "4Gi"),
        _machine("processors", resources={"requests": {"cpu": "8"}}),
        _machine("memory", "32Gi"),
    ]
    result = execute("capacity_info", {"kubeconfig": kubeconfig, "namespace": "shop", "manifests": manifests})
    foreseen = {item["name"]: item for item in result["virtual_machines"]}
    assert {name: item["placement"].get("node") for name, item in foreseen.items()} == {
        "fits": "small",
        "processors": None,
        "memory": None,
    }
    for body in manifests:
        api.write(write.create(VM.path("shop"), body))
    _wait_for(api, "shop", "fits", "Running")
    assert _status(api, VMI, "shop", "fits")["nodeName"] == "small"
    for name, resource in (("processors", "cpu"), ("memory", "memory")):
        _wait_for(api, "shop", name, "ErrorUnschedulable")
        (pod,) = [
            item
            for item in _pods(api, "shop")
            if (item["metadata"].get("annotations") or {}).get("kubevirt.io/domain") == name
        ]
        assert pod["status"]["phase"] == "Pending"
        (scheduled,) = [item for item in pod["status"]["conditions"] if item["type"] == "PodScheduled"]
        assert f"Insufficient {resource}" in scheduled["message"]
        assert "untolerated taint" in scheduled["message"]
        assert "small lacks" in foreseen[name]["problem"]
        assert resource in foreseen[name]["problem"]
        assert foreseen[name]["fits"] is False


QUOTAS = "/api/v1/namespaces/team/resourcequotas"


def _used(api: Session) -> Any:
    return (api.request("GET", f"{QUOTAS}/team").get("status") or {}).get("used", {}).get("requests.memory")


def test_exceeded_quota_refuses_the_pod(api: Session, kubeconfig: str) -> None:
    hard = {"requests.memory": "3Gi"}
    api.request("POST", QUOTAS, body={"metadata": {"name": "team"}, "spec": {"hard": hard}})
    manifests = [_machine("one", "2Gi"), _machine("two", "2Gi")]
    # The controller has counted what there is.
    wait_until(lambda: _used(api) == "0")
    result = execute("capacity_info", {"kubeconfig": kubeconfig, "namespace": "team", "manifests": manifests})
    assert [item["fits"] for item in result["virtual_machines"]] == [True, False]
    assert "ResourceQuota team lacks " in result["virtual_machines"][1]["problem"]
    api.write(write.create(VM.path("team"), manifests[0]))
    _wait_for(api, "team", "one", "Running")
    assert _used(api) != "0"
    api.write(write.create(VM.path("team"), manifests[1]))

    def is_refused() -> bool:
        conditions = _status(api, VMI, "team", "two").get("conditions") or []
        return any("exceeded quota: team" in (item.get("message") or "") for item in conditions)

    wait_until(is_refused)
    assert len(_pods(api, "team")) == 1


def test_nodes_are_as_declared(api: Session) -> None:
    nodes = {item["metadata"]["name"]: item for item in api.list(NODE, None)}
    assert set(nodes) == {"small", "reserved"}
    assert nodes["small"]["status"]["allocatable"]["cpu"] == "4"
    assert nodes["reserved"]["spec"]["taints"] == NODES[1]["taints"]
