"""Paths of files in containers."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from .cause import INVALID, Cause


def absolute_path(path: str, field: str) -> Iterator[Cause]:
    """storageadmitters.ValidatePath."""
    if path == "/":
        yield Cause(INVALID, f"{field} must not point to root", field)
    elif _clean(path) != path.removesuffix("/"):
        message = f"{field} must be an absolute path to a file without relative components"
        yield Cause(INVALID, message, field)


def _clean(path: str) -> str:
    """Go's filepath.Join("/", path)."""
    # Two leading slashes are special in POSIX and so in Python, but not in Go.
    return posixpath.normpath("/" + path.lstrip("/"))
