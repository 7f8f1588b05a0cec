"""Writes files such that none is ever half written, on a full disk or beside other processes."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from pathlib import Path
from typing import Final

_NO_NEIGHBOUR: Final = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV)


def write_file(path: Path, content: str | bytes) -> None:
    """Writes a file atomically; an existing file keeps its mode. Text is written in UTF-8.

    Raises OSError, which names the file.
    """
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        # A device such as /dev/stdout cannot be replaced.
        path.write_bytes(data)
        return
    # A symbolic link stays; what it refers to is replaced.
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{uuid.uuid4().hex}.tmp")
    try:
        # The file has the mode of other new files of the user, unlike a file of tempfile.
        with temporary.open("xb") as file:
            file.write(data)
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in _NO_NEIGHBOUR and target.exists():
            # The file may be written, though none may be put beside it, or replace it, such as one that is mounted.
            target.write_bytes(data)
            return
        if isinstance(error, OSError):
            # The error of a full disk names no file, others the temporary one.
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
