"""Requests at the same time, the pauses between them, and the end of all of them."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")

# Seconds for which a stopped task waits for the answers to what it has sent.
_LAST_ANSWERS: Final = 5.0
# The number of concurrent reads, unless the user sets `concurrency`.
_READS: Final = 8
# Threads share this with the threads that they start.
_stop: ContextVar[threading.Event] = ContextVar("stop")


display: ContextVar[Callable[[str], None]] = ContextVar("display", default=lambda _line: None)
"""Shows users a line while a module runs, if its action executes it directly (plugin_utils/_actions)."""

_FIRST = 0.1
_LONGEST = 5.0


class Stopped(BaseException):
    """The task has ended, by its timeout or by a signal. Not an Exception: it is no failure of an object."""


def raise_if_stopped() -> None:
    """Raises Stopped in a thread of a task that has ended. Called before each request."""
    stop = _stop.get(None)
    if stop is not None and stop.is_set():
        raise Stopped


def stoppable(stop: threading.Event) -> None:
    """Lets an event end this thread before its next request, with Stopped, and the threads that it starts."""
    _stop.set(stop)


@contextmanager
def until_signalled(clean_up: Callable[[], Any]) -> Iterator[None]:
    """Calls `clean_up` at the end of the block, also if a signal ends the process, as Ansible ends its workers."""
    received: list[int] = []
    ending = threading.Event()

    def stop(number: int, _frame: Any) -> None:
        received.append(number)
        if not ending.is_set():
            ending.set()
            raise Stopped

    handlers: dict[int, Any] = {}
    # Other threads get no signals.
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        ending.set()
        try:
            clean_up()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)
            for number in received[:1]:
                os.kill(os.getpid(), number)


def map_concurrently(action: Callable[[_T], _R], items: Iterable[_T], concurrency: int = _READS) -> list[_R]:
    """Calls `action` on every item, on `concurrency` threads at most. The results in the order of the items.

    Each thread takes one item after the other. A future for each item would wake the caller up once for each request.
    After an error no thread takes a further item, because its result would be lost. The error is raised when all
    threads have ended. An end of the caller, such as the timeout of its task, also stops the threads before their next
    request.
    """
    queue = list(items)
    results: list[Any] = [None] * len(queue)
    indexes = iter(range(len(queue)))
    stop = _stop.get(None) or threading.Event()
    errors: list[BaseException] = []

    def work() -> None:
        _stop.set(stop)
        try:
            # Taking the next index is atomic.
            for index in indexes:
                if errors:
                    return
                raise_if_stopped()
                results[index] = action(queue[index])
        except BaseException as error:
            errors.append(error)

    # Daemon threads do not keep the process alive for answers that are no longer needed.
    threads = [threading.Thread(target=work, daemon=True) for _unused in range(min(max(1, concurrency), len(queue)))]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException:
        stop.set()
        until = time.monotonic() + _LAST_ANSWERS
        for thread in threads:
            if thread.is_alive():
                thread.join(seconds_left(until))
        raise
    if errors:
        raise errors[0]
    return results


def seconds_left(deadline: float) -> float:
    """The seconds until a time of `time.monotonic`; 0 once it is over."""
    return max(0.0, deadline - time.monotonic())


class Backoff:
    """Pauses that double from 0.1 to 5 seconds, shortened at random so that clients do not retry at the same moment.

    tries: the attempts so far. seconds: the time since the first attempt.
    """

    def __init__(self) -> None:
        self._delay = _FIRST
        self._started = time.monotonic()
        self.tries = 1

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def next(self, minimum: float | None = None) -> float:
        """The next pause in seconds. minimum: the seconds that the server asks to wait."""
        delay, self._delay = self._delay, min(self._delay * 2, _LONGEST)
        self.tries += 1
        if minimum is not None:
            return minimum + random.uniform(0, delay)
        return random.uniform(delay / 2, delay)

    def pause(self, budget: float, minimum: float | None = None) -> bool:
        """Sleeps until the next attempt. Returns False at once if the attempt would come after `budget` seconds."""
        pause = self.next(minimum)
        if self.seconds + pause > budget:
            self.tries -= 1
            return False
        time.sleep(pause)
        return True
