"""IO threads of an instancetype (KubeVirt ``applyIOThreads``, ``applyIOThreadPolicy``)."""

from __future__ import annotations

from typing import Any, Final

from .conflict import Conflict

_COUNT: Final = "supplementalPoolThreadCount"


def io_threads(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[Conflict]:
    """The size of the supplemental pool. 0 counts as set on either side, an empty ioThreads does not."""
    count = instancetype.get("ioThreads", {}).get(_COUNT)
    if count is None:
        return []
    target = spec["domain"].setdefault("ioThreads", {})
    if _COUNT in target:
        return [Conflict(f"domain.ioThreads.{_COUNT}")]
    target[_COUNT] = count
    return []


def io_threads_policy(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[Conflict]:
    policy = instancetype.get("ioThreadsPolicy")
    if policy is None:
        return []
    if "ioThreadsPolicy" in spec["domain"]:
        return [Conflict("domain.ioThreadsPolicy")]
    spec["domain"]["ioThreadsPolicy"] = policy
    return []
