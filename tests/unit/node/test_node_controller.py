"""The controllers' queue."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from node.api.controller import WorkQueue

Handler = Callable[[str], Awaitable[None]]


async def worked_off(queue: WorkQueue[str], handle: Handler, done: asyncio.Event, workers: int = 3) -> None:
    """Runs the queue until `done` is set; raises TimeoutError if that never happens."""
    running = asyncio.create_task(queue.run(workers, handle))
    try:
        await asyncio.wait_for(done.wait(), 10)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def test_a_key_added_often_is_handled_once() -> None:
    async def scenario() -> list[str]:
        queue: WorkQueue[str] = WorkQueue()
        handled: list[str] = []
        done = asyncio.Event()

        async def handle(key: str) -> None:
            handled.append(key)
            if key == "last":
                done.set()

        for key in ("a", "a", "b", "a", "last"):
            queue.add(key)
        await worked_off(queue, handle, done, workers=1)
        return handled

    assert asyncio.run(scenario()) == ["a", "b", "last"]


def test_key_added_during_handling_is_handled_again_afterwards() -> None:
    async def scenario() -> tuple[int, int]:
        queue: WorkQueue[str] = WorkQueue()
        running, most, times = 0, 0, 0
        done = asyncio.Event()

        async def handle(key: str) -> None:
            nonlocal running, most, times
            running, times = running + 1, times + 1
            most = max(most, running)
            if times == 1:
                queue.add(key)
            await asyncio.sleep(0)
            running -= 1
            if times == 2:
                done.set()

        queue.add("a")
        await worked_off(queue, handle, done)
        return times, most

    assert asyncio.run(scenario()) == (2, 1)


def test_a_handler_that_raises_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> int:
        queue: WorkQueue[str] = WorkQueue()
        times = 0
        done = asyncio.Event()

        async def handle(_key: str) -> None:
            nonlocal times
            times += 1
            if times < 3:
                raise ValueError("not yet")
            done.set()

        queue.add("a")
        await worked_off(queue, handle, done)
        return times

    assert asyncio.run(scenario()) == 3
    assert "not yet" in caplog.text
