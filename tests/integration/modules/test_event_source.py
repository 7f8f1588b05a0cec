"""The event source with no more than its rights: it tells each transition once, also after a gap and a restart."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loaded_files import load

from modules_support import vm, wait_until
from plugins.module_utils._cluster.client.errors import ApiError
from plugins.module_utils._cluster.client.session import Session
from rights_support import CHECKOUT, atoms, granted

RIGHTS = "event_sources/virtual_machines"
COLLECTION = CHECKOUT / ".cache" / "collections" / "ansible_collections" / "virtshape" / "instancetypes"
SOURCE = load(COLLECTION / "extensions" / "eda" / "plugins" / "event_source" / "virtual_machines.py")
Run = Callable[..., dict[str, Any]]


class Events:
    """What a source has sent so far, over all its starts."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(event["transition"], event["name"]) for event in self.sent]

    @contextlib.contextmanager
    def of(self, **arguments: Any) -> Iterator[None]:
        """Runs the source meanwhile."""
        loop = asyncio.new_event_loop()
        queue: asyncio.Queue[Any] = asyncio.Queue(1)

        async def collect() -> None:
            while True:
                self.sent.append(await queue.get())

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


@pytest.fixture
def expired(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Once set, the next event of a watch of VMs is lost, because the watch has expired."""
    result, original = threading.Event(), Session.watch

    def watch(self: Session, kind: Any, *arguments: Any, **query: str) -> Iterator[dict[str, Any]]:
        for event in original(self, kind, *arguments, **query):
            if kind.kind == "VirtualMachine" and result.is_set():
                result.clear()
                raise ApiError(410, {"reason": "Expired", "message": "too old resource version"})
            yield event

    monkeypatch.setattr(Session, "watch", watch)
    return result


def test_each_transition_is_told_once(cluster: Path, run: Run, expired: threading.Event) -> None:
    with granted(cluster, [RIGHTS]) as account:
        place = {"namespace": account.namespace}

        def size(memory: str) -> None:
            assert run("instancetype", **place, name="small", cpu={"guest": 1}, memory={"guest": memory})["changed"]

        def declare(name: str) -> None:
            entry = {key: value for key, value in vm(name).items() if key != "preference"}
            assert not run("virtual_machine", **place, **entry, wait=True).get("failed")

        events = Events()
        arguments = {
            **place,
            "kubeconfig": str(cluster),
            "impersonate_user": account.user,
            "impersonate_groups": account.groups(atoms(RIGHTS)),
            "state_config_map": f"{account.namespace}/state",
            "delay": 0.2,
        }
        size("1Gi")
        declare("a")
        with events.of(**arguments):
            wait_until(lambda: ("running", "a") in events.told)
            expired.set()
            declare("b")
            wait_until(lambda: ("running", "b") in events.told)
            assert not expired.is_set()
            size("2Gi")
            wait_until(lambda: {("drifted", "a"), ("drifted", "b")} <= set(events.told))
        before = len(events.sent)
        size("3Gi")
        run("virtual_machine", **place, name="b", state="absent", wait=True)
        with events.of(**arguments):
            wait_until(lambda: len(events.sent) >= before + 2)
        assert sorted(events.told[before:]) == [("deleted", "b"), ("drifted", "a")]
        assert len({event["id"] for event in events.sent}) == len(events.sent)
