"""Preferred topologies, beyond what the vectors show."""

import pytest

from plugins.module_utils._resolver.api.errors import Panic
from plugins.module_utils._resolver.kubevirt.instancetype import topology


@pytest.mark.parametrize("across", ["SocketsCores", "CoresThreads", "SocketsCoresThreads"])
def test_spread_ratio_0_crashes_kubevirt(across: str) -> None:
    preference = {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"across": across, "ratio": 0}}}
    for call in (
        lambda: topology.topology(4, preference),
        lambda: topology.check_spread({"cpu": {"guest": 4}}, preference),
    ):
        with pytest.raises(Panic, match=r"^a spread ratio of 0 divides by zero$"):
            call()
    assert topology.topology(1, preference) == (1, 1, 1)


def test_spread_without_instancetype() -> None:
    topology.check_spread(None, {"cpu": {"preferredCPUTopology": "preferSpread"}})


@pytest.mark.parametrize(
    ("across", "vcpus", "expected"),
    [
        (None, 8, (4, 2, 1)),
        # 9 vCPUs are refused, but a VM may have them already.
        ("SocketsCoresThreads", 9, (2, 2, 2)),
        ("CoresThreadsDies", 8, (1, 1, 1)),
        ("SocketsCoresThreadsDies", 9, (1, 1, 1)),
    ],
)
def test_spread_gives_whole_numbers(across: str | None, vcpus: int, expected: tuple[int, int, int]) -> None:
    """Unknown units give one vCPU, and are no matter of the check."""
    preference = {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"across": across}}}
    assert repr(tuple(topology.topology(vcpus, preference))) == repr(expected)
    if expected == (1, 1, 1):
        topology.check_spread({"cpu": {"guest": vcpus}}, preference)
