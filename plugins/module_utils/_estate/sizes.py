"""New sizes for machines that no instancetype of a catalog fits.

A size is one of the amounts of memory that machines need, and serves the machines that need as much or less, down to
the next smaller size. Machines with different numbers of vCPUs never share a size. The least waste is exact: the best
sizes of the machines up to each amount of memory come from those of smaller amounts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple

# The waste of sizes, and the sizes, ascending.
_SizeChoice = tuple[int, tuple[int, ...]]


class MachineNeed(NamedTuple):
    """The need of a machine. group: a property that machines share if they may share sizes, such as the vCPUs."""

    group: Any
    memory: int


def fewest_sizes(needs: Iterable[MachineNeed], waste: Fraction) -> dict[Any, tuple[int, ...]]:
    """The sizes of each group, ascending: as few as keep each machine under a bound, and of these the least waste.

    waste: the most additional memory of a machine, as a share of its need.
    """
    return {group: _fewest(_MemoryCounts(counts), waste) for group, counts in _counted(needs).items()}


def least_waste_sizes(needs: Iterable[MachineNeed], max_sizes: int) -> dict[Any, tuple[int, ...]]:
    """The sizes of each group, ascending, that waste the least memory in total.

    max_sizes: the number of sizes of all groups; each group gets at least one.
    """
    groups = _counted(needs)
    # On one scale with this distance between groups, no size that several share could waste least.
    distance = 1 + sum(number * max(counts) for counts in groups.values() for number in counts.values())
    places = {
        index * distance + memory: number
        for index, counts in enumerate(groups.values())
        for memory, number in counts.items()
    }
    sizes = _best(_MemoryCounts(places), max(max_sizes, len(groups)))
    return {
        group: tuple(size % distance for size in sizes if size // distance == index)
        for index, group in enumerate(groups)
    }


def _counted(needs: Iterable[MachineNeed]) -> Mapping[Any, Mapping[int, int]]:
    """The number of machines by group and memory, ascending."""
    groups: dict[Any, Counter[int]] = {}
    for need in needs:
        groups.setdefault(need.group, Counter())[need.memory] += 1
    return {group: dict(sorted(counts.items())) for group, counts in groups.items()}


class _MemoryCounts:
    """Amounts of memory, ascending, and what it wastes to serve a range of them with the largest."""

    def __init__(self, counts: Mapping[int, int]) -> None:
        self.memories = list(counts)
        self._numbers = [0, *accumulate(counts.values())]
        self._totals = [0, *accumulate(number * memory for memory, number in counts.items())]

    def waste(self, start: int, end: int) -> int:
        """The waste of machines with the amounts from start to end, without end, on the size of the last one."""
        number = self._numbers[end] - self._numbers[start]
        return self.memories[end - 1] * number - (self._totals[end] - self._totals[start])

    def extended(self, choice: _SizeChoice, start: int, end: int) -> _SizeChoice:
        """The choice for the amounts before start, with one more size for the amounts from start to end."""
        return choice[0] + self.waste(start, end), (*choice[1], self.memories[end - 1])


def _best(amounts: _MemoryCounts, max_sizes: int) -> tuple[int, ...]:
    """The sizes that waste least. Each further size wastes less, until each amount of memory has one."""
    length = len(amounts.memories)
    nothing: _SizeChoice = (0, ())
    layer = [nothing, *(amounts.extended(nothing, 0, end) for end in range(1, length + 1))]
    for count in range(2, min(max_sizes, length) + 1):
        layer = _with_one_more_size(amounts, layer, count)
    return layer[length][1]


def _with_one_more_size(amounts: _MemoryCounts, layer: Sequence[_SizeChoice], count: int) -> list[_SizeChoice]:
    """The best choices by end, with one more size than the choices of a layer.

    The best start never decreases with the end, so the best start of a middle end bounds the starts of all other ends.
    """
    length = len(amounts.memories)
    result = list(layer)
    due = [(count, length, count - 1, length - 1)]
    while due:
        low, high, first, last = due.pop()
        if low > high:
            continue
        end = (low + high) // 2
        candidates = range(first, min(last, end - 1) + 1)
        start = min(candidates, key=lambda start: layer[start][0] + amounts.waste(start, end))
        result[end] = amounts.extended(layer[start], start, end)
        due += [(low, end - 1, first, start), (end + 1, high, start, last)]
    return result


def _fewest(amounts: _MemoryCounts, waste: Fraction) -> tuple[int, ...]:
    """The fewest sizes under the bound, and of these the ones that waste least."""
    best: list[_SizeChoice] = [(0, ())]
    first = 0
    for end, memory in enumerate(amounts.memories, 1):
        while amounts.memories[first] * (1 + waste) < memory:
            first += 1
        # The fewest sizes never decrease with the end, so the first start has the fewest of all.
        candidates = [start for start in range(first, end) if len(best[start][1]) == len(best[first][1])]
        start = min(candidates, key=lambda start: best[start][0] + amounts.waste(start, end))
        best.append(amounts.extended(best[start], start, end))
    return best[-1][1]
