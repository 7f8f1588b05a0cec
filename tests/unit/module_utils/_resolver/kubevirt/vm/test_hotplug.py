"""Hot-plugging of sockets and memory."""

from typing import Any

import pytest
from kubevirt_failures import failure

from plugins.module_utils._resolver.kubevirt.vm.hotplug import LiveUpdate, check_memory_hotplug, memory_update

Manifest = dict[str, Any]


def migratable(maximum: str | None = "4Gi", at_boot: str = "1Gi", *conditions: tuple[str, str]) -> Manifest:
    running: Manifest = {"spec": {"domain": {"cpu": {"sockets": 2, "maxSockets": 4}}}}
    running["spec"]["domain"]["memory"] = {"guest": "1536Mi", **({"maxGuest": maximum} if maximum else {})}
    reported = [{"type": name, "status": state} for name, state in (("LiveMigratable", "True"), *conditions)]
    running["status"] = {"conditions": reported, "memory": {"guestAtBoot": at_boot, "guestCurrent": "1536Mi"}}
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
def test_guests_without_memory_hotplug(domain: Manifest, fields: Manifest, reason: str) -> None:
    desired = {"domain": {"memory": {"guest": "2Gi"}, **domain}, **fields}
    assert reason in (memory_update(desired, migratable()).restart_required or "")
    assert bool(memory_update(desired, migratable()).changes) is not bool(reason)


def test_maximum_without_guest_memory() -> None:
    """Recorded of a VM that has only maxGuest."""
    expected = "Guest memory must be configured when memory hotplug is enabled"
    assert failure(check_memory_hotplug, {"domain": {"memory": {}}}, "2Gi").message == expected


def test_failed_memory_hotplug() -> None:
    desired: Manifest = {"domain": {"memory": {"guest": "1536Mi"}}}
    assert "failed" in (
        memory_update(desired, migratable("4Gi", "1Gi", ("HotMemoryChange", "False"))).restart_required or ""
    )
    without_memory = migratable()
    del without_memory["status"]["memory"]
    assert memory_update({"domain": {"memory": {"guest": "2Gi"}}}, without_memory) == LiveUpdate()
