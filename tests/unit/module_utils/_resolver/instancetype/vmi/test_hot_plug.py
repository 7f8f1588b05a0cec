"""What a running VMI can be given of a changed VM."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.vmi.hot_plug import (
    Update,
    memory,
    sockets,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.vmi.memory_plug import (
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
    assert bool(memory(wanted, migratable()).patch) is not bool(reason)


def with_resources(spec: Manifest, **resources: Manifest) -> Manifest:
    return {**spec, "domain": {**spec["domain"], "resources": resources}}


def values(update: Update) -> dict[str, Any]:
    return {step["path"].removeprefix("/spec/domain/"): step["value"] for step in update.patch}


def test_the_pod_of_a_vm_with_requests_gets_more_cpu() -> None:
    wanted: Manifest = with_resources({"domain": {"cpu": {"sockets": 4}}}, requests={"cpu": "1"}, limits={"cpu": "2"})
    running = migratable()
    running["spec"] = with_resources(running["spec"], requests={"cpu": "1"}, limits={"cpu": "2"})
    expected = {"cpu/sockets": 4, "resources/requests/cpu": "1200m", "resources/limits/cpu": "2200m"}
    assert values(sockets(wanted, running)) == expected
    assert values(sockets(wanted, running, 1))["resources/requests/cpu"] == "3"
    del running["spec"]["domain"]["resources"]
    assert values(sockets(wanted, running))["resources/requests/cpu"] == "200m"


@pytest.mark.parametrize(
    ("requested", "expected", "limit"), [("1536Mi", "2Gi", "3584Mi"), ("1Gi", "2Gi", "3Gi"), (None, None, "3584Mi")]
)
def test_the_pod_of_a_guest_with_more_memory(requested: str | None, expected: str | None, limit: str) -> None:
    wanted = with_resources({"domain": {"memory": {"guest": "2Gi"}}}, limits={"memory": "3Gi"})
    running = migratable()
    running["spec"] = with_resources(
        running["spec"], limits={"memory": "3Gi"}, **({"requests": {"memory": requested}} if requested else {})
    )
    found = values(memory(wanted, running))
    assert found.get("resources/requests/memory") == expected
    assert found["resources/limits/memory"] == limit
    del running["spec"]["domain"]["resources"]
    assert values(memory(wanted, running))["resources/limits/memory"] == "512Mi"


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


def test_what_is_under_way_comes_first() -> None:
    more: Manifest = {"domain": {"cpu": {"sockets": 3}, "memory": {"guest": "2Gi"}}}
    busy = migratable("4Gi", "1Gi", ("HotMemoryChange", "True"), ("HotVCPUChange", "True"))
    assert memory(more, busy) == Update(failure="another memory hotplug is in progress")
    assert sockets(more, busy) == Update(failure="another CPU hotplug is in progress")
