"""What virt-api rejects because KubeVirt could not change it in a running guest (KubeVirt ``vms-admitter.go``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..vmi import memory_plug
from .admission import INVALID, Cause

Manifest = dict[str, Any]


def live_updates(spec: Manifest, path: str) -> Iterator[Cause]:
    """validateLiveUpdateFeatures of a canonical VMI spec at a path, for clusters with live updates."""
    domain = spec["domain"]
    cpu, memory = domain.get("cpu") or {}, domain.get("memory") or {}
    if cpu.get("maxSockets") and cpu.get("sockets", 0) > cpu["maxSockets"]:
        message = "Number of sockets in CPU topology is greater than the maximum sockets allowed"
        yield Cause(INVALID, message, f"{path}.domain.cpu.sockets")
    if memory.get("maxGuest") is not None:
        wrong = memory_plug.refused(spec, memory["maxGuest"])
        if wrong is not None:
            yield Cause(INVALID, wrong, f"{path}.domain.memory.guest")
