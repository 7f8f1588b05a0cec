"""New sizes for machines that no instancetype of a catalog fits.

A size is one of the amounts of memory that machines need, and serves the machines that need as much or less, down to
the next smaller size. Machines with different numbers of vCPUs never share a size. The least waste is exact: the best
sizes of the machines up to each amount of memory come from those of smaller amounts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import repeat
from typing import NamedTuple

# The least waste for each number of sizes, from one on, each with the sizes.
Choices = list[tuple[int, list[int]]]


class Need(NamedTuple):
    """The need of a machine. group: a property that machines share if they may share sizes, such as the vCPUs."""

    group: Hashable
    memory: int


def fewest(needs: Iterable[Need], waste: Fraction) -> dict[Hashable, list[int]]:
    """The sizes of each group, ascending: as few as keep each machine under a bound, and of these the least waste.

    waste: the most additional memory of a machine, as a share of what it needs.
    """
    return {group: _fewest(_Range(counts), waste) for group, counts in _counted(needs).items()}


def best(needs: Iterable[Need], max_sizes: int) -> dict[Hashable, list[int]]:
    """The sizes of each group, ascending: those that waste the least memory in total, and as few of them as do that.

    max_sizes: the number of sizes of all groups; each group gets at least one.
    """
    groups = _counted(needs)
    # The least waste of the groups so far by number of sizes, with the sizes of each group.
    chosen: dict[int, tuple[int, tuple[list[int], ...]]] = {0: (0, ())}
    spare = max(0, max_sizes - len(groups))
    for done, counts in enumerate(groups.values(), 1):
        joined: dict[int, tuple[int, tuple[list[int], ...]]] = {}
        for added, (cost, sizes) in enumerate(_choices(_Range(counts), 1 + spare), 1):
            for count, (before, others) in chosen.items():
                total = count + added
                if total <= done + spare and (total not in joined or before + cost < joined[total][0]):
                    joined[total] = (before + cost, (*others, sizes))
        chosen = joined
    least = min(chosen.items(), key=lambda item: (item[1][0], item[0]))[1][1]
    return dict(zip(groups, least))


def _counted(needs: Iterable[Need]) -> Mapping[Hashable, Mapping[int, int]]:
    """The number of machines by group and memory, ascending."""
    groups: dict[Hashable, dict[int, int]] = {}
    for need in needs:
        counts = groups.setdefault(need.group, {})
        counts[need.memory] = counts.get(need.memory, 0) + 1
    return {group: dict(sorted(counts.items())) for group, counts in groups.items()}


class _Range:
    """Amounts of memory, ascending, and what it wastes to serve a range of them with the largest."""

    def __init__(self, counts: Mapping[int, int]) -> None:
        self.memories = list(counts)
        self._numbers, self._totals = [0], [0]
        for memory, number in counts.items():
            self._numbers.append(self._numbers[-1] + number)
            self._totals.append(self._totals[-1] + number * memory)

    def waste(self, start: int, end: int) -> int:
        """The waste of machines with the amounts from start to end, without end, on the size of the last one."""
        number = self._numbers[end] - self._numbers[start]
        return self.memories[end - 1] * number - (self._totals[end] - self._totals[start])

    def sizes(self, starts: Iterable[Sequence[int]]) -> list[int]:
        """The sizes of all machines, ascending. starts: from the last size on, where the range of each end begins."""
        found: list[int] = []
        end = len(self.memories)
        for start in starts:
            if not end:
                break
            found.insert(0, self.memories[end - 1])
            end = start[end]
        return found


def _choices(amounts: _Range, max_sizes: int) -> Choices:
    """The least waste of `max_sizes` sizes at most.

    Each further size wastes less, until each amount of memory has one.
    """
    length = len(amounts.memories)
    costs = [0, *(amounts.waste(0, end) for end in range(1, length + 1))]
    layers = [[0] * (length + 1)]
    choices: Choices = [(costs[length], amounts.sizes(layers))]
    for count in range(2, min(max_sizes, length) + 1):
        costs, starts = _with_one_more(amounts, costs, count)
        layers.insert(0, starts)
        choices.append((costs[length], amounts.sizes(layers)))
    return choices


def _with_one_more(amounts: _Range, costs: Sequence[int], count: int) -> tuple[list[int], list[int]]:
    """(the least waste by end, with one more size than `costs` has; where the range of that size begins).

    The best start never decreases with the end, so the best one of an end in the middle bounds those of all others.
    """
    length = len(amounts.memories)
    result, starts = [0] * (length + 1), [0] * (length + 1)
    due = [(count, length, count - 1, length - 1)]
    while due:
        low, high, first, last = due.pop()
        if low > high:
            continue
        end = (low + high) // 2
        candidates = range(first, min(last, end - 1) + 1)
        result[end], starts[end] = min((costs[start] + amounts.waste(start, end), start) for start in candidates)
        due += [(low, end - 1, first, starts[end]), (end + 1, high, starts[end], last)]
    return result, starts


def _fewest(amounts: _Range, waste: Fraction) -> list[int]:
    """The fewest sizes under the bound, and of these the ones that waste least."""
    # By end: the fewest sizes with their least waste, and where the range of the last size begins.
    best, starts = [(0, 0)], [0]
    first = 0
    for end, memory in enumerate(amounts.memories, 1):
        while amounts.memories[first] * (1 + waste) < memory:
            first += 1
        # The fewest sizes never decrease with the end, so the first start has the fewest of all.
        fewest = best[first][0]
        candidates = [start for start in range(first, end) if best[start][0] == fewest]
        cost, start = min((best[start][1] + amounts.waste(start, end), start) for start in candidates)
        best.append((fewest + 1, cost))
        starts.append(start)
    return amounts.sizes(repeat(starts))
