"""Sockets, cores and threads multiply to the vCPUs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.module_utils._resolver.api.errors import Panic
from plugins.module_utils._resolver.api.fields import ENUMS
from plugins.module_utils._resolver.kubevirt.instancetype.topology import SpreadError, check_spread, topology

VCPUS = st.integers(1, 2**32 - 1)
RATIOS = st.integers(1, 64)
SPREADS = ("spread", "preferSpread")


def product(vcpus: int, preference: dict[str, Any] | None) -> int:
    sockets, cores, threads = topology(vcpus, preference)
    return sockets * cores * threads


@given(VCPUS, st.sampled_from([name for name in ENUMS["CPUTopology"] if name not in SPREADS]) | st.none())
def test_without_spread(vcpus: int, name: str | None) -> None:
    assert product(vcpus, None if name is None else {"cpu": {"preferredCPUTopology": name}}) == vcpus


@given(VCPUS, RATIOS, st.sampled_from([*ENUMS["SpreadAcross"], None]), st.sampled_from(SPREADS))
def test_spread_keeps_divisible_vcpus(vcpus: int, ratio: int, across: str | None, name: str) -> None:
    """vCPUs that divide are all there; of others, which virt-api refuses, fewer than a coarser unit's are lost."""
    options: dict[str, Any] = {"ratio": ratio} if across is None else {"ratio": ratio, "across": across}
    preference = {"cpu": {"preferredCPUTopology": name, "spreadOptions": options}}
    divides = True
    try:
        check_spread({"cpu": {"guest": vcpus}}, preference)
    except SpreadError:
        divides = False
    if vcpus == 1:
        assert product(1, preference) == 1
        return
    assert divides == (product(vcpus, preference) == vcpus)
    assert vcpus - product(vcpus, preference) in range(ratio * (2 if across == "SocketsCoresThreads" else 1))


@given(st.integers(1, 2**26), RATIOS, st.sampled_from(ENUMS["SpreadAcross"]))
def test_multiples_divide(units: int, ratio: int, across: str) -> None:
    vcpus = units * ratio * (2 if across == "SocketsCoresThreads" else 1)
    preference = {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"ratio": ratio, "across": across}}}
    check_spread({"cpu": {"guest": vcpus}}, preference)


@given(st.integers(2, 1000), st.sampled_from(ENUMS["SpreadAcross"]))
def test_a_ratio_of_zero_crashes(vcpus: int, across: str) -> None:
    preference = {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 0, "across": across}}}
    with pytest.raises(Panic):
        topology(vcpus, preference)
