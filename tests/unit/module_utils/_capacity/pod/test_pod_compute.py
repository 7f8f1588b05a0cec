"""The container that the guest runs in: CPU, memory, devices, claims."""

from typing import Any

import pytest
from pod_samples import METADATA, make_env, spec_of

from plugins.module_utils._capacity.pod.compute import compute
from plugins.module_utils._capacity.pod.overhead import overhead
from plugins.module_utils._resolver.api.quantity import parse

POOL = {"ioThreads": {"supplementalPoolThreadCount": 1}, "ioThreadsPolicy": "supplementalPool"}


def container(
    domain: dict[str, Any], env: Any = None, metadata: Any = None, version: str = "1.9", **spec: Any
) -> dict[str, Any]:
    vmi_spec = spec_of(domain, version, **spec)
    compute_container = compute({**METADATA, **(metadata or {})}, vmi_spec, env or make_env(version), parse("100Mi"))
    manifest = compute_container.manifest()
    return {"requests": {}, "limits": {}, "claims": [], **manifest}


def test_cpu_request_of_vm_and_io_threads() -> None:
    assert container({"cpu": {"sockets": 4}, "resources": {"requests": {"cpu": "2"}}})["requests"]["cpu"] == "2"
    assert container({"cpu": {"sockets": 4}, **POOL})["requests"]["cpu"] == "500m"
    assert container({"cpu": {"sockets": 4}, **POOL}, version="1.4")["requests"]["cpu"] == "400m"
    assert container({"cpu": {}})["requests"].get("cpu") is None


def test_dedicated_cpus_without_a_topology() -> None:
    own = {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}
    domain = {"cpu": {"dedicatedCpuPlacement": True, "isolateEmulatorThread": True}, **POOL}
    result = container({**domain, "resources": own})
    assert result["requests"]["cpu"] == result["limits"]["cpu"] == "4"
    assert container(domain)["limits"]["cpu"] == "1"


GPUS = [
    {"name": "a", "deviceName": "x/gpu"},
    {"name": "b", "deviceName": "x/gpu"},
    {"name": "c", "claimName": "claim", "requestName": "one"},
    {"name": "d", "claimName": "claim", "requestName": "two"},
    {"name": "e", "claimName": "other"},
]


@pytest.mark.parametrize(("version", "requests"), [("1.8", ["one", "two"]), ("1.7", ["one"]), ("1.5", [])])
def test_claims_in_older_releases(version: str, requests: list[str]) -> None:
    env = make_env(version, gates=["GPUsWithDRA"])
    result = container({"devices": {"gpus": GPUS}}, env, version=version)
    assert [claim["request"] for claim in result["claims"]] == requests
    # The releases without claims ask for these under no name.
    assert result["limits"].get("") == ("3" if version == "1.5" else None)


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
