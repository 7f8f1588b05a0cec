"""The memory overhead: each part of it, alone."""

from __future__ import annotations

from typing import Any

import pytest
from pod_samples import make_env, spec_of

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.pod.overhead import overhead

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
