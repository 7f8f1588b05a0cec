"""The option infer_from_registry: VMs get what the images of their disks say."""

from typing import Any

import pytest
from loopback_registry import LoopbackRegistry

from modules_support import Run, Task, objects
from plugins.module_utils._cluster.client.connections import USER_AGENT

MARK = "INSTANCETYPE_KUBEVIRT_IO_DEFAULT_"
DEFAULTS = [
    f"{MARK}INSTANCETYPE=small",
    f"{MARK}INSTANCETYPE_KIND=VirtualMachineInstancetype",
    f"{MARK}PREFERENCE=linux",
    f"{MARK}PREFERENCE_KIND=VirtualMachinePreference",
]
KIND = "VirtualMachineInstancetype"
MATCHERS = {
    "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
    "preference": {"name": "linux", "kind": "VirtualMachinePreference"},
}


@pytest.fixture
def registry(registry: LoopbackRegistry) -> LoopbackRegistry:
    registry.push("disks/linux", "1", {"amd64": DEFAULTS, "arm64": ["PATH=/bin"]})
    registry.push("disks/silent", "1", {"amd64": ["PATH=/bin"]})
    return registry


@pytest.fixture
def vms(task: Task, shop: str) -> Run:
    """vms(*entries, check=False, **options): the result of the VMs, which infer from registries."""

    def one(*entries: dict[str, Any], check: bool = False, **options: Any) -> dict[str, Any]:
        given = {"infer_from_registry": True, "insecure_registry": True, "run_strategy": "Halted", **options}
        return task.outcome("virtual_machine", check=check, virtual_machines=list(entries), **given)

    return one


def matchers(api: Any, namespace: str, name: str) -> dict[str, Any]:
    live = objects(api, "VirtualMachine").get(name=name, namespace=namespace)
    spec = live.to_dict()["spec"]
    return {role: {part: spec[role][part] for part in ("name", "kind")} for role in MATCHERS if spec.get(role)}


def test_container_disks_and_imports_supply_vm_options(
    vms: Run, registry: LoopbackRegistry, api: Any, shop: str
) -> None:
    image = f"{registry.address}/disks/linux:1"
    entries = [
        {"name": "disk", "boot": {"container_disk": image}},
        {"name": "import", "boot": {"url": f"docker://{image}", "size": "1Gi"}},
        {"name": "own", "boot": {"container_disk": image}, "instancetype": {"name": "medium", "kind": KIND}},
    ]
    foreseen = vms(*entries, check=True)
    assert [item["action"] for item in foreseen["results"]] == ["create"] * 3, foreseen
    registry.agents.clear()

    result = vms(*entries)

    assert result["msg"] == "3 virtual machines: 3 created", result
    # An index, a manifest and a configuration, for all three of them; CDI may be importing already.
    assert registry.agents.count(USER_AGENT) == 3
    assert [matchers(api, shop, name) for name in ("disk", "import")] == [MATCHERS, MATCHERS]
    assert matchers(api, shop, "own") == {**MATCHERS, "instancetype": {"name": "medium", "kind": KIND}}

    # Another image under the same tag does not resize a VM, and a converged run asks nobody.
    registry.push("disks/linux", "1", {"amd64": [f"{MARK}INSTANCETYPE=medium", f"{MARK}PREFERENCE=linux"]})
    registry.agents.clear()
    assert vms(*entries)["msg"] == "3 virtual machines: 3 unchanged"
    assert registry.agents.count(USER_AGENT) == 0


def test_unreachable_registry_and_image_without_labels(
    vms: Run, registry: LoopbackRegistry, api: Any, shop: str
) -> None:
    silent, gone = f"{registry.address}/disks/silent:1", "127.0.0.1:1/disks/linux:1"
    auto = {"instancetype": {"infer": "auto"}, "preference": {"infer": "auto"}}
    entries = [
        {"name": "a", "boot": {"container_disk": gone}},
        {"name": "b", "boot": {"container_disk": silent}},
        {"name": "c", "boot": {"container_disk": gone}, **auto},
        {"name": "d", "boot": {"container_disk": silent}, **auto},
    ]

    result = vms(*entries)

    assert result["msg"].startswith("2 of 4 virtual machines failed: "), result
    a, b, c, d = result["results"]
    assert f"cannot ask for the image {gone} of the volume boot: cannot reach 127.0.0.1:1: " in a["msg"]
    assert (
        f"the image {silent} of the volume boot has no variable {MARK}INSTANCETYPE; set instancetype.name" in b["msg"]
    )
    assert c["changed"] and c["warnings"][0].startswith(f"the VM gets no instancetype: cannot ask for the image {gone}")
    assert d["changed"] and "warnings" not in d
    assert matchers(api, shop, "c") == matchers(api, shop, "d") == {}
    again = vms(*entries[2:])
    assert again["msg"] == "2 virtual machines: 2 unchanged", again


def test_preflight_warns_of_ignored_inference_failure(vms: Run, shop: str) -> None:
    """KubeVirt accepts such a VM without a word."""
    ignored = {"inferFromVolume": "boot", "inferFromVolumeFailurePolicy": "Ignore"}
    spec = {"instancetype": ignored, "preference": ignored}
    entry = {"name": "a", "boot": {"container_disk": "quay.io/containerdisks/fedora:latest"}, "spec": spec}

    result = vms(entry, infer_from_registry=False, memory="1Gi")["results"][0]

    assert result["changed"], result
    assert result["warnings"] == [
        f"spec.{role}: the VM gets none, since KubeVirt is unable to infer defaults from volume boot as type is not"
        f" supported; add {role}.name, or set infer_from_registry"
        for role in MATCHERS
    ]
