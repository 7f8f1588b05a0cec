"""Modules in processes of their own, which can be killed: forked from a process that has imported them."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
from multiprocessing.connection import Connection
from typing import Any
from unittest import mock

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.act import guests
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client import session
from modules_support import MODULES, execute

Manifest = dict[str, Any]

USED = ("controller_revision", "lease", "virtual_machine", "virtual_machine_power")
# Seconds until the VM of a new guest is read once more.
QUIET = 0.05

for name in USED:
    importlib.import_module(f"{MODULES}.{name}")


def _run(module: str, options: Manifest, patience: float, end: Connection) -> None:
    with (
        mock.patch.object(session, "_READ_TIMEOUT", patience),
        mock.patch.object(session, "_WATCH_TIMEOUT", 10 * patience),
        mock.patch.object(guests, "_QUIET", QUIET),
    ):
        end.send(execute(module, options))


class Run:
    """A module under way. patience: the seconds after which it gives up a request without an answer."""

    def __init__(self, module: str, options: Manifest, patience: float) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["runner"])
        self._end, end = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(module, options, patience, end), daemon=True)
        # The process that forks knows no path but that of its environment.
        with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(one for one in sys.path if one)):
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
            told: Manifest = self._end.recv()
        self._process.join()
        return told
