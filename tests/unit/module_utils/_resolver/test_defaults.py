"""The cluster's configuration and the defaults that come from it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver import defaults, release, schema


def spec(**fields: Any) -> dict[str, Any]:
    return schema.canonical("VirtualMachineInstanceSpec", fields)


def with_defaults(config: dict[str, Any] | None = None, version: str = "1.9", **fields: Any) -> dict[str, Any]:
    result = spec(**fields)
    assert defaults.set_spec_defaults(result, defaults.configuration(config), release.of(version)) is None
    return result


@pytest.mark.parametrize(
    "refused",
    [
        {"network": {"defaultNetworkInterface": "tap"}},
        {"imagePullPolicy": "Sometimes"},
        {"developerConfiguration": {"memoryOvercommit": -1}},
        {"cpuRequest": "much"},
    ],
)
def test_a_configuration_that_kubevirt_refuses_is_not_used_at_all(refused: dict[str, Any]) -> None:
    assert defaults.configuration({**refused, "machineType": "pc"}, "arm64") == defaults.Configuration()


def test_empty_settings_are_defaults() -> None:
    empty = {
        "machineType": "",
        "network": {"defaultNetworkInterface": ""},
        "architectureConfiguration": {"amd64": None},
    }
    assert defaults.configuration(empty) == defaults.Configuration() == defaults.configuration(None)


@pytest.mark.parametrize(
    ("architecture", "machine"),
    [("amd64", "pc-q35-10"), ("arm64", "virt"), ("s390x", "s390-ccw-virtio"), ("riscv64", "pc-q35-10")],
)
def test_machine_type_by_architecture(architecture: str, machine: str) -> None:
    types = {"amd64": {"machineType": "pc-q35-10"}, "s390x": {"machineType": "ignored"}}
    config = defaults.configuration({"architectureConfiguration": types})
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


def test_slirp_is_an_error_only_where_an_interface_is_wanted() -> None:
    config = defaults.configuration({"network": {"defaultNetworkInterface": "slirp"}})
    problem = defaults.add_network_interface(spec(domain={"devices": {}}), config)
    assert problem is not None
    assert problem.message == "slirp interface is deprecated as of v1.3"
    assert defaults.add_network_interface(spec(domain={"devices": {"autoattachPodInterface": False}}), config) is None


def test_defaults_are_set_once() -> None:
    volumes = [{"name": "a", "containerDisk": {"image": "x"}}]
    first = with_defaults(domain={"devices": {}}, volumes=volumes)
    second = schema.canonical("VirtualMachineInstanceSpec", first)
    assert defaults.set_spec_defaults(second, defaults.Configuration()) is None
    assert second == first


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
