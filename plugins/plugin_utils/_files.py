# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The files in a folder of a user."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path


def regular_files(folder: Path, enters: Callable[[Path], bool] = lambda _folder: True) -> Iterator[Path]:
    """The regular files below a folder, in order. enters: whether to read a folder below it.

    Links to folders are not followed, because they may lead back. Left out are links to nothing and what is not a file,
    such as a named pipe.
    """
    for entry in sorted(folder.iterdir()):
        if entry.is_file():
            yield entry
        elif entry.is_dir() and not entry.is_symlink() and enters(entry):
            yield from regular_files(entry, enters)
