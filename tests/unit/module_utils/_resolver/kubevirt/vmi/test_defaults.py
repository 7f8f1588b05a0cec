"""The cluster's configuration and the defaults that come from it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import release, schema
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.config.cluster import KubeVirt
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi import defaults
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.defaults import (
    set_vmi_defaults,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.hotplug import (
    LiveUpdateLimits,
    limits,
    set_maximums,
)


def spec(**fields: Any) -> dict[str, Any]:
    return schema.canonical("VirtualMachineInstanceSpec", fields)


def with_defaults(config: dict[str, Any] | None = None, version: str = "1.9", **fields: Any) -> dict[str, Any]:
    result = spec(**fields)
    assert defaults.set_spec_defaults(result, KubeVirt(release.parse_release(version), config or {})) is None
    return result


@pytest.mark.parametrize(
    "settings",
    [
        {"network": {"defaultNetworkInterface": "tap"}},
        {"imagePullPolicy": "Sometimes"},
        {"developerConfiguration": {"memoryOvercommit": -1}},
        {"developerConfiguration": {"cpuAllocationRatio": -1}},
        {"developerConfiguration": {"pvcTolerateLessSpaceUpToPercent": 101}},
        {"developerConfiguration": {"pvcTolerateLessSpaceUpToPercent": -1}},
        {"cpuRequest": "much"},
    ],
)
def test_invalid_configuration_is_ignored_as_a_whole(settings: dict[str, Any]) -> None:
    assert KubeVirt(NEWEST, {**settings, "machineType": "pc"}).configuration == {}


@pytest.mark.parametrize(
    "settings",
    [
        {"imagePullPolicy": "Always"},
        {"imagePullPolicy": "Never"},
        {"imagePullPolicy": "IfNotPresent"},
        {"developerConfiguration": {"cpuAllocationRatio": 1, "pvcTolerateLessSpaceUpToPercent": 100}},
        {"developerConfiguration": {"memoryOvercommit": 0, "cpuAllocationRatio": 0}},
    ],
)
def test_valid_configuration_is_used(settings: dict[str, Any]) -> None:
    assert KubeVirt(NEWEST, {**settings, "machineType": "pc"}).machine_type("amd64") == "pc"


def test_settings_of_configuration() -> None:
    settings = {
        "cpuRequest": "0.3",
        "evictionStrategy": "LiveMigrate",
        "network": {"defaultNetworkInterface": "masquerade", "permitBridgeInterfaceOnPodNetwork": False},
        "developerConfiguration": {"memoryOvercommit": 1},
        "architectureConfiguration": {"arm64": {"machineType": "virt-9"}, "amd64": {}},
    }
    kubevirt = KubeVirt(NEWEST, settings, "s390x")
    machines = [kubevirt.machine_type(name) for name in ("amd64", "arm64", "s390x")]
    assert machines == ["q35", "virt-9", "s390-ccw-virtio"]
    assert (kubevirt.cpu_request, kubevirt.network_interface, kubevirt.bridge_permitted) == (
        "300m",
        "masquerade",
        False,
    )
    assert (kubevirt.eviction_strategy, kubevirt.memory_overcommit) == ("LiveMigrate", 1)


def test_empty_settings_are_defaults() -> None:
    empty = {
        "machineType": "",
        "network": {"defaultNetworkInterface": ""},
        "architectureConfiguration": {"amd64": None},
    }
    for kubevirt in (KubeVirt(NEWEST, empty), KubeVirt(NEWEST)):
        assert (kubevirt.machine_type("amd64"), kubevirt.network_interface) == ("q35", "bridge")
        assert kubevirt.bridge_permitted


@pytest.mark.parametrize(
    ("architecture", "machine"),
    [("amd64", "pc-q35-10"), ("arm64", "virt"), ("s390x", "s390-ccw-virtio-9"), ("riscv64", "pc-q35-10")],
)
def test_machine_type_by_architecture(architecture: str, machine: str) -> None:
    types = {"amd64": {"machineType": "pc-q35-10"}, "s390x": {"machineType": "s390-ccw-virtio-9"}}
    settings = {"architectureConfiguration": types}
    assert KubeVirt(NEWEST, settings).machine_type(architecture) == machine
    assert KubeVirt(NEWEST, {**settings, "machineType": "all"}).machine_type(architecture) == "all"


@pytest.mark.parametrize(
    ("memory", "resources", "guest"),
    [
        ({}, {"requests": {"memory": "0"}, "limits": {"memory": "1Gi"}}, "1Gi"),
        ({}, {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}, "2Gi"),
        ({"guest": "0"}, {"requests": {"memory": "2Gi"}}, "0"),
        ({"hugepages": {"pageSize": "2048Ki"}}, {}, "2Mi"),
        ({"hugepages": {"pageSize": "big"}}, {}, None),
        ({"hugepages": {}}, {}, None),
        ({}, {}, None),
    ],
)
def test_guest_memory(memory: dict[str, Any], resources: dict[str, Any], guest: str | None) -> None:
    result = with_defaults(domain={"devices": {}, "memory": memory, "resources": resources})
    assert result["domain"]["memory"].get("guest") == guest


@pytest.mark.parametrize(
    ("resources", "sockets", "request_"),
    [
        ({"limits": {"cpu": "1500m"}, "requests": {"cpu": "7"}}, 2, "7"),
        ({"limits": {"cpu": "3"}, "requests": {"cpu": "0"}}, 3, "3"),
        ({"limits": {"cpu": "0"}, "requests": {"cpu": "2"}}, None, "2"),
        ({"requests": {"cpu": "5"}}, 5, "5"),
        ({}, 1, None),
    ],
)
def test_topology_from_resources(resources: dict[str, Any], sockets: int | None, request_: str | None) -> None:
    domain = with_defaults(domain={"devices": {}, "resources": resources})["domain"]
    assert domain["cpu"].get("sockets") == sockets
    assert domain["resources"].get("requests", {}).get("cpu") == request_


def test_default_cpu_request_is_not_written() -> None:
    assert with_defaults({"cpuRequest": "0.1"}, domain={"devices": {}})["domain"]["resources"] == {}
    requests = with_defaults({"cpuRequest": "0.2"}, domain={"devices": {}})["domain"]["resources"]["requests"]
    assert requests == {"cpu": "200m"}


@pytest.mark.parametrize(
    ("cpu", "resources", "request_"),
    [
        ({}, {}, "200m"),
        ({"dedicatedCpuPlacement": True}, {}, None),
        ({}, {"requests": {"cpu": "3"}}, "3"),
        ({}, {"limits": {"cpu": "3"}}, "3"),
    ],
)
def test_cpu_request_of_cluster(cpu: dict[str, Any], resources: dict[str, Any], request_: str | None) -> None:
    domain = {"devices": {}, "cpu": cpu, "resources": resources}
    resources_after = with_defaults({"cpuRequest": "200m"}, domain=domain)["domain"]["resources"]
    assert resources_after.get("requests", {}).get("cpu") == request_


@pytest.mark.parametrize("field", ["sockets", "cores", "threads"])
def test_topology_of_vm_stays(field: str) -> None:
    domain = {"devices": {}, "cpu": {field: 2}, "resources": {"limits": {"cpu": "4"}}}
    assert with_defaults(domain=domain)["domain"]["cpu"] == {field: 2}


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("disk", "Always"),
        ("disk:latest", "Always"),
        ("disk:1", "IfNotPresent"),
        ("disk@sha256", "IfNotPresent"),
    ],
)
def test_image_pull_policy(image: str, policy: str) -> None:
    volumes = [{"name": "a", "containerDisk": {"image": image}}, {"name": "b", "emptyDisk": {"capacity": "1Gi"}}]
    volumes_after = with_defaults(domain={"devices": {}}, volumes=volumes)["volumes"]
    assert volumes_after[0]["containerDisk"]["imagePullPolicy"] == policy


@pytest.mark.parametrize(
    "fields",
    [
        {"networks": [{"name": "own", "multus": {"networkName": "n"}}]},
        {"domain": {"devices": {"interfaces": [{"name": "own", "bridge": {}}]}}},
        {"domain": {"devices": {"autoattachPodInterface": False}}},
    ],
)
def test_no_network_is_added_to_own_networks(fields: dict[str, Any]) -> None:
    before = spec(**{"domain": {"devices": {}}, **fields})
    after = spec(**{"domain": {"devices": {}}, **fields})
    assert defaults.add_network_interface(after, KubeVirt(NEWEST)) is None
    assert after == before


def test_refused_interface_adds_no_disks() -> None:
    config = KubeVirt(NEWEST, {"network": {"permitBridgeInterfaceOnPodNetwork": False}})
    vmi_spec = spec(domain={"devices": {}}, volumes=[{"name": "a", "containerDisk": {"image": "x"}}])
    problem = defaults.set_spec_defaults(vmi_spec, config)
    assert problem is not None and problem.message == "bridge interface is not enabled in kubevirt-config"
    assert "disks" not in vmi_spec["domain"]["devices"]
    assert defaults.set_spec_defaults(vmi_spec, KubeVirt(NEWEST)) is None
    assert vmi_spec["domain"]["devices"]["disks"] == [{"name": "a"}]


def test_slirp_fails_only_for_an_added_interface() -> None:
    config = KubeVirt(NEWEST, {"network": {"defaultNetworkInterface": "slirp"}})
    problem = defaults.add_network_interface(spec(domain={"devices": {}}), config)
    assert problem is not None
    assert problem.message == "slirp interface is deprecated as of v1.3"
    assert defaults.add_network_interface(spec(domain={"devices": {"autoattachPodInterface": False}}), config) is None


def test_defaults_are_set_once() -> None:
    volumes = [{"name": "a", "containerDisk": {"image": "x"}}]
    first = with_defaults(domain={"devices": {}}, volumes=volumes)
    second = schema.canonical("VirtualMachineInstanceSpec", first)
    assert defaults.set_spec_defaults(second, KubeVirt(NEWEST)) is None
    assert second == first


@pytest.mark.parametrize(
    ("resources", "requested"),
    [
        ({"limits": {"memory": "3Gi"}}, "3Gi"),
        ({"limits": {"memory": "3Gi"}, "requests": {"memory": "0"}}, "3Gi"),
        ({"limits": {"memory": "3Gi"}, "requests": {"memory": "2Gi"}}, "2Gi"),
        ({"limits": {"memory": "0"}}, "1Gi"),
        ({"limits": {"memory": "0"}, "requests": {"memory": "0"}}, "0"),
    ],
)
def test_memory_limit_becomes_request_before_1_6(resources: dict[str, Any], requested: str) -> None:
    domain = {"devices": {}, "memory": {"guest": "1Gi"}, "resources": resources}
    assert with_defaults({}, "1.5", domain=domain)["domain"]["resources"]["requests"]["memory"] == requested


@pytest.mark.parametrize(
    ("memory", "config", "requested"),
    [
        ({"guest": "0"}, {}, None),
        ({"guest": "-1Gi"}, {}, None),
        ({"guest": "1"}, {}, "1"),
        ({"guest": "3Gi"}, {"memoryOvercommit": 150}, "2Gi"),
        ({"hugepages": {"pageSize": "2Mi"}}, {}, "2Mi"),
        ({"hugepages": {"pageSize": "big"}}, {}, None),
        ({"guest": "1Gi", "hugepages": {"pageSize": "2Mi"}}, {}, "1Gi"),
    ],
)
def test_guest_memory_is_requested_before_1_6(
    memory: dict[str, Any], config: dict[str, int], requested: str | None
) -> None:
    for version in ("1.5", "1.9"):
        result = with_defaults({"developerConfiguration": config}, version, domain={"devices": {}, "memory": memory})
        requests = result["domain"]["resources"].get("requests", {})
        assert requests.get("memory") == (requested if version == "1.5" else None)


# Defaults that only a VMI gets.


def test_evmcs_overrides_policy_of_vmx() -> None:
    cpu = {"features": [{"name": "vmx", "policy": "forbid"}]}
    domain = {"devices": {}, "cpu": cpu, "features": {"hyperv": {"evmcs": {}}}}
    spec = schema.canonical("VirtualMachineInstanceSpec", {"domain": domain})
    set_vmi_defaults(spec, KubeVirt(NEWEST))
    assert spec["domain"]["cpu"]["features"] == [{"name": "vmx", "policy": "require"}]
    assert "uuid" not in spec["domain"]["firmware"]


# Maximums of sockets and memory of a new VMI.


Manifest = dict[str, Any]


def maximums(allowed: LiveUpdateLimits, memory: Manifest | None = None, **cpu: int) -> tuple[int | None, str | None]:
    domain = {"cpu": {"sockets": 1, "cores": 1, "threads": 1, **cpu}, "memory": memory or {"guest": "2Gi"}}
    set_maximums({"architecture": "amd64", "domain": domain}, allowed)
    return domain["cpu"].get("maxSockets"), domain["memory"].get("maxGuest")


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ({}, LiveUpdateLimits()),
        ({"liveUpdateConfiguration": None}, LiveUpdateLimits()),
        ({"liveUpdateConfiguration": {"maxCpuSockets": 6}}, LiveUpdateLimits(sockets=6)),
        ({"liveUpdateConfiguration": {"maxGuest": "6144Mi"}}, LiveUpdateLimits(memory="6Gi")),
        ({"liveUpdateConfiguration": {"maxHotplugRatio": 2}}, LiveUpdateLimits(ratio=2)),
    ],
)
def test_limits_of_cluster(configuration: Manifest, expected: LiveUpdateLimits) -> None:
    assert limits(configuration) == expected


@pytest.mark.parametrize(
    ("allowed", "cpu", "expected"),
    [
        (LiveUpdateLimits(), {}, 4),
        (LiveUpdateLimits(), {"maxSockets": 7}, 7),
        (LiveUpdateLimits(), {"sockets": 200}, 512),
        (LiveUpdateLimits(), {"sockets": 600}, 600),
        (LiveUpdateLimits(ratio=2), {"sockets": 3}, 6),
        (LiveUpdateLimits(sockets=6), {}, 6),
        (LiveUpdateLimits(sockets=6), {"sockets": 16}, 16),
        (LiveUpdateLimits(sockets=6), {"maxSockets": 8}, 8),
    ],
)
def test_sockets(allowed: LiveUpdateLimits, cpu: dict[str, int], expected: int) -> None:
    assert maximums(allowed, **cpu)[0] == expected


@pytest.mark.parametrize(
    ("allowed", "memory", "expected"),
    [
        (LiveUpdateLimits(), {"guest": "2Gi"}, "8Gi"),
        (LiveUpdateLimits(), {"guest": "2Gi", "maxGuest": "3Gi"}, "3Gi"),
        (LiveUpdateLimits(), {"guest": "512Mi"}, None),
        (LiveUpdateLimits(), {"hugepages": {"pageSize": "2Mi"}}, None),
        (LiveUpdateLimits(memory="6Gi"), {"guest": "2Gi"}, "6Gi"),
        # A guest that has more already can be given nothing.
        (LiveUpdateLimits(memory="1Gi"), {"guest": "2Gi"}, None),
        (LiveUpdateLimits(ratio=3), {"guest": "2Gi"}, "6Gi"),
    ],
)
def test_memory(allowed: LiveUpdateLimits, memory: Manifest, expected: str | None) -> None:
    assert maximums(allowed, memory)[1] == expected


@pytest.mark.parametrize("field", ["maxCpuSockets", "maxHotplugRatio"])
def test_limit_of_wrong_type(field: str) -> None:
    with pytest.raises(ValueError, match=f"liveUpdateConfiguration.{field}: expected a whole number, found '4'"):
        limits({"liveUpdateConfiguration": {field: "4"}})
