"""The container that the guest runs in: CPU, memory, devices, claims."""

from __future__ import annotations

from typing import Any

import pytest
from pod_samples import METADATA, make_env, spec_of

from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.pod.compute import (
    UnknownNetwork,
    compute,
    not_permitted,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.pod.overhead import overhead
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.quantity import parse

EVEN = {"annotations": {"alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity": ""}}
ALONE = {"sockets": 4, "dedicatedCpuPlacement": True}
POOL = {"ioThreads": {"supplementalPoolThreadCount": 1}, "ioThreadsPolicy": "supplementalPool"}


def container(
    domain: dict[str, Any], env: Any = None, metadata: Any = None, version: str = "1.9", **spec: Any
) -> dict[str, Any]:
    vmi_spec = spec_of(domain, version, **spec)
    compute_container = compute({**METADATA, **(metadata or {})}, vmi_spec, env or make_env(version), parse("100Mi"))
    manifest = compute_container.manifest()
    return {"requests": {}, "limits": {}, "claims": [], **manifest}


@pytest.mark.parametrize(
    ("vcpus", "ratio", "cpu"), [(1, 10, "100m"), (10, 10, "1"), (16, 10, "1600m"), (3, 1, "3"), (1, 3, "333333334n")]
)
def test_shared_cpus(vcpus: int, ratio: int, cpu: str) -> None:
    env = make_env(configuration={"developerConfiguration": {"cpuAllocationRatio": ratio}})
    assert container({"cpu": {"sockets": vcpus}}, env)["requests"]["cpu"] == cpu


def test_cpu_request_of_vm_and_io_threads() -> None:
    assert container({"cpu": {"sockets": 4}, "resources": {"requests": {"cpu": "2"}}})["requests"]["cpu"] == "2"
    assert container({"cpu": {"sockets": 4}, **POOL})["requests"]["cpu"] == "500m"
    assert container({"cpu": {"sockets": 4}, **POOL}, version="1.4")["requests"]["cpu"] == "400m"
    assert container({"cpu": {}})["requests"].get("cpu") is None


@pytest.mark.parametrize(
    ("domain", "even", "cpus"),
    [
        ({"cpu": ALONE}, True, "4"),
        ({"cpu": {**ALONE, "isolateEmulatorThread": True}}, False, "5"),
        ({"cpu": {**ALONE, "isolateEmulatorThread": True}}, True, "6"),
        ({"cpu": {**ALONE, "sockets": 5, "isolateEmulatorThread": True}}, True, "6"),
        # For parity the threads of the pool count twice, so that an odd number of them changes nothing.
        ({"cpu": {**ALONE, "isolateEmulatorThread": True}, **POOL}, True, "7"),
        ({"cpu": {**ALONE, "isolateEmulatorThread": True}, **POOL, "ioThreadsPolicy": "auto"}, True, "6"),
    ],
)
def test_dedicated_cpus(domain: dict[str, Any], even: bool, cpus: str) -> None:
    result = container({**domain, "memory": {"guest": "1Gi"}}, metadata=EVEN if even else None)
    assert result["requests"]["cpu"] == result["limits"]["cpu"] == cpus
    assert result["requests"]["memory"] == result["limits"]["memory"] == "1124Mi"


def test_dedicated_cpus_without_a_topology() -> None:
    own = {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}
    domain = {"cpu": {"dedicatedCpuPlacement": True, "isolateEmulatorThread": True}, **POOL}
    result = container({**domain, "resources": own})
    assert result["requests"]["cpu"] == result["limits"]["cpu"] == "4"
    assert container(domain)["limits"]["cpu"] == "1"


def test_dedicated_cpus_keep_vm_resources_in_1_4() -> None:
    resources = {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}
    result = container({"cpu": ALONE, "resources": resources}, version="1.4")
    assert (result["requests"]["cpu"], result["limits"]["cpu"]) == ("2", "2")
    cpu = {**ALONE, "isolateEmulatorThread": True}
    result = container({"cpu": cpu, "resources": {"requests": {"cpu": "2"}}}, version="1.4")
    assert (result["requests"]["cpu"], result["limits"]["cpu"]) == ("3", "5")


@pytest.mark.parametrize(
    ("domain", "percent", "request_", "limit"),
    [
        ({"memory": {"guest": "1Gi"}}, 100, "1124Mi", None),
        ({"memory": {"guest": "1Gi"}}, 200, "612Mi", None),
        ({"resources": {"requests": {"memory": "2Gi"}}, "memory": {"guest": "1Gi"}}, 200, "2148Mi", None),
        ({"resources": {"limits": {"memory": "2Gi"}}, "memory": {"guest": "1Gi"}}, 100, "2148Mi", "2148Mi"),
        ({"resources": {"overcommitGuestOverhead": True}, "memory": {"guest": "1Gi"}}, 100, "1Gi", None),
        ({"memory": {"hugepages": {"pageSize": "2Mi"}}}, 100, "100Mi", None),
        ({"memory": {"hugepages": {"pageSize": "huge"}}}, 100, "100Mi", None),
        ({}, 100, "100Mi", None),
    ],
)
def test_memory(domain: dict[str, Any], percent: int, request_: str, limit: str | None) -> None:
    env = make_env(configuration={"developerConfiguration": {"memoryOvercommit": percent}})
    result = container(domain, env)
    assert (result["requests"]["memory"], result["limits"].get("memory")) == (request_, limit)


def test_huge_pages_replace_guest_memory() -> None:
    memory = {"guest": "4Gi", "hugepages": {"pageSize": "2Mi"}}
    plain = container({"memory": memory})
    assert plain["requests"]["hugepages-2Mi"] == plain["limits"]["hugepages-2Mi"] == "4Gi"
    assert plain["requests"]["memory"] == "100Mi"
    both = {"requests": {"memory": "5Gi"}, "limits": {"memory": "6Gi"}}
    larger = container({"memory": memory, "resources": both})
    assert (larger["requests"]["hugepages-2Mi"], larger["requests"]["memory"]) == ("4Gi", "1124Mi")
    assert larger["limits"]["memory"] == "2148Mi"


@pytest.mark.parametrize(
    ("labels", "memory"),
    [
        ({}, "2248Mi"),
        ({"alpha.kubevirt.io/auto-memory-limits-ratio": "1"}, "1124Mi"),
        ({"alpha.kubevirt.io/auto-memory-limits-ratio": "0.5"}, "2248Mi"),
        ({"alpha.kubevirt.io/auto-memory-limits-ratio": "much"}, "2248Mi"),
    ],
)
def test_automatic_limits_for_quota(labels: dict[str, str], memory: str) -> None:
    hard = {"limits.cpu": "10", "limits.memory": "10Gi"}
    domain = {"cpu": {"sockets": 2}, "memory": {"guest": "1Gi"}}
    result = container(domain, make_env(quotas=[{"pods": "1"}, hard], namespace_labels=labels))
    assert (result["limits"]["cpu"], result["limits"]["memory"]) == ("2", memory)
    assert "memory" not in container(domain, make_env("1.4", quotas=[hard]), version="1.4")["limits"]
    gated = make_env("1.4", quotas=[hard], gates=["AutoResourceLimitsGate"])
    assert container(domain, gated, version="1.4")["limits"]["cpu"] == "2"


def test_automatic_cpu_limit_by_namespace_labels() -> None:
    selector = {"autoCPULimitNamespaceLabelSelector": {"matchLabels": {"auto": "yes"}}}
    selected = make_env(configuration=selector, namespace_labels={"auto": "yes"})
    assert container({}, selected)["limits"]["cpu"] == "1"
    assert container({"resources": {"limits": {"cpu": "3"}}}, selected)["limits"]["cpu"] == "3"
    assert "cpu" not in container({}, make_env(configuration=selector))["limits"]


def test_ephemeral_storage_is_added() -> None:
    own = {"requests": {"ephemeral-storage": "1G"}, "limits": {"ephemeral-storage": "2G"}}
    result = container({"resources": own})
    assert (result["requests"]["ephemeral-storage"], result["limits"]["ephemeral-storage"]) == ("1050M", "2050M")


def devices_of(domain: dict[str, Any], env: Any = None, version: str = "1.9", **spec: Any) -> dict[str, str]:
    limits: dict[str, str] = container(domain, env, version=version, **spec)["limits"]
    return {name.removeprefix("devices.kubevirt.io/"): count for name, count in limits.items()}


@pytest.mark.parametrize(
    ("devices", "names"),
    [
        ({}, {"tun", "kvm"}),
        ({"autoattachPodInterface": False}, {"kvm"}),
        ({"interfaces": [{"name": "a", "bridge": {}}]}, {"tun", "kvm", "vhost-net"}),
        ({"interfaces": [{"name": "a", "bridge": {}, "model": "e1000"}]}, {"tun", "kvm"}),
        ({"autoattachVSOCK": True}, {"tun", "kvm", "vhost-vsock"}),
        ({"disks": [{"name": "a", "lun": {"reservation": True}}]}, {"tun", "kvm", "pr-helper"}),
    ],
)
def test_devices_of_kubevirt(devices: dict[str, Any], names: set[str]) -> None:
    assert devices_of({"devices": devices}) == dict.fromkeys(names, "1")


def test_devices_depend_on_cluster() -> None:
    emulated = make_env(configuration={"developerConfiguration": {"useEmulation": True}})
    assert set(devices_of({"devices": {"interfaces": [{"name": "a", "bridge": {}}]}}, emulated)) == {"tun"}
    hyperv = {"hypervisors": [{"name": "hyperv-direct"}], "developerConfiguration": {"featureGates": ["IOMMUFD"]}}
    assert set(devices_of({}, make_env(configuration=hyperv))) == {"tun", "kvm", "iommufd"}
    hyperv["developerConfiguration"] = {"featureGates": ["ConfigurableHypervisor"]}
    assert set(devices_of({}, make_env(configuration=hyperv))) == {"tun", "mshv"}


@pytest.mark.parametrize(
    ("security", "version", "device"),
    [("sev", "1.9", "sev"), ("snp", "1.9", "sev"), ("tdx", "1.9", "tdx"), ("sev", "1.5", "sev"), ("tdx", "1.8", "")],
)
def test_devices_of_encrypted_guests(security: str, version: str, device: str) -> None:
    device_names = set(devices_of({"launchSecurity": {security: {}}}, version=version)) - {"tun", "kvm"}
    assert device_names == ({device} if device else set())


GPUS = [
    {"name": "a", "deviceName": "x/gpu"},
    {"name": "b", "deviceName": "x/gpu"},
    {"name": "c", "claimName": "claim", "requestName": "one"},
    {"name": "d", "claimName": "claim", "requestName": "two"},
    {"name": "e", "claimName": "other"},
]


def test_devices_and_claims_of_vm() -> None:
    result = container({"devices": {"gpus": GPUS, "hostDevices": [{"name": "f", "deviceName": "x/nic"}]}})
    assert (result["requests"]["x/gpu"], result["limits"]["x/gpu"], result["limits"]["x/nic"]) == ("2", "2", "1")
    assert result["claims"] == [
        {"name": "claim", "request": "one"},
        {"name": "claim", "request": "two"},
        {"name": "other"},
    ]


@pytest.mark.parametrize(("version", "requests"), [("1.8", ["one", "two"]), ("1.7", ["one"]), ("1.5", [])])
def test_claims_in_older_releases(version: str, requests: list[str]) -> None:
    env = make_env(version, gates=["GPUsWithDRA"])
    result = container({"devices": {"gpus": GPUS}}, env, version=version)
    assert [claim["request"] for claim in result["claims"]] == requests
    # What they do not know as a claim they ask for under no name.
    assert result["limits"].get("") == ("3" if version == "1.5" else None)


def test_claims_of_networks() -> None:
    networks = [{"name": "n", "resourceClaim": {"claimName": "nic", "requestName": "r"}}]
    assert container({}, networks=networks)["claims"] == []
    gated = make_env(gates=["NetworkDevicesWithDRA"])
    assert container({}, gated, networks=networks)["claims"] == [{"name": "nic", "request": "r"}]


def test_devices_of_networks() -> None:
    networks = [
        {"name": name, "multus": {"networkName": network}}
        for name, network in (("a", "lan"), ("b", "shop/lan"), ("c", "other/fast"), ("d", "plain"))
    ]
    off = {"developerConfiguration": {"disabledFeatureGates": ["ExternalNetResourceInjection"]}}
    resource_names = {"lan": "x/lan", "other/fast": "x/fast", "shop/plain": ""}
    env = make_env(configuration=off, networks=resource_names)
    result = container({}, env, networks=[*networks, {"name": "default", "pod": {}}])
    assert (result["limits"]["x/lan"], result["limits"]["x/fast"]) == ("2", "1")
    assert "x/lan" not in container({}, make_env(networks=resource_names), networks=networks)["limits"]
    assert "x/lan" not in container({}, make_env(configuration=off), networks=networks)["limits"]
    with pytest.raises(UnknownNetwork, match="network attachment definition shop/gone"):
        container({}, env, networks=[{"name": "a", "multus": {"networkName": "gone"}}])


def test_permitted_devices() -> None:
    gpus = [{"name": "a", "deviceName": "x/gpu"}, {"name": "b", "deviceName": "x/no"}, {"name": "c", "claimName": "k"}]
    vmi_spec = spec_of({"devices": {"gpus": gpus, "hostDevices": [{"name": "d", "deviceName": "x/nic"}]}})
    permitted = {"permittedHostDevices": {"pciHostDevices": [{"resourceName": "x/gpu"}], "usb": None}}
    assert not_permitted(vmi_spec, make_env()) == []
    assert not_permitted(vmi_spec, make_env(configuration=permitted)) == [
        "GPU x/no is not permitted in permittedHostDevices configuration",
        "HostDevice x/nic is not permitted in permittedHostDevices configuration",
    ]
    gates = {"developerConfiguration": {"featureGates": ["GPUsWithDRA"]}}
    assert len(not_permitted(vmi_spec, make_env("1.8", configuration={**permitted, **gates}))) == 1


# The memory overhead: each part of it, alone.


PLAIN = 220 + 8 + 8 + 32


def mebibytes(version: str = "1.9", configuration: Any = None, domain: Any = None, **spec: Any) -> float:
    env = make_env(version, configuration=configuration)
    return overhead(spec_of(domain, version, **spec), env).nanos / 10**9 / 2**20


@pytest.mark.parametrize(
    ("domain", "more"),
    [
        ({}, 0),
        ({"cpu": None}, 0),
        ({"cpu": {"sockets": 2, "cores": 2, "threads": 2}}, 7 * 8),
        ({"memory": {"guest": "64Gi"}}, 0),
        ({"resources": {"requests": {"memory": "512Gi"}}}, 1024),
        ({"devices": {"autoattachGraphicsDevice": False}}, -32),
        ({"devices": {"gpus": [{"name": "a", "deviceName": "x/y"}]}}, 1024),
        ({"devices": {"hostDevices": [{"name": "a", "deviceName": "x/y"}]}}, 1024),
        ({"devices": {"interfaces": [{"name": "a", "sriov": {}}]}}, 1024),
        ({"devices": {"interfaces": [{"name": "a", "passtBinding": {}}]}}, 250),
        ({"devices": {"tpm": {}}}, 53),
        ({"devices": {"tpm": {"enabled": False}}}, 0),
        ({"launchSecurity": {"sev": {}}}, 256),
        ({"launchSecurity": {"snp": {}}}, 256),
        ({"launchSecurity": {"tdx": {}}}, 0),
        ({"cpu": {"sockets": 1, "dedicatedCpuPlacement": True}}, 100),
        ({"memory": {"reservedOverhead": {"addedOverhead": "7Mi"}}}, 7),
    ],
)
def test_parts(domain: Any, more: float) -> None:
    assert mebibytes(domain=domain) == PLAIN + more


def test_guaranteed_vm_has_more_overhead() -> None:
    both = {"cpu": "1", "memory": "512Mi"}
    assert mebibytes(domain={"resources": {"requests": both, "limits": both}}) == PLAIN + 1 + 100
    assert mebibytes(domain={"resources": {"requests": both, "limits": {"cpu": "1"}}}) == PLAIN + 1


def test_volumes_probes_and_architecture() -> None:
    assert mebibytes(volumes=[{"name": "m", "downwardMetrics": {}}]) == PLAIN + 1
    probe = {"exec": {"command": ["true"]}}
    assert mebibytes(livenessProbe=probe) == PLAIN + 110
    assert mebibytes(livenessProbe=probe, readinessProbe=probe) == PLAIN + 120
    assert mebibytes(readinessProbe={"tcpSocket": {"port": 22}}) == PLAIN
    assert mebibytes(architecture="arm64") == PLAIN + 128


@pytest.mark.parametrize(("version", "fixed"), [("1.4", 215 + 16), ("1.5", 220 + 16), ("1.6", 220 + 32)])
def test_older_releases(version: str, fixed: int) -> None:
    assert mebibytes(version) == fixed + 8 + 8


def test_ratio_does_not_scale_network_memory() -> None:
    ratio = {"additionalGuestMemoryOverheadRatio": "2"}
    passt = {"devices": {"interfaces": [{"name": "a", "passtBinding": {}}]}}
    # KubeVirt scales whole kilobytes.
    assert mebibytes(configuration=ratio, domain=passt) == pytest.approx(2 * PLAIN + 250, abs=0.001)
    assert mebibytes(configuration={"additionalGuestMemoryOverheadRatio": "much"}) == PLAIN
    dedicated = {"cpu": {"sockets": 1, "dedicatedCpuPlacement": True}}
    assert mebibytes(configuration=ratio, domain=dedicated) == pytest.approx(2 * (PLAIN + 100), abs=0.001)
    before_1_5 = mebibytes("1.4", ratio, dedicated)
    assert before_1_5 == pytest.approx(2 * (215 + 16 + 16) + 100, abs=0.001)


def test_binding_plugin_counts_once() -> None:
    plugin = {"computeResourceOverhead": {"requests": {"memory": "40Mi"}}}
    binding = {"network": {"binding": {"passt": plugin, "plain": {}}}}
    interfaces = [
        {"name": name, "binding": {"name": of}} for name, of in (("a", "passt"), ("b", "passt"), ("c", "plain"))
    ]
    assert mebibytes(configuration=binding, domain={"devices": {"interfaces": interfaces}}) == PLAIN + 40
