"""Guest memory, hugepages, hot-plug limit and overcommit of an instancetype (KubeVirt ``applyMemory``)."""

from __future__ import annotations

import struct
from typing import Any

from ...api import behaviour
from ...api.quantity import Quantity, parse
from ...api.release import NEWEST, Release


def memory(instancetype: dict[str, Any], spec: dict[str, Any], release: Release = NEWEST) -> list[str]:
    """Reports only the first conflict, as KubeVirt does."""
    source = instancetype["memory"]
    domain = spec["domain"]
    own = domain.get("memory", {})
    resources = domain["resources"]
    if release.has(behaviour.ANY_MEMORY_CONFLICTS) and "memory" in domain:
        return ["domain.memory"]
    if "guest" in own:
        return ["domain.memory.guest"]
    for field in ("hugepages", "maxGuest"):
        if field in own and field in source:
            return [f"domain.memory.{field}"]
    for kind in ("requests", "limits"):
        if "memory" in resources.get(kind, {}):
            return [f"domain.resources.{kind}.memory"]

    target = domain.setdefault("memory", {})
    target["guest"] = source["guest"]
    if "hugepages" in source:
        target["hugepages"] = dict(source["hugepages"])
    if "maxGuest" in source:
        target["maxGuest"] = source["maxGuest"]
    percent = source.get("overcommitPercent", 0)
    if percent > 0:
        resources.setdefault("requests", {})["memory"] = requested(source["guest"], percent)
    return []


def requested(guest: str, percent: int) -> str:
    """The pod's memory request for overcommitted guest memory: a quantity in the guest's format.

    KubeVirt computes with 32-bit floats, so the result is off by up to one part in ten million; this returns the same
    bytes.
    """
    amount = parse(guest)
    share = _float32(1.0 - _float32(float(percent) / 100.0))
    product = _float32(_float32(amount.value) * share)
    # On amd64, Go converts a float beyond int64 to the lowest int64.
    value = int(product) if -(2.0**63) <= product < 2.0**63 else -(2**63)
    return Quantity.from_integer(value, amount.format).text


def _float32(value: float) -> float:
    """The nearest 32-bit float. Integers are rounded once, not first to a 64-bit float."""
    if isinstance(value, int) and abs(value) >= 2**53:
        shift = abs(value).bit_length() - 26
        # 26 leading bits and a sticky bit decide the rounding to 24 bits.
        sticky = 1 if abs(value) & ((1 << shift) - 1) else 0
        value = float((abs(value) >> shift << 1 | sticky) << (shift - 1)) * (1 if value > 0 else -1)
    result: float = struct.unpack("f", struct.pack("f", value))[0]
    return result
