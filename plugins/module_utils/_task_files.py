"""Finds the files that a task names, where Ansible looks for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_ROLE_FOLDERS: Final = ("tasks", "handlers")
_VARIABLE: Final = re.compile(r"\{\{\s*(role_path|playbook_dir)\s*\}\}")


def found(file: Path, folder: str, path: str) -> Path | None:
    """The file at a path; None if there is none, or only the run knows where.

    file: the one with the task. folder: the folder of a play or role in which Ansible looks first.
    """
    return next((place for place in _places(file.parent, folder, path) if place.is_file()), None)


def _places(own: Path, folder: str, path: str) -> Iterator[Path]:
    role = own.parent if own.name in _ROLE_FOLDERS else own
    bases = {"role_path": role, "playbook_dir": own}
    named = _VARIABLE.match(path)
    if named is not None:
        yield bases[named[1]] / path[named.end() :].lstrip("/")
        return
    for base in dict.fromkeys((role, own)):
        yield base / folder / path
        yield base / path
