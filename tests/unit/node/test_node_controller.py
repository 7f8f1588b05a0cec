"""The controllers' queue."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from node_support import in_loop

from node.api.controller import WorkQueue

Handler = Callable[[str], Awaitable[None]]


async def worked_off(queue: WorkQueue[str], handle: Handler, done: asyncio.Event, workers: int = 3) -> None:
    """Runs the queue until `done` is set."""
    running = asyncio.create_task(queue.run(workers, handle))
    try:
        await done.wait()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@in_loop
async def test_a_key_added_often_is_handled_once() -> None:
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
    assert handled == ["a", "b", "last"]


@in_loop
async def test_key_added_during_handling_is_handled_again_afterwards() -> None:
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
    assert (times, most) == (2, 1)


@in_loop
async def test_a_handler_that_raises_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
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
    assert times == 3 and "not yet" in caplog.text


@in_loop
async def test_changes_between_tries_add_no_further_tries() -> None:
    queue: WorkQueue[str] = WorkQueue()
    times = 0
    done = asyncio.Event()

    async def handle(key: str) -> None:
        nonlocal times
        if key == "last":
            done.set()
            return
        times += 1
        raise ValueError("broken")

    async def change() -> None:
        for _number in range(50):
            queue.add("broken")
            # The handler fails before the next change.
            while queue._dirty:
                await asyncio.sleep(0)
        assert times == 50 and len(queue._later) == 1
        queue.add_after("last", 0.001)
        queue.add_after("last", 60)
        await done.wait()
        assert set(queue._later) == {"broken"}

    changing = asyncio.create_task(change())
    await worked_off(queue, handle, done)
    await changing
