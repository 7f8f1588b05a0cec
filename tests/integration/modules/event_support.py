"""The event source in this process, and the events that it has sent."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from loaded_files import load

from rights_support import CHECKOUT

COLLECTION = CHECKOUT / ".cache" / "collections" / "ansible_collections" / "virtshape" / "instancetypes"
SOURCE = load(COLLECTION / "extensions" / "eda" / "plugins" / "event_source" / "virtual_machines.py")


class Events:
    """The events that a source has sent so far, over all its starts."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(event["transition"], event["name"]) for event in self.sent]

    @contextlib.contextmanager
    def of(self, feedback: threading.Event | None = None, **arguments: Any) -> Iterator[None]:
        """Runs the source meanwhile. feedback: once set, events are acknowledged, as the rule engine does."""
        loop = asyncio.new_event_loop()
        queue: asyncio.Queue[Any] = asyncio.Queue(1)
        taken: asyncio.Queue[Any] = asyncio.Queue(1)
        if feedback is not None:
            arguments |= {"feedback": True, "eda_feedback_queue": taken}

        async def collect() -> None:
            while True:
                self.sent.append(await queue.get())
                while feedback is not None and not feedback.is_set():
                    await asyncio.sleep(0.05)
                if feedback is not None:
                    await taken.put(self.sent[-1])

        tasks = [loop.create_task(SOURCE.main(queue, arguments)), loop.create_task(collect())]
        thread = threading.Thread(target=lambda: loop.run_until_complete(asyncio.wait(tasks)))
        thread.start()
        try:
            yield
            assert not tasks[0].done(), tasks[0]
        finally:
            for task in tasks:
                loop.call_soon_threadsafe(task.cancel)
            thread.join()
            loop.close()
