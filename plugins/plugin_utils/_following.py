# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Prints the lines of a file as they are written."""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import TextIO

_PAUSE = 0.5


@contextlib.contextmanager
def followed(show: Callable[[str], None]) -> Iterator[str]:
    """The path of a new file, whose lines are shown until the end of the context."""
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", prefix="virtshape-") as file:
        done = threading.Event()
        thread = threading.Thread(target=_follow, args=(file, show, done), daemon=True)
        thread.start()
        try:
            yield file.name
        finally:
            done.set()
            thread.join()


def _follow(file: TextIO, show: Callable[[str], None], done: threading.Event) -> None:
    last = False
    while not last:
        last = done.wait(_PAUSE)
        for line in file.read().splitlines():
            show(line)
