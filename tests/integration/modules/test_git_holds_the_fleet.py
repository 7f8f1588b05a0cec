"""Manifests in Git: the engine of Argo CD writes them, and says what is in sync after what users and KubeVirt do."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loaded_filters import FILTERS
from waiting import wait_until

from local_cluster.toolchain import find_go
from modules_support import claim_of, execute, network_of, objects

Manifest = dict[str, Any]
Argo = Callable[..., list[str]]

ENGINE = Path(__file__).parents[2] / "gitops"
ROOT = {"name": "root", "container_disk": "registry.example.com/disk:1"}
INTERFACES = [{"name": "default", "masquerade": {}}]

pytestmark = [pytest.mark.nightly("builds Argo CD's engine"), pytest.mark.needs("administrator")]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("engine") / "gitops"
    subprocess.run([find_go((1, 26)), "build", "-o", str(program), "."], cwd=ENGINE, check=True)
    return program


@pytest.fixture(params=["client-side apply", "server-side apply"])
def argo(request: pytest.FixtureRequest, engine: Path, cluster: Path, namespace: str) -> Argo:
    """argo(manifests, ignored, sync=False): what Argo CD shows as out of sync, after a sync if one is asked for."""

    def ask(manifests: list[Manifest], ignored: list[Manifest], sync: bool = False) -> list[str]:
        asked = {
            "namespace": namespace,
            "manifests": manifests,
            "ignoreDifferences": ignored,
            "serverSideApply": request.param == "server-side apply",
            "sync": sync,
        }
        environment = {**os.environ, "KUBECONFIG": str(cluster)}
        done = subprocess.run(
            [engine], input=json.dumps(asked), check=False, capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, done.stderr
        answers = json.loads(done.stdout)
        print(json.dumps([answer for answer in answers if not answer["synced"]], indent=1))
        return [f"{answer['kind']} {answer['name']}" for answer in answers if not answer["synced"]]

    return ask


def rendered(namespace: str, module: str, **options: Any) -> list[Manifest]:
    result = execute(module, {"namespace": namespace, "state": "rendered", **options})
    assert not result.get("failed"), result
    manifests: list[Manifest] = result["rendered"]
    return manifests


def fleet(namespace: str, cpus: int = 1, lan: str | None = None) -> list[Manifest]:
    """An instancetype, a preference and three VMs: with a network, with an inferred instancetype, with a new disk."""
    kinds = {
        "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
        "preference": {"name": "linux", "kind": "VirtualMachinePreference"},
    }
    interfaces = [*INTERFACES, {"name": "lan", "bridge": {}, **({"state": lan} if lan else {})}]
    networks = [{"name": "default", "pod": {}}, {"name": "lan", "multus": {"networkName": "lan"}}]
    if lan == "gone":
        del interfaces[1], networks[1]
    spec = {"networks": networks, "domain": {"devices": {"interfaces": interfaces}}}
    root = {"name": "root", "persistent_volume_claim": "root"}
    inferred = {"infer_from_volume": "root"}
    disk = {"name": "root", "import": {"blank": True, "size": "1Gi"}}
    vms = [
        {"name": "web", "volumes": [ROOT], "template": {"spec": spec}, **kinds},
        {"name": "db", "volumes": [root], "instancetype": inferred, "preference": {"infer": "none"}},
        {"name": "disk", "volumes": [disk], **kinds},
    ]
    return [
        *rendered(namespace, "instancetype", name="small", cpu={"guest": cpus}, memory={"guest": "1Gi"}),
        *rendered(namespace, "preference", name="linux", devices={"preferred_disk_bus": "virtio"}),
        *rendered(namespace, "virtual_machine", virtual_machines=vms),
    ]


def test_vms_stay_in_sync(cluster: Path, argo: Argo, namespace: str, api: Any) -> None:
    network_of(api, namespace, "lan")
    labels = {
        "instancetype.kubevirt.io/default-instancetype": "small",
        "instancetype.kubevirt.io/default-instancetype-kind": "VirtualMachineInstancetype",
    }
    claim_of(api, namespace, "root", labels=labels)
    vms = objects(api, "VirtualMachine")

    def live(name: str) -> Any:
        return vms.get(name=name, namespace=namespace)

    def in_sync(manifests: list[Manifest], *expected: str) -> None:
        ignored = FILTERS["ignore_differences"](manifests)
        assert argo(manifests, ignored) == []
        assert argo(manifests, ignored, sync=True) == []
        assert sorted(argo(manifests, [])) == sorted(expected)

    manifests = fleet(namespace)
    ignored = FILTERS["ignore_differences"](manifests)
    assert argo(manifests, ignored, sync=True) == []
    for name in ("web", "db", "disk"):
        wait_until(lambda name=name: (live(name).status or {}).get("ready"))
    in_sync(manifests, "VirtualMachine db")

    # A new size in Git; a refresh, which only the cluster sees.
    manifests = fleet(namespace, cpus=2)
    assert argo(manifests, ignored) == ["VirtualMachineInstancetype small"]
    assert argo(manifests, ignored, sync=True) == []
    refreshed = execute(
        "controller_revision",
        {"kubeconfig": str(cluster), "namespace": namespace, "names": ["web"], "state": "refreshed"},
    )
    assert refreshed["changed"], refreshed
    in_sync(manifests, "VirtualMachine db")

    # Users stop a VM, and start it again.
    for verb, strategy in (("stop", "Halted"), ("start", "Always")):
        path = f"/apis/subresources.kubevirt.io/v1/namespaces/{namespace}/virtualmachines/web/{verb}"
        api.request("put", path, body={}, header_params={"Accept": "*/*"})
        wait_until(lambda strategy=strategy: live("web").spec.runStrategy == strategy)
        stopped = ["VirtualMachine web"] if strategy == "Halted" else []
        in_sync(manifests, "VirtualMachine db", *stopped)
        assert live("web").spec.runStrategy == strategy

    # KubeVirt removes an absent interface once it is unplugged.
    wait_until(lambda: (live("web").status or {}).get("ready"))
    manifests = fleet(namespace, cpus=2, lan="absent")
    assert argo(manifests, ignored) == ["VirtualMachine web"]
    argo(manifests, ignored, sync=True)
    wait_until(lambda: len(live("web").spec.template.spec.networks) == 1)
    assert argo(manifests, ignored) == ["VirtualMachine web"]
    in_sync(fleet(namespace, cpus=2, lan="gone"), "VirtualMachine db")
