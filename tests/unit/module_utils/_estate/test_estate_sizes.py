"""New sizes waste as little as any choice of sizes could."""

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest

from plugins.module_utils._estate import sizes
from plugins.module_utils._estate.sizes import MachineNeed

CHANCE = random.Random(11)


def few_needs(largest: int) -> list[MachineNeed]:
    return [MachineNeed(CHANCE.randint(1, 3), CHANCE.randint(1, largest)) for _number in range(CHANCE.randint(1, 8))]


def least(needs: list[MachineNeed], counts: range, waste: Fraction | None = None) -> tuple[int, int]:
    """(the least waste, the fewest sizes with it), of all choices of sizes with such a number."""
    candidates = sorted({(str(need.group), need.memory) for need in needs})
    found = []
    for count in counts:
        for chosen in itertools.combinations(candidates, count):
            wasted = 0
            for need in needs:
                enough = [memory for group, memory in chosen if group == str(need.group) and memory >= need.memory]
                if not enough or (waste is not None and min(enough) > need.memory * (1 + waste)):
                    break
                wasted += min(enough) - need.memory
            else:
                found.append((wasted, count))
        if found and waste is not None:
            break
    return min(found)


def cost(needs: list[MachineNeed], result: dict[Any, tuple[int, ...]]) -> tuple[int, int]:
    wasted = sum(min(size for size in result[need.group] if size >= need.memory) - need.memory for need in needs)
    return wasted, sum(map(len, result.values()))


def test_best_sizes_equal_brute_force() -> None:
    for index in range(150):
        needs = few_needs(12 if index % 2 else 60)
        most = CHANCE.randint(1, 6)
        groups = len({need.group for need in needs})
        assert cost(needs, sizes.least_waste_sizes(needs, most)) == least(needs, range(1, max(most, groups) + 1)), (
            needs,
            most,
        )


def test_fewest_sizes_equal_brute_force() -> None:
    for index in range(150):
        needs = few_needs(12 if index % 2 else 60)
        waste = Fraction(CHANCE.choice([0, 15, 30, 100]), 100)
        assert cost(needs, sizes.fewest_sizes(needs, waste)) == least(needs, range(1, 9), waste), (needs, waste)


@pytest.mark.parametrize(
    "count", [1_000, pytest.param(10_000, marks=pytest.mark.nightly("the same, of a large estate"))]
)
def test_machines_that_all_differ(count: int) -> None:
    needs = [MachineNeed(1, memory) for memory in CHANCE.sample(range(512, 2_000_000), count)]
    assert len(sizes.least_waste_sizes(needs, 30)[1]) == 30
    bound = Fraction(15, 100)
    (found,) = sizes.fewest_sizes(needs, bound).values()
    for need in needs:
        assert min(size for size in found if size >= need.memory) <= need.memory * (1 + bound)


def test_no_machine_needs_no_size() -> None:
    assert sizes.least_waste_sizes([], 3) == {} == sizes.fewest_sizes([], Fraction(0))
