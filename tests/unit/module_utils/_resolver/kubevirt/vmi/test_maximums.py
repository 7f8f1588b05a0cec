"""Maximums of sockets and memory of a new VMI."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.hotplug import (
    Limits,
    limits,
    set_maximums,
)

Manifest = dict[str, Any]


def maximums(allowed: Limits, memory: Manifest | None = None, **cpu: int) -> tuple[int | None, str | None]:
    domain = {"cpu": {"sockets": 1, "cores": 1, "threads": 1, **cpu}, "memory": memory or {"guest": "2Gi"}}
    set_maximums({"architecture": "amd64", "domain": domain}, allowed)
    return domain["cpu"].get("maxSockets"), domain["memory"].get("maxGuest")


@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        ({}, Limits()),
        ({"liveUpdateConfiguration": None}, Limits()),
        ({"liveUpdateConfiguration": {"maxCpuSockets": 6}}, Limits(sockets=6)),
        ({"liveUpdateConfiguration": {"maxGuest": "6144Mi"}}, Limits(memory="6Gi")),
        ({"liveUpdateConfiguration": {"maxHotplugRatio": 2}}, Limits(ratio=2)),
    ],
)
def test_limits_of_cluster(configuration: Manifest, expected: Limits) -> None:
    assert limits(configuration) == expected


@pytest.mark.parametrize(
    ("allowed", "cpu", "expected"),
    [
        (Limits(), {}, 4),
        (Limits(), {"maxSockets": 7}, 7),
        (Limits(), {"sockets": 200}, 512),
        (Limits(), {"sockets": 600}, 600),
        (Limits(ratio=2), {"sockets": 3}, 6),
        (Limits(sockets=6), {}, 6),
        (Limits(sockets=6), {"sockets": 16}, 16),
        (Limits(sockets=6), {"maxSockets": 8}, 8),
    ],
)
def test_sockets(allowed: Limits, cpu: dict[str, int], expected: int) -> None:
    assert maximums(allowed, **cpu)[0] == expected


@pytest.mark.parametrize(
    ("allowed", "memory", "expected"),
    [
        (Limits(), {"guest": "2Gi"}, "8Gi"),
        (Limits(), {"guest": "2Gi", "maxGuest": "3Gi"}, "3Gi"),
        (Limits(), {"guest": "512Mi"}, None),
        (Limits(), {"hugepages": {"pageSize": "2Mi"}}, None),
        (Limits(memory="6Gi"), {"guest": "2Gi"}, "6Gi"),
        # A guest that has more already can be given nothing.
        (Limits(memory="1Gi"), {"guest": "2Gi"}, None),
        (Limits(ratio=3), {"guest": "2Gi"}, "6Gi"),
    ],
)
def test_memory(allowed: Limits, memory: Manifest, expected: str | None) -> None:
    assert maximums(allowed, memory)[1] == expected


@pytest.mark.parametrize("field", ["maxCpuSockets", "maxHotplugRatio"])
def test_limit_of_wrong_type(field: str) -> None:
    with pytest.raises(ValueError, match=f"liveUpdateConfiguration.{field}: expected a whole number, found '4'"):
        limits({"liveUpdateConfiguration": {field: "4"}})
