"""Counts of requests, responses and faults."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fault_proxy.request import RequestInfo


class Counts:
    """Numbers since the start, or since `clear`.

    requests, writes: received, including those that a fault ended. by_resource: by `VERB RESOURCE`.
    responses: by status, as the client got them. faults: by kind. at_once: the maximum of concurrent requests, without
    watches.
    """

    def __init__(self) -> None:
        self._requests: Counter[str] = Counter()
        self._writes = 0
        self._responses: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._under_way = 0
        self._at_once = 0

    def begin(self, request: RequestInfo) -> None:
        self._requests[f"{request.verb} {request.resource}"] += 1
        self._writes += request.writes
        if not request.watches:
            self._under_way += 1
            self._at_once = max(self._at_once, self._under_way)

    def end(self, request: RequestInfo) -> None:
        if not request.watches:
            self._under_way -= 1

    def response(self, status: int) -> None:
        self._responses[str(status)] += 1

    def fault(self, kind: str) -> None:
        self._faults[kind] += 1

    def clear(self) -> None:
        """Resets the numbers, except for requests in progress."""
        for counter in (self._requests, self._responses, self._faults):
            counter.clear()
        self._writes = 0
        self._at_once = self._under_way

    def to_dict(self) -> dict[str, Any]:
        return {
            "requests": self._requests.total(),
            "writes": self._writes,
            "by_resource": dict(sorted(self._requests.items())),
            "responses": dict(sorted(self._responses.items())),
            "faults": dict(sorted(self._faults.items())),
            "at_once": self._at_once,
        }
