"""The cluster's configuration and the defaults that come from it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import release, schema
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi import (
    configuration,
    defaults,
)


def spec(**fields: Any) -> dict[str, Any]:
    return schema.canonical("VirtualMachineInstanceSpec", fields)


def with_defaults(config: dict[str, Any] | None = None, version: str = "1.9", **fields: Any) -> dict[str, Any]:
    result = spec(**fields)
    assert defaults.set_spec_defaults(result, configuration.configuration(config), release.of(version)) is None
    return result


@pytest.mark.parametrize(
    "refused",
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
def test_a_configuration_that_kubevirt_refuses_is_not_used_at_all(refused: dict[str, Any]) -> None:
    assert configuration.configuration({**refused, "machineType": "pc"}, "arm64") == configuration.Configuration()


@pytest.mark.parametrize(
    "taken",
    [
        {"imagePullPolicy": "Always"},
        {"imagePullPolicy": "Never"},
        {"imagePullPolicy": "IfNotPresent"},
        {"developerConfiguration": {"cpuAllocationRatio": 1, "pvcTolerateLessSpaceUpToPercent": 100}},
        {"developerConfiguration": {"memoryOvercommit": 0, "cpuAllocationRatio": 0}},
    ],
)
def test_other_settings_do_not_keep_it_from_being_used(taken: dict[str, Any]) -> None:
    assert configuration.configuration({**taken, "machineType": "pc"}).machine_type == "pc"


def test_what_a_configuration_says() -> None:
    given = {
        "cpuRequest": "0.3",
        "evictionStrategy": "LiveMigrate",
        "network": {"defaultNetworkInterface": "masquerade", "permitBridgeInterfaceOnPodNetwork": False},
        "developerConfiguration": {"memoryOvercommit": 1},
        "architectureConfiguration": {"arm64": {"machineType": "virt-9"}, "amd64": {}},
    }
    assert configuration.configuration(given, "s390x") == configuration.Configuration(
        architecture="s390x",
        machine_types={"amd64": "q35", "arm64": "virt-9", "s390x": "s390-ccw-virtio"},
        cpu_request="300m",
        network_interface="masquerade",
        bridge_permitted=False,
        eviction_strategy="LiveMigrate",
        memory_overcommit=1,
    )


def test_empty_settings_are_defaults() -> None:
    empty = {
        "machineType": "",
        "network": {"defaultNetworkInterface": ""},
        "architectureConfiguration": {"amd64": None},
    }
    assert configuration.configuration(empty) == configuration.Configuration() == configuration.configuration(None)


@pytest.mark.parametrize(
    ("architecture", "machine"),
    [("amd64", "pc-q35-10"), ("arm64", "virt"), ("s390x", "s390-ccw-virtio-9"), ("riscv64", "pc-q35-10")],
)
def test_machine_type_by_architecture(architecture: str, machine: str) -> None:
    types = {"amd64": {"machineType": "pc-q35-10"}, "s390x": {"machineType": "s390-ccw-virtio-9"}}
    config = configuration.configuration({"architectureConfiguration": types})
    assert defaults.machine_type(architecture, config) == machine
    assert defaults.machine_type(architecture, config._replace(machine_type="all")) == "all"


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


def test_the_default_cpu_request_is_not_written_however_it_is_spelled() -> None:
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
def test_the_clusters_cpu_request(cpu: dict[str, Any], resources: dict[str, Any], request_: str | None) -> None:
    domain = {"devices": {}, "cpu": cpu, "resources": resources}
    found = with_defaults({"cpuRequest": "200m"}, domain=domain)["domain"]["resources"]
    assert found.get("requests", {}).get("cpu") == request_


@pytest.mark.parametrize("given", ["sockets", "cores", "threads"])
def test_a_vm_that_says_anything_of_its_topology_is_left_alone(given: str) -> None:
    domain = {"devices": {}, "cpu": {given: 2}, "resources": {"limits": {"cpu": "4"}}}
    assert with_defaults(domain=domain)["domain"]["cpu"] == {given: 2}


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("disk", "Always"),
        ("disk:latest", "Always"),
        ("disk:1", "IfNotPresent"),
        ("disk@sha256", "IfNotPresent"),
    ],
)
def test_how_a_disk_is_pulled(image: str, policy: str) -> None:
    volumes = [{"name": "a", "containerDisk": {"image": image}}, {"name": "b", "emptyDisk": {"capacity": "1Gi"}}]
    found = with_defaults(domain={"devices": {}}, volumes=volumes)["volumes"]
    assert found[0]["containerDisk"]["imagePullPolicy"] == policy


@pytest.mark.parametrize(
    "taken",
    [
        {"networks": [{"name": "own", "multus": {"networkName": "n"}}]},
        {"domain": {"devices": {"interfaces": [{"name": "own", "bridge": {}}]}}},
        {"domain": {"devices": {"autoattachPodInterface": False}}},
    ],
)
def test_vms_that_have_networks_or_want_none_get_none(taken: dict[str, Any]) -> None:
    before = spec(**{"domain": {"devices": {}}, **taken})
    after = spec(**{"domain": {"devices": {}}, **taken})
    assert defaults.add_network_interface(after, configuration.Configuration()) is None
    assert after == before


def test_no_disks_are_added_where_the_clusters_interface_is_refused() -> None:
    config = configuration.configuration({"network": {"permitBridgeInterfaceOnPodNetwork": False}})
    given = spec(domain={"devices": {}}, volumes=[{"name": "a", "containerDisk": {"image": "x"}}])
    problem = defaults.set_spec_defaults(given, config)
    assert problem is not None and problem.message == "bridge interface is not enabled in kubevirt-config"
    assert "disks" not in given["domain"]["devices"]
    assert defaults.set_spec_defaults(given, configuration.Configuration()) is None
    assert given["domain"]["devices"]["disks"] == [{"name": "a"}]


def test_slirp_is_an_error_only_where_an_interface_is_wanted() -> None:
    config = configuration.configuration({"network": {"defaultNetworkInterface": "slirp"}})
    problem = defaults.add_network_interface(spec(domain={"devices": {}}), config)
    assert problem is not None
    assert problem.message == "slirp interface is deprecated as of v1.3"
    assert defaults.add_network_interface(spec(domain={"devices": {"autoattachPodInterface": False}}), config) is None


def test_defaults_are_set_once() -> None:
    volumes = [{"name": "a", "containerDisk": {"image": "x"}}]
    first = with_defaults(domain={"devices": {}}, volumes=volumes)
    second = schema.canonical("VirtualMachineInstanceSpec", first)
    assert defaults.set_spec_defaults(second, configuration.Configuration()) is None
    assert second == first


@pytest.mark.parametrize(
    ("resources", "asked"),
    [
        ({"limits": {"memory": "3Gi"}}, "3Gi"),
        ({"limits": {"memory": "3Gi"}, "requests": {"memory": "0"}}, "3Gi"),
        ({"limits": {"memory": "3Gi"}, "requests": {"memory": "2Gi"}}, "2Gi"),
        ({"limits": {"memory": "0"}}, "1Gi"),
        ({"limits": {"memory": "0"}, "requests": {"memory": "0"}}, "0"),
    ],
)
def test_before_1_6_a_limit_on_memory_is_asked_for(resources: dict[str, Any], asked: str) -> None:
    domain = {"devices": {}, "memory": {"guest": "1Gi"}, "resources": resources}
    assert with_defaults({}, "1.5", domain=domain)["domain"]["resources"]["requests"]["memory"] == asked


@pytest.mark.parametrize(
    ("memory", "config", "asked"),
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
def test_releases_before_1_6_ask_for_the_guests_memory(
    memory: dict[str, Any], config: dict[str, int], asked: str | None
) -> None:
    for version in ("1.5", "1.9"):
        result = with_defaults({"developerConfiguration": config}, version, domain={"devices": {}, "memory": memory})
        requests = result["domain"]["resources"].get("requests", {})
        assert requests.get("memory") == (asked if version == "1.5" else None)
