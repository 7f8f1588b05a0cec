"""Preferred topologies, beyond what the vectors show."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import Panic
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.apply import topology


@pytest.mark.parametrize(
    ("preference", "short_name"),
    [
        (None, "sockets"),
        ({}, "sockets"),
        ({"cpu": {}}, "sockets"),
        ({"cpu": {"preferredCPUTopology": "preferThreads"}}, "threads"),
        ({"cpu": {"preferredCPUTopology": "any"}}, "any"),
        ({"cpu": {"preferredCPUTopology": "dice"}}, ""),
    ],
)
def test_short_name_of_preferred_topology(preference: dict[str, Any] | None, short_name: str) -> None:
    assert topology.preferred(preference) == short_name


@pytest.mark.parametrize(
    ("across", "vcpus", "by"),
    [
        ("SocketsCores", 5, "of 2 provided by the preference"),
        ("CoresThreads", 5, "by the number of threads per core 2"),
        ("SocketsCoresThreads", 5, "PreferSpreadOptions.Ratio of 2"),
        ("SocketsCoresThreads", 6, "PreferSpreadOptions.Ratio of 2"),
        ("SocketsCores", 6, None),
        ("CoresThreads", 6, None),
        ("SocketsCoresThreads", 8, None),
        # An unknown extent is the preference webhook's matter.
        ("Threads", 5, None),
    ],
)
def test_spread_must_divide_vcpus(across: str, vcpus: int, by: str | None) -> None:
    preference = {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"across": across, "ratio": 2}}}
    uneven = topology.spread_indivisible({"cpu": {"guest": vcpus}}, preference)
    if by is None:
        assert uneven is None
    else:
        assert uneven is not None
        assert uneven.message.startswith(f"{vcpus} vCPUs provided by the instance type are not divisible")
        assert uneven.message.endswith(by)
        assert uneven.field == "instancetype.spec.cpu.guest"


@pytest.mark.parametrize("across", ["SocketsCores", "CoresThreads", "SocketsCoresThreads"])
def test_spread_ratio_0_crashes_kubevirt(across: str) -> None:
    preference = {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"across": across, "ratio": 0}}}
    for call in (
        lambda: topology.topology(4, preference),
        lambda: topology.spread_indivisible({"cpu": {"guest": 4}}, preference),
    ):
        with pytest.raises(Panic, match=r"^a spread ratio of 0 divides by zero$"):
            call()
    assert topology.topology(1, preference) == (1, 1, 1)


def test_spread_without_instancetype() -> None:
    preference = {"cpu": {"preferredCPUTopology": "preferSpread"}}
    assert topology.spread_indivisible(None, preference) is None
