"""Whole results that somebody has looked at: pages, pictures, and what is reported of manifests.

A test of a single phrase says little of a page. Such a result is kept in `approved/`, and a test fails where it is no
longer the same. Where it should not be, write the files anew with ``VIRTSHAPE_APPROVE=1 pytest ...``, look at them as a
user would, and commit them.
"""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).with_name("approved")


def check(name: str, result: str) -> None:
    """Fails where the result is not the approved file of that name."""
    path = FOLDER / name
    if os.environ.get("VIRTSHAPE_APPROVE"):
        path.write_text(result, encoding="utf-8")
    approved = path.read_text(encoding="utf-8")
    assert result.splitlines() == approved.splitlines(), f"not what was approved in {path.name}"
