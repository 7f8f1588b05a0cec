"""An exclusive file lock, which ends with the process that holds it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

_INTERVAL = 0.1  # seconds between two attempts


class Lock:
    """`flock` on `path`.

    The holder of the lock may remove the file (with the whole cluster), so a lock counts only while `path` names the
    locked file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.descriptor = -1

    def acquire(self, while_waiting: Callable[[float], None] | None = None) -> None:
        """Take the lock.

        While another process holds it, call `while_waiting` with the seconds so far; it may raise to give up.
        """
        began = time.monotonic()
        while not self._try():
            if while_waiting is not None:
                while_waiting(time.monotonic() - began)
            time.sleep(_INTERVAL)

    def _try(self) -> bool:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            current = self._path.stat()
        except (BlockingIOError, FileNotFoundError):
            os.close(descriptor)
            return False
        if (current.st_dev, current.st_ino) != (os.fstat(descriptor).st_dev, os.fstat(descriptor).st_ino):
            os.close(descriptor)
            return False
        self.descriptor = descriptor
        return True

    def is_held(self) -> bool:
        """Whether some process holds the lock."""
        try:
            descriptor = os.open(self._path, os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            # A shared lock, so that concurrent checks do not see each other.
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def release(self) -> None:
        """Release the lock, if held."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
