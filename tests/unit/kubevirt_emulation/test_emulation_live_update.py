"""What is done to a running VMI when its VM changes; how far a guest can be changed `_resolver` says."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from emulated import configured

from _resolver.instancetype.find.lookup import Objects
from kubevirt_emulation.controllers import live_update
from kubevirt_emulation.controllers.context import Failure, Work

Manifest = dict[str, Any]


def spec(sockets: int = 1, guest: str = "2Gi", **fields: Any) -> Manifest:
    cpu = {"sockets": sockets, "cores": 1, "threads": 1}
    return {"architecture": "amd64", "domain": {"devices": {}, "cpu": cpu, "memory": {"guest": guest}}, **fields}


def instance(*conditions: str, **fields: Any) -> Manifest:
    running = spec(**fields)
    running["domain"]["cpu"]["maxSockets"] = 4
    found = [{"type": name, "status": "True"} for name in conditions]
    status = {"phase": "Running", "conditions": found, "memory": {"guestAtBoot": "2Gi", "guestCurrent": "2Gi"}}
    return {"metadata": {}, "spec": running, "status": status}


def synced(wanted: Manifest, running: Manifest, *conditions: str, live: bool = True) -> tuple[list[Manifest], Work]:
    """The patch that a VMI gets whose VM is as wanted and has the conditions."""
    sent: list[Manifest] = []

    async def resolve(compute: Any) -> Any:
        return compute(Objects([]))

    async def patch_vmi(vmi: Manifest, body: list[Manifest]) -> Manifest:
        sent.extend(body)
        return vmi

    status = {"conditions": [{"type": name, "status": "True", "message": "earlier"} for name in conditions]}
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": {"template": {"spec": wanted}}, "status": status}
    work = Work(vm, running)
    configuration = configured(vmRolloutStrategy="LiveUpdate" if live else "Stage")
    context: Any = SimpleNamespace(
        objects=SimpleNamespace(resolve=resolve), patch_vmi=patch_vmi, configuration=configuration
    )
    try:
        asyncio.run(live_update.sync(context, work))
    except Failure as failure:
        work.failure = failure
    return sent, work


def messages(work: Work) -> list[str]:
    return [entry["message"] for entry in work.vm["status"]["conditions"] if entry["type"] == "RestartRequired"]


def test_sockets_on_their_way_are_told() -> None:
    (change, condition), work = synced(spec(2), instance("Ready"))
    assert (change["path"], change["value"]) == ("/spec/domain/cpu/sockets", 2)
    assert condition["path"] == "/status/conditions/-"
    assert (condition["value"]["type"], condition["value"]["status"]) == ("HotVCPUChange", "True")
    assert messages(work) == []


def test_memory_on_its_way_is_told() -> None:
    running = instance("LiveMigratable")
    running["spec"]["domain"]["memory"]["maxGuest"] = "8Gi"
    (change, condition), _work = synced(spec(guest="4Gi"), running)
    assert (change["path"], condition["value"]["type"]) == ("/spec/domain/memory/guest", "HotMemoryChange")


def test_what_is_no_hot_plug_has_no_condition() -> None:
    patch, _work = synced(spec(tolerations=[{"key": "a"}]), instance("Ready"))
    assert [step["path"] for step in patch] == ["/spec/tolerations"]


def test_a_second_change_while_the_guest_takes_the_first_is_an_error() -> None:
    patch, work = synced(spec(3, tolerations=[{"key": "a"}]), instance("HotVCPUChange", sockets=2))
    assert patch == []
    assert work.failure is not None and work.failure.reason == "HotPlugCPUError"
    assert str(work.failure).endswith("another CPU hotplug is in progress")


def test_the_first_reason_for_a_restart_is_told() -> None:
    patch, work = synced(spec(5, "4Gi"), instance("Ready"))
    assert patch == []
    assert messages(work) == ["CPU sockets updated in template spec to a value higher than what's available"]


@pytest.mark.parametrize(("conditions", "live"), [(["RestartRequired"], True), ([], False)])
def test_a_guest_that_waits_for_a_restart_gets_nothing(conditions: list[str], live: bool) -> None:
    patch, work = synced(spec(2), instance("Ready"), *conditions, live=live)
    assert patch == []
    assert messages(work) == ["earlier"] * len(conditions)


def test_a_volume_is_plugged_even_then() -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data", "hotpluggable": True}}
    patch, _work = synced(spec(volumes=[volume]), instance("Ready"), "RestartRequired")
    assert patch == [{"op": "add", "path": "/spec/volumes", "value": [volume]}]


def test_a_vmi_that_is_being_deleted_is_left_alone() -> None:
    running = instance("Ready")
    running["metadata"]["deletionTimestamp"] = "now"
    assert synced(spec(2), running)[0] == []
