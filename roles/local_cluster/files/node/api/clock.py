"""The time in Kubernetes' formats."""

from __future__ import annotations

from datetime import datetime, timezone


def now() -> str:
    """The format of metav1.Time."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def precise_now() -> str:
    """The format of metav1.MicroTime."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
