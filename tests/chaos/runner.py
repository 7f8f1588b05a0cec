"""Runs that can be killed: modules, forked from a process that has imported them, and playbooks."""

import contextlib
import importlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from multiprocessing.connection import Connection
from typing import Any
from unittest import mock

from ansible_environment import flat

from modules_support import MODULES, execute
from plugins.module_utils._cluster.client import sender

Manifest = dict[str, Any]

USED = ("controller_revision", "virtual_machine", "virtual_machine_power")

for name in USED:
    importlib.import_module(f"{MODULES}.{name}")


def _run(module: str, options: Manifest, timeout: float, end: Connection) -> None:
    with (
        mock.patch.object(sender, "_READ_TIMEOUT", timeout),
        mock.patch.object(sender, "_WATCH_TIMEOUT", 10 * timeout),
    ):
        end.send(execute(module, options))


class Run:
    """A module under way. timeout: the seconds after which it gives up a request without an answer."""

    def __init__(self, module: str, options: Manifest, timeout: float) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["runner"])
        self._end, end = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(module, options, timeout, end), daemon=True)
        # The process that forks knows no path but that of its environment.
        with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(item for item in sys.path if item)):
            self._process.start()
        end.close()

    @property
    def lives(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        """SIGKILL; returns once the process is gone."""
        self._process.kill()
        self._process.join()
        self._end.close()

    def result(self) -> Manifest:
        """Waits for the result that the module prints."""
        with self._end:
            output: Manifest = self._end.recv()
        self._process.join()
        return output


class Play:
    """A playbook under way."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._output = ""
        # A pipe that nobody reads would hold it up.
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        self._output, _nothing = self._process.communicate()

    @property
    def lives(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """SIGKILL to ansible-playbook, and to the workers and modules that have process groups of their own."""
        frozen: list[int] = []
        # A stopped process starts no other one, so that none is forgotten.
        while result := [pid for pid in [self._process.pid, *_descendants(self._process.pid)] if pid not in frozen]:
            _signal(result, signal.SIGSTOP)
            frozen += result
        _signal(frozen, signal.SIGKILL)
        self._reader.join()

    def result(self) -> Manifest:
        """Waits for the end. msg: all that was printed, on one line."""
        self._reader.join()
        return {"failed": self._process.returncode != 0, "msg": flat(self._output)}


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def _descendants(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], stdout=subprocess.PIPE, text=True, check=True).stdout
    children: dict[int, list[int]] = defaultdict(list)
    for line in listed.splitlines():
        child, parent = map(int, line.split())
        children[parent].append(child)
    result, todo = [], [pid]
    while todo:
        own = children[todo.pop()]
        result += own
        todo += own
    return result
