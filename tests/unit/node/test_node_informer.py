"""The caches, fed by a list and a watch."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from node.api.client import ApiError
from node.api.informer import Informer
from node.api.resources import VMI

Manifest = dict[str, Any]
KEY = ("ns", "a")


def vm(version: int, uid: str = "1", **extra: Any) -> Manifest:
    metadata = {"namespace": "ns", "name": "a", "uid": uid, "resourceVersion": str(version), "managedFields": []}
    return {"metadata": metadata, **extra}


class Server:
    """Answers lists in turn, and to each watch the events that belong to it."""

    def __init__(self, lists: list[list[Manifest]], watches: list[list[tuple[str, Manifest]]]) -> None:
        self._lists, self._watches = iter(lists), iter(watches)
        self.exhausted = asyncio.Event()

    async def list(self, _resource: object) -> Manifest:
        items = next(self._lists, None)
        if items is None:
            self.exhausted.set()
            await asyncio.Event().wait()
        return {"items": items, "metadata": {"resourceVersion": "1"}}

    async def watch(self, _resource: object, _version: str) -> AsyncIterator[Manifest]:
        for kind, manifest in next(self._watches, []):
            yield {"type": kind, "object": manifest}
        raise ApiError(410, {"message": "too old"})


def after(lists: list[list[Manifest]], watches: list[list[tuple[str, Manifest]]]) -> tuple[Informer, list[Any]]:
    """The cache after all that, and the keys its handlers were told."""

    async def scenario() -> tuple[Informer, list[Any]]:
        server = Server(lists, watches)
        informer = Informer(server, VMI)  # type: ignore[arg-type]
        notified: list[Any] = []
        informer.on_change(notified.append)
        running = asyncio.create_task(informer.run())
        await asyncio.wait_for(server.exhausted.wait(), 10)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return informer, notified

    return asyncio.run(scenario())


def test_lists_and_watches() -> None:
    informer, notified = after([[vm(1)]], [[("MODIFIED", vm(2, spec={"x": 1}))]])
    result = informer.get(KEY)
    assert result is not None and result["spec"] == {"x": 1}
    assert "managedFields" not in result["metadata"]
    assert notified == [KEY, KEY]


def test_deleted_object_is_removed_and_notified() -> None:
    informer, notified = after([[vm(1)]], [[("DELETED", vm(2))]])
    assert informer.get(KEY) is None
    assert notified == [KEY, KEY]


def test_relist_notifies_of_deleted_objects() -> None:
    informer, notified = after([[vm(1)], []], [])
    assert informer.get(KEY) is None
    assert notified == [KEY, KEY]


def test_observed_write_counts_immediately_and_notifies_once() -> None:
    informer, _unused = after([[vm(1)]], [])
    notified: list[Any] = []
    informer.on_change(notified.append)
    informer.observe(vm(3))
    informer.observe(vm(2))
    result = informer.get(KEY)
    assert result is not None and result["metadata"]["resourceVersion"] == "3"
    assert notified == [KEY]


def test_late_response_does_not_revive_deleted_object() -> None:
    informer, _unused = after([[vm(1)]], [[("DELETED", vm(5))]])
    informer.observe(vm(4))
    assert informer.get(KEY) is None
    informer.observe(vm(6, uid="2"))
    assert informer.get(KEY) is not None
