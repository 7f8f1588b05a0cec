"""Importing this lets the collection be imported by its full name, through a link in .cache, as Ansible finds it."""

import contextlib
import os
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
_COLLECTIONS = CHECKOUT / ".cache" / "collections"
_LINK = _COLLECTIONS / "ansible_collections" / "virtshape" / "instancetypes"

if not _LINK.exists():
    _LINK.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        _LINK.symlink_to(os.path.relpath(CHECKOUT, _LINK.parent), target_is_directory=True)
sys.path.insert(0, str(_COLLECTIONS))
