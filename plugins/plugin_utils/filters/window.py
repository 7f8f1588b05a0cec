"""The filter _window."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from .._window import WindowError, schedule


def window(
    windows: Any, deadline: Any, time_zone: Any, start: str = "", now: str = "", seconds: Any = 0
) -> dict[str, str]:
    """See its documentation."""
    try:
        planned = schedule(windows, deadline, time_zone)
    except WindowError as error:
        return {"bad_input": str(error), "refusal": ""}
    refusal = planned.refusal(_utc(start or now), _utc(now), float(seconds)) if now else ""
    return {"bad_input": "", "refusal": refusal}


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)
