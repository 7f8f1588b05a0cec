"""IO threads of an instancetype (KubeVirt ``applyIOThreads``, ``applyIOThreadPolicy``)."""

from __future__ import annotations

from typing import Any, Final

from .conflict import set_or_conflict

_COUNT: Final = "supplementalPoolThreadCount"


def io_threads(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    """The size of the supplemental pool. 0 counts as set on either side, an empty ioThreads does not."""
    source = instancetype.get("ioThreads", {})
    if _COUNT not in source:
        return []
    return set_or_conflict(source, spec["domain"].setdefault("ioThreads", {}), _COUNT, "domain.ioThreads.")


def io_threads_policy(instancetype: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    return set_or_conflict(instancetype, spec["domain"], "ioThreadsPolicy", "domain.")
