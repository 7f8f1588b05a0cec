"""The module boot_source_info beside boot sources that the module boot_source and others have made."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback_registry import LoopbackRegistry
from waiting import wait_until

from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS

Run = Callable[..., dict[str, Any]]

pytestmark = pytest.mark.needs("cdi_here")

LABEL = "instancetype.kubevirt.io/default-"
KIND_OF = {"instancetype": "VirtualMachineInstancetype", "preference": "VirtualMachinePreference"}


@pytest.fixture
def registry(registry: LoopbackRegistry) -> LoopbackRegistry:
    registry.push("disks/linux", "1", {"amd64": ["BUILT=1"]})
    registry.push("disks/large", "1", {"amd64": []}, size=2 << 30)
    return registry


@pytest.fixture
def findings(run: Run, shop: str) -> Callable[..., dict[str, list[str]]]:
    """findings(**options): the words of the findings, by the names of the boot sources of the namespace."""

    def one(**options: Any) -> dict[str, list[str]]:
        result = run("boot_source_info", namespace=shop, **options)
        assert not result.get("failed"), result
        return {
            source["name"]: [finding["finding"] for finding in source["findings"]] for source in result["boot_sources"]
        }

    return one


def defaults(**names: str) -> dict[str, Any]:
    return {role: {"name": name, "kind": KIND_OF[role]} for role, name in names.items()}


def test_boot_source_problems_are_reported(
    run: Run, shop: str, findings: Callable[..., dict[str, list[str]]], registry: LoopbackRegistry, cluster: Path
) -> None:
    image = f"{registry.address}/disks/linux:1"
    good = {"image": image, "size": "1Gi", "insecure_registry": True}
    entries = [
        {"name": "good", **good, **defaults(instancetype="small", preference="linux")},
        {"name": "small", "pvc": {"name": "a"}, **defaults(instancetype="tiny", preference="linux")},
        {"name": "gone", "pvc": {"name": "b"}, **defaults(instancetype="lost", preference="linux")},
        {"name": "half", "pvc": {"name": "c"}, **defaults(preference="linux")},
        {"name": "mute", "pvc": {"name": "d"}},
    ]
    session = Session({"kubeconfig": str(cluster)})
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    for name in "abcd":
        body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": claim}
        session.request("POST", KINDS["PersistentVolumeClaim"].path(shop), body=body)
    created = run("boot_source", namespace=shop, boot_sources=entries, preflight="off", wait=True)
    assert created["msg"] == "5 boot sources: 5 created", created
    volume = next(item["metadata"]["name"] for item in session.list(KINDS["DataVolume"], shop))
    large = {**good, "image": f"{registry.address}/disks/large:1", **defaults(instancetype="small", preference="linux")}
    assert run("boot_source", namespace=shop, name="large", **large)["changed"]

    expected = {
        "good": [],
        "small": ["unfit_defaults"],
        "gone": ["missing_default"],
        "half": ["incomplete_defaults"],
        "mute": ["no_defaults"],
        "large": ["not_ready"],
    }
    # CDI makes the volume of the last one a moment after the task.
    wait_until(lambda: findings() == expected)
    assert set(findings(with_findings=True)) == set(expected) - {"good"}
    assert findings(with_findings=False, query_registry=True, insecure_registry=True) == {"good": []}

    registry.push("disks/linux", "1", {"amd64": ["BUILT=2"]})
    assert findings(name="good") == {"good": []}, "nobody asks a registry unless that is wanted"
    assert findings(name="good", query_registry=True, insecure_registry=True) == {"good": ["outdated"]}
    registry.broken = True
    assert findings(name="good", query_registry=True, insecure_registry=True) == {"good": ["registry_unknown"]}

    result = run("boot_source_info", namespace=shop, names=["good", "small"])
    assert result["msg"] == "2 boot sources, 1 with findings" and not result["changed"]
    item, small = result["boot_sources"]
    assert item["image"] == image and item["volumes"] == [volume] and item["age_days"] == 0
    assert item["instancetype"] == {"name": "small", "kind": "VirtualMachineInstancetype"}
    assert item["target_ref"] == {"kind": "PersistentVolumeClaim", "namespace": shop, "name": volume}
    assert "preference requires 2Gi" in small["findings"][0]["text"]
