"""What a pod depends on besides its VMI."""

from __future__ import annotations

import pytest
from pod_samples import around

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
    assert around(version, configuration={"developerConfiguration": developer}).has_gate("ImageVolume") is on


def test_defaults_and_settings() -> None:
    plain = around()
    assert (plain.cpu_allocation_ratio, plain.memory_overcommit, plain.emulated) == (10, 100, False)
    developer = {"cpuAllocationRatio": 4, "memoryOvercommit": 150, "useEmulation": True}
    found = around(configuration={"developerConfiguration": developer})
    assert (found.cpu_allocation_ratio, found.memory_overcommit, found.emulated) == (4, 150, True)


def test_kubevirt_uses_nothing_of_a_configuration_that_it_refuses() -> None:
    developer = {"cpuAllocationRatio": -1, "memoryOvercommit": 150}
    found = around(configuration={"developerConfiguration": developer})
    assert (found.cpu_allocation_ratio, found.memory_overcommit) == (10, 100)


def test_the_first_support_container_with_an_amount_counts() -> None:
    entries = [
        {"type": "virtiofs", "resources": {"requests": {"cpu": "1"}}},
        {"type": "sidecar", "resources": {"requests": {"cpu": "0"}}},
        {"type": "sidecar", "resources": {"requests": {"cpu": "20m"}, "limits": None}},
        {"type": "sidecar", "resources": {"requests": {"cpu": "30m"}}},
    ]
    found = around(configuration={"supportContainerResources": entries})
    assert text(found.support("sidecar", "requests", "cpu")) == "20m"
    assert found.support("sidecar", "limits", "cpu") is None
