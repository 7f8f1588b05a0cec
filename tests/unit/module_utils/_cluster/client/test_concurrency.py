"""Requests at the same time."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from unittest import mock

import pytest

from plugins.module_utils._cluster.client import concurrency
from plugins.module_utils._cluster.client.concurrency import Stopped, map_concurrently, until_signalled
from scripted_server import session_with


@pytest.mark.parametrize("concurrency", [0, 1, 4, 100])
def test_each_item_runs_once_in_order(concurrency: int) -> None:
    taken: list[int] = []

    def double(number: int) -> int:
        taken.append(number)
        return 2 * number

    assert map_concurrently(double, range(50), concurrency) == list(range(0, 100, 2))
    assert sorted(taken) == list(range(50))


def test_concurrency_limits_the_threads() -> None:
    together, threads = threading.Barrier(3, timeout=10), set()

    def meet(_number: int) -> None:
        threads.add(threading.current_thread())
        together.wait()

    map_concurrently(meet, range(9), 3)
    assert len(threads) == 3


def test_nothing_to_do() -> None:
    assert map_concurrently(str, [], 16) == []


def test_error_is_raised_after_running_items_end() -> None:
    together, done = threading.Barrier(2, timeout=10), []

    def some(number: int) -> None:
        together.wait()
        if number == 1:
            raise ValueError("one")
        time.sleep(0.1)
        done.append(number)

    with pytest.raises(ValueError, match="one"):
        map_concurrently(some, range(10), 2)
    assert done == [0]


class TimedOut(BaseException):
    """The exception with which Ansible ends a task that takes too long."""


@contextmanager
def timeout(seconds: float) -> Iterator[None]:
    """Within this context, a task has so many seconds, as Ansible measures them."""

    def end(_signal: int, _frame: Any) -> None:
        raise TimedOut

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_after_a_timeout_no_item_is_taken() -> None:
    taken: list[int] = []

    def write(number: int) -> None:
        taken.append(number)
        time.sleep(0.2)

    with pytest.raises(TimedOut), timeout(0.3):
        map_concurrently(write, range(64), 4)
    result = len(taken)
    time.sleep(0.5)
    assert result == len(taken) < 64


def test_threads_of_threads_stop_too() -> None:
    taken: list[int] = []
    ended = threading.Event()

    def write(number: int) -> None:
        taken.append(number)
        time.sleep(0.2)

    def object_of_many(_number: int) -> None:
        try:
            map_concurrently(write, range(64), 2)
        except Stopped:
            ended.set()
            raise

    with pytest.raises(TimedOut), timeout(0.3):
        map_concurrently(object_of_many, range(1), 1)
    assert ended.wait(5)
    assert len(taken) < 64


def test_stopped_item_sends_no_further_request() -> None:
    requests: list[str] = []
    slow = threading.Event()

    def answer(method: str, path: str, _query: dict[str, str]) -> tuple[int, Any]:
        requests.append(f"{method} {path}")
        slow.wait(10)
        return 503, {"kind": "Status", "code": 503, "message": "busy"}

    with session_with(answer, retry_timeout=30) as session, mock.patch.object(concurrency, "_LAST_ANSWERS", 0.1):
        with pytest.raises(TimedOut), timeout(0.3):
            map_concurrently(lambda name: session.request("DELETE", f"/{name}"), ("one",), 1)
        slow.set()
        time.sleep(0.5)
        assert requests == ["DELETE /one"]


def test_a_signal_cleans_up_first() -> None:
    """Ansible ends its workers by signals, whose handlers end the process at once."""
    done: list[str] = []
    before = signal.signal(signal.SIGTERM, lambda *_arguments: done.append("handled as before"))
    try:
        with pytest.raises(Stopped), until_signalled(lambda: done.append("cleaned up")):
            os.kill(os.getpid(), signal.SIGTERM)
            done.append("went on")
        with until_signalled(lambda: done.append("at the end")):
            pass
        assert done == ["cleaned up", "handled as before", "at the end"]
        with ThreadPoolExecutor() as pool:
            pool.submit(lambda: until_signalled(lambda: done.append("in a thread")).__enter__()).result()
    finally:
        signal.signal(signal.SIGTERM, before)
