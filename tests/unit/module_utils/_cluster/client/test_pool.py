"""Requests at the same time."""

from __future__ import annotations

import threading

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.pool import each


@pytest.mark.parametrize("concurrency", [0, 1, 4, 100])
def test_every_item_is_taken_once_and_results_keep_the_order(concurrency: int) -> None:
    taken: list[int] = []

    def double(number: int) -> int:
        taken.append(number)
        return 2 * number

    assert each(double, range(50), concurrency) == list(range(0, 100, 2))
    assert sorted(taken) == list(range(50))


def test_as_many_threads_as_are_allowed_work_at_the_same_time_and_no_more() -> None:
    together, threads = threading.Barrier(3, timeout=10), set()

    def meet(_number: int) -> None:
        threads.add(threading.current_thread())
        together.wait()

    each(meet, range(9), 3)
    assert len(threads) == 3


def test_nothing_to_do() -> None:
    assert each(str, [], 16) == []


def test_an_error_is_raised_once_the_others_have_ended() -> None:
    done: list[int] = []

    def some(number: int) -> None:
        if number == 1:
            raise ValueError("one")
        done.append(number)

    with pytest.raises(ValueError, match="one"):
        each(some, range(10), 2)
    assert sorted(done) == [0, 2, 3, 4, 5, 6, 7, 8, 9]
