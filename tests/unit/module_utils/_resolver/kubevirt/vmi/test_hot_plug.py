"""What a running VMI can be given of a changed VM."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.hot_plug import (
    Update,
    memory,
    refused,
)

Manifest = dict[str, Any]


def migratable(most: str | None = "4Gi", at_boot: str = "1Gi", *conditions: tuple[str, str]) -> Manifest:
    running: Manifest = {"spec": {"domain": {"cpu": {"sockets": 2, "maxSockets": 4}}}}
    running["spec"]["domain"]["memory"] = {"guest": "1536Mi", **({"maxGuest": most} if most else {})}
    told = [{"type": name, "status": state} for name, state in (("LiveMigratable", "True"), *conditions)]
    running["status"] = {"conditions": told, "memory": {"guestAtBoot": at_boot, "guestCurrent": "1536Mi"}}
    return running


@pytest.mark.parametrize(
    ("domain", "fields", "reason"),
    [
        ({"cpu": {"realtime": {}}}, {}, "realtime"),
        ({"cpu": {"numa": {"guestMappingPassthrough": {}}}}, {}, "guest mapping passthrough"),
        ({"launchSecurity": {"sev": {}}}, {}, "encrypted"),
        ({"memory": {"guest": "2Gi", "hugepages": {"pageSize": "1Gi"}}}, {}, ""),
        ({"memory": {"guest": "2050Mi", "hugepages": {"pageSize": "1Gi"}}}, {}, "Guest memory must be 1Gi aligned"),
        ({}, {"architecture": "arm64"}, "x86_64"),
    ],
)
def test_guests_that_are_given_no_memory(domain: Manifest, fields: Manifest, reason: str) -> None:
    wanted = {"domain": {"memory": {"guest": "2Gi"}, **domain}, **fields}
    assert reason in (memory(wanted, migratable()).restart_required or "")
    assert bool(memory(wanted, migratable()).changes) is not bool(reason)


def test_a_maximum_without_memory() -> None:
    """Recorded of a VM that has only maxGuest."""
    expected = "Guest memory must be configured when memory hotplug is enabled"
    assert refused({"domain": {"memory": {}}}, "2Gi") == expected


def test_memory_that_a_guest_did_not_take() -> None:
    wanted: Manifest = {"domain": {"memory": {"guest": "1536Mi"}}}
    assert "failed" in (memory(wanted, migratable("4Gi", "1Gi", ("HotMemoryChange", "False"))).restart_required or "")
    silent = migratable()
    del silent["status"]["memory"]
    assert memory({"domain": {"memory": {"guest": "2Gi"}}}, silent) == Update()
