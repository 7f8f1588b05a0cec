"""Requests at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")


def each(action: Callable[[_T], _R], items: Iterable[_T], concurrency: int) -> list[_R]:
    """Calls `action` on every item, on `concurrency` threads at most. The results in the order of the items.

    Each thread takes one item after the other. A future for each item would wake the caller up once for each request.
    An error ends its thread, and is raised when the others have ended.
    """
    given = list(items)
    results: list[Any] = [None] * len(given)
    left = iter(range(len(given)))

    def work() -> None:
        # Taking the next number is atomic.
        for number in left:
            results[number] = action(given[number])

    threads = max(1, min(concurrency, len(given)))
    with ThreadPoolExecutor(max_workers=threads) as pool:
        for one in [pool.submit(work) for _unused in range(threads)]:
            one.result()
    return results
