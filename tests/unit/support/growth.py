"""Measures the growth of a function's work with its input, in calls instead of seconds."""

import sys
import threading
from collections.abc import Callable
from typing import Any

FEW = 30


def growth(work: Callable[[int], Callable[[], Any]], few: int = FEW) -> float:
    """The factor of calls for four times as many objects: 4 for linear work, 16 for the square. work: the number of
    objects → the counted work."""
    work(2)()
    item, four = (calls(work(count)) for count in (few, 4 * few))
    return four / item


def calls(work: Callable[[], Any]) -> int:
    """The calls of functions, and the steps of generators, in this thread and those that it starts."""
    counted = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    threading.setprofile(count)
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return counted
