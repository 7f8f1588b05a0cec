"""Maximums of sockets and memory of a new VMI."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.hotplug import (
    LiveUpdateLimits,
    limits,
    set_maximums,
)

Manifest = dict[str, Any]


def maximums(allowed: LiveUpdateLimits, memory: Manifest | None = None, **cpu: int) -> tuple[int | None, str | None]:
    domain = {"cpu": {"sockets": 1, "cores": 1, "threads": 1, **cpu}, "memory": memory or {"guest": "2Gi"}}
    set_maximums({"architecture": "amd64", "domain": domain}, allowed)
    return domain["cpu"].get("maxSockets"), domain["memory"].get("maxGuest")


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ({}, LiveUpdateLimits()),
        ({"liveUpdateConfiguration": None}, LiveUpdateLimits()),
        ({"liveUpdateConfiguration": {"maxCpuSockets": 6}}, LiveUpdateLimits(sockets=6)),
        ({"liveUpdateConfiguration": {"maxGuest": "6144Mi"}}, LiveUpdateLimits(memory="6Gi")),
        ({"liveUpdateConfiguration": {"maxHotplugRatio": 2}}, LiveUpdateLimits(ratio=2)),
    ],
)
def test_limits_of_cluster(configuration: Manifest, expected: LiveUpdateLimits) -> None:
    assert limits(configuration) == expected


@pytest.mark.parametrize(
    ("allowed", "cpu", "expected"),
    [
        (LiveUpdateLimits(), {}, 4),
        (LiveUpdateLimits(), {"maxSockets": 7}, 7),
        (LiveUpdateLimits(), {"sockets": 200}, 512),
        (LiveUpdateLimits(), {"sockets": 600}, 600),
        (LiveUpdateLimits(ratio=2), {"sockets": 3}, 6),
        (LiveUpdateLimits(sockets=6), {}, 6),
        (LiveUpdateLimits(sockets=6), {"sockets": 16}, 16),
        (LiveUpdateLimits(sockets=6), {"maxSockets": 8}, 8),
    ],
)
def test_sockets(allowed: LiveUpdateLimits, cpu: dict[str, int], expected: int) -> None:
    assert maximums(allowed, **cpu)[0] == expected


@pytest.mark.parametrize(
    ("allowed", "memory", "expected"),
    [
        (LiveUpdateLimits(), {"guest": "2Gi"}, "8Gi"),
        (LiveUpdateLimits(), {"guest": "2Gi", "maxGuest": "3Gi"}, "3Gi"),
        (LiveUpdateLimits(), {"guest": "512Mi"}, None),
        (LiveUpdateLimits(), {"hugepages": {"pageSize": "2Mi"}}, None),
        (LiveUpdateLimits(memory="6Gi"), {"guest": "2Gi"}, "6Gi"),
        # A guest that has more already can be given nothing.
        (LiveUpdateLimits(memory="1Gi"), {"guest": "2Gi"}, None),
        (LiveUpdateLimits(ratio=3), {"guest": "2Gi"}, "6Gi"),
    ],
)
def test_memory(allowed: LiveUpdateLimits, memory: Manifest, expected: str | None) -> None:
    assert maximums(allowed, memory)[1] == expected


@pytest.mark.parametrize("field", ["maxCpuSockets", "maxHotplugRatio"])
def test_limit_of_wrong_type(field: str) -> None:
    with pytest.raises(ValueError, match=f"liveUpdateConfiguration.{field}: expected a whole number, found '4'"):
        limits({"liveUpdateConfiguration": {field: "4"}})
