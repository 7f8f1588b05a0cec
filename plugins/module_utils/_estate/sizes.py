"""New sizes for machines that no instancetype of a catalog fits.

A size is one of the amounts of memory that machines need, and serves the machines that need as much or less, down to
the next smaller size. Machines with different numbers of vCPUs never share a size. The least waste is exact: the cost
of a range of machines is linear in the memory of its size, so the best beginning of each range is on the lower envelope
of lines, which takes one pass for each number of sizes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

# Sums of the numbers and of the amounts of memory of the first machines.
Sums = tuple[list[int], list[int]]
# The least waste for each number of sizes, from one on, each with the sizes.
Choices = list[tuple[int, list[int]]]


class Need(NamedTuple):
    """What a machine needs. group: what machines that share sizes have in common, such as the number of vCPUs."""

    group: Hashable
    memory: int


def fewest(needs: Iterable[Need], waste: Fraction) -> dict[Hashable, list[int]]:
    """The sizes of each group, ascending: as few as keep each machine under a bound, and of these the least waste.

    waste: the most additional memory of a machine, as a share of what it needs.
    """
    return {group: _fewest(counts, waste) for group, counts in _counted(needs).items()}


def best(needs: Iterable[Need], most: int) -> dict[Hashable, list[int]]:
    """The sizes of each group, ascending: those that waste the least memory in total, and as few of them as do that.

    most: the number of sizes of all groups; each group gets at least one.
    """
    groups = _counted(needs)
    # Of the groups so far, the least waste by number of sizes, with the sizes of each group.
    chosen: dict[int, tuple[int, tuple[list[int], ...]]] = {0: (0, ())}
    spare = max(0, most - len(groups))
    for done, counts in enumerate(groups.values(), 1):
        joined: dict[int, tuple[int, tuple[list[int], ...]]] = {}
        for added, (cost, sizes) in enumerate(_choices(counts, 1 + spare), 1):
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


def _sums(counts: Mapping[int, int]) -> Sums:
    numbers, totals = [0], [0]
    for memory, number in counts.items():
        numbers.append(numbers[-1] + number)
        totals.append(totals[-1] + number * memory)
    return numbers, totals


class _Envelope:
    """The lower envelope of lines: falling slopes are added, and asked at rising places."""

    def __init__(self) -> None:
        self._lines: deque[tuple[int, int, int]] = deque()

    def add(self, slope: int, offset: int, origin: int) -> None:
        lines = self._lines
        while len(lines) > 1 and _hidden(lines[-2], lines[-1], (slope, offset, origin)):
            lines.pop()
        lines.append((slope, offset, origin))

    def least(self, place: int) -> tuple[int, int]:
        """(the least value at a place, where its line comes from)."""
        lines = self._lines
        while len(lines) > 1 and _value(lines[1], place) <= _value(lines[0], place):
            lines.popleft()
        return _value(lines[0], place), lines[0][2]


def _value(line: tuple[int, int, int], place: int) -> int:
    return line[0] * place + line[1]


def _hidden(before: tuple[int, int, int], middle: tuple[int, int, int], after: tuple[int, int, int]) -> bool:
    """Whether the middle one of three lines is nowhere below both others."""
    return (after[1] - before[1]) * (before[0] - middle[0]) <= (middle[1] - before[1]) * (before[0] - after[0])


def _choices(counts: Mapping[int, int], most: int) -> Choices:
    """The least waste of up to `most` sizes. Each further size wastes less, until each amount of memory has one."""
    memories = list(counts)
    numbers, totals = _sums(counts)
    costs: list[int | None] = [0, *[None] * len(memories)]
    origins: list[list[int]] = []
    choices: Choices = []
    for _count in range(min(most, len(memories))):
        costs, origin = _layer(costs, memories, numbers, totals)
        origins.append(origin)
        choices.append((costs[-1] or 0, _traced(origins, memories)))
    return choices


def _layer(
    costs: Sequence[int | None], memories: Sequence[int], numbers: Sequence[int], totals: Sequence[int]
) -> tuple[list[int | None], list[int]]:
    """(the least waste of the first machines with one more size, the machine before the range of that size)."""
    envelope = _Envelope()
    result: list[int | None] = [None]
    origin = [0]
    empty = True
    for index, memory in enumerate(memories):
        before = costs[index]
        if before is not None:
            envelope.add(-numbers[index], before + totals[index], index)
            empty = False
        if empty:
            result.append(None)
            origin.append(0)
            continue
        least, start = envelope.least(memory)
        result.append(least + memory * numbers[index + 1] - totals[index + 1])
        origin.append(start)
    return result, origin


def _traced(origins: Sequence[Sequence[int]], memories: Sequence[int]) -> list[int]:
    sizes = []
    end = len(memories)
    for origin in reversed(origins):
        sizes.append(memories[end - 1])
        end = origin[end]
    return sizes[::-1]


def _fewest(counts: Mapping[int, int], waste: Fraction) -> list[int]:
    """The fewest sizes under the bound, and of these the ones that waste least.

    The fewest sizes for the first machines never decrease with their number, so the machines with the same fewest
    number are a range, and the size before has its largest machine in the range before.
    """
    memories = list(counts)
    numbers, totals = _sums(counts)
    # By number of the first machines: the first machine that a size for the last one may serve, and the fewest sizes.
    first, few = [0], [0]
    start = 0
    for memory in memories:
        while memories[start] * (1 + waste) < memory:
            start += 1
        first.append(start)
        few.append(few[start] + 1)
    costs = [0] * len(few)
    origin = [0] * len(few)
    for count in range(1, few[-1] + 1):
        envelope = _Envelope()
        due = [end for end, number in enumerate(few) if number == count]
        candidates = [end for end, number in enumerate(few) if number == count - 1]
        # From the largest on: a smaller size may serve smaller machines too, so that candidates only come.
        for end in reversed(due):
            while candidates and candidates[-1] >= first[end]:
                before = candidates.pop()
                envelope.add(numbers[before], costs[before] + totals[before], before)
            memory = memories[end - 1]
            least, origin[end] = envelope.least(-memory)
            costs[end] = least + memory * numbers[end] - totals[end]
    sizes = []
    end = len(memories)
    while end:
        sizes.append(memories[end - 1])
        end = origin[end]
    return sizes[::-1]
