"""The message for bugs of the collection."""

from __future__ import annotations

import traceback
from typing import Final

_REPORT: Final = "https://github.com/virtshape/instancetypes/issues"
_PLACE: Final = "/plugins/"


def bug_report(error: Exception) -> str:
    """Reports a bug in the collection and its place. The message contains no data, which may be secret."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _PLACE in frame.filename]
    place = ""
    if frames:
        place = f" in {frames[-1].filename.rpartition(_PLACE)[2]}, line {frames[-1].lineno}"
    return (
        f"this is a bug in the collection ({type(error).__name__}{place}); report it at {_REPORT} with this message,"
        " which contains no secrets, and with what you were doing"
    )
