"""The ages of what the objects of a cluster tell."""

from __future__ import annotations

from datetime import datetime


def age(at: str, time: object) -> float:
    """The seconds from a time to `at`, both in RFC 3339 and UTC; 0 if either is unknown."""
    try:
        return (_parsed(at) - _parsed(str(time or ""))).total_seconds()
    except ValueError:
        return 0.0


def _parsed(time: str) -> datetime:
    return datetime.fromisoformat(time.replace("Z", "+00:00"))
