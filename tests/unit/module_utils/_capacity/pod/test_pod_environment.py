"""Inputs of a pod besides its VMI."""

from __future__ import annotations

import pytest
from pod_samples import make_env

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.quantity import Quantity


def text(amount: Quantity | None) -> str | None:
    return None if amount is None else amount.text


@pytest.mark.parametrize(
    ("version", "gates", "disabled", "on"),
    [
        ("1.9", [], [], True),
        ("1.9", [], ["ImageVolume"], False),
        ("1.9", ["ImageVolume"], ["ImageVolume"], True),
        ("1.8", [], [], False),
        ("1.7", ["ImageVolume"], [], True),
        ("1.5", ["ImageVolume"], [], False),
    ],
)
def test_gates(version: str, gates: list[str], disabled: list[str], on: bool) -> None:
    developer = {"featureGates": gates, "disabledFeatureGates": disabled}
    assert make_env(version, configuration={"developerConfiguration": developer}).kubevirt.has_gate("ImageVolume") is on


def test_defaults_and_settings() -> None:
    plain = make_env()
    assert (plain.cpu_allocation_ratio, plain.kubevirt.memory_overcommit, plain.emulated) == (10, 100, False)
    developer = {"cpuAllocationRatio": 4, "memoryOvercommit": 150, "useEmulation": True}
    env = make_env(configuration={"developerConfiguration": developer})
    assert (env.cpu_allocation_ratio, env.kubevirt.memory_overcommit, env.emulated) == (4, 150, True)


def test_invalid_configuration_is_ignored_as_a_whole() -> None:
    developer = {"cpuAllocationRatio": -1, "memoryOvercommit": 150}
    env = make_env(configuration={"developerConfiguration": developer})
    assert (env.cpu_allocation_ratio, env.kubevirt.memory_overcommit) == (10, 100)


def test_first_support_container_with_amount_counts() -> None:
    entries = [
        {"type": "virtiofs", "resources": {"requests": {"cpu": "1"}}},
        {"type": "sidecar", "resources": {"requests": {"cpu": "0"}}},
        {"type": "sidecar", "resources": {"requests": {"cpu": "20m"}, "limits": None}},
        {"type": "sidecar", "resources": {"requests": {"cpu": "30m"}}},
    ]
    env = make_env(configuration={"supportContainerResources": entries})
    assert text(env.support("sidecar", "requests", "cpu")) == "20m"
    assert env.support("sidecar", "limits", "cpu") is None
