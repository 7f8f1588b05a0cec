"""What the collection tells of VMs beside its modules: the event source, and the inventory."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
COLLECTION = CHECKOUT / ".cache/collections/ansible_collections/virtshape/instancetypes"


class EventSource:
    """Runs the event source for a namespace until `stop`; `take` returns the transitions since the last call."""

    def __init__(self, kubeconfig: Path, namespace: str) -> None:
        place = COLLECTION / "extensions/eda/plugins/event_source/virtual_machines.py"
        spec = importlib.util.spec_from_file_location("event_source_of_virtual_machines", place)
        assert spec and spec.loader
        self._module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self._module)
        self._arguments = {"kubeconfig": str(kubeconfig), "namespace": namespace, "patience": 5}
        self._told: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._task: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def take(self) -> list[str]:
        told, self._told = self._told, []
        # Of several VMs, the order between them says nothing.
        return sorted(told, key=lambda event: event.partition(" ")[0])

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(lambda: self._task and self._task.cancel())
        self._thread.join(timeout=20)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

        async def follow() -> None:
            while True:
                event = await queue.get()
                self._told.append(f"{event['name']} {event['transition']}")

        async def both() -> None:
            await asyncio.gather(self._module.main(queue, self._arguments), follow())

        self._task = self._loop.create_task(both())
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._task)


def inventory(kubeconfig: Path, namespace: str) -> dict[str, Any]:
    """Host → its variables, as the inventory plugin has them of the running VMs of a namespace."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "vms.virtual_machines.yml"
        options = {"plugin": "virtshape.instancetypes.virtual_machines", "namespaces": [namespace]}
        source.write_text(json.dumps({**options, "kubeconfig": str(kubeconfig)}))
        command = [str(Path(sys.executable).with_name("ansible-inventory")), "--inventory", str(source), "--list"]
        environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(CHECKOUT / ".cache/collections")}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=folder)
    hosts: dict[str, Any] = json.loads(done.stdout)["_meta"]["hostvars"]
    return hosts
