"""What changes of a running VM mean."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.vmi import vmi
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.vmi.configuration import (
    Configuration,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.vmi.hot_plug import Update
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.vmi.live_update import (
    compare,
    foreseen,
)

Manifest = dict[str, Any]
SELECTOR = {"op": "add", "path": "/spec/nodeSelector", "value": {"a": "b"}}
SOCKETS = {"op": "add", "path": "/spec/domain/cpu/sockets", "value": 2}


def spec(guest: str = "1Gi", cpu: Manifest | None = None, **template: Any) -> Manifest:
    domain = {"devices": {}, "memory": {"guest": guest}, "cpu": cpu or {"sockets": 1, "cores": 1, "threads": 1}}
    return {"runStrategy": "Always", "template": {"spec": {"domain": domain, **template}}}


def compared(vm: Manifest, started: Manifest, running: Manifest, live: bool = True) -> Update:
    then, now = (vmi.build(one, Objects([]), Configuration()).spec for one in ({**vm, "spec": started}, vm))
    assert then is not None and now is not None
    return compare(then, now, running, live=live)


def instance(sockets: int = 1, most: int = 4, **fields: Any) -> Manifest:
    domain = {"cpu": {"sockets": sockets, "maxSockets": most}, "memory": {"guest": "1024Mi"}}
    return {"spec": {"domain": domain, **fields}, "status": {"memory": {"guestCurrent": "1024Mi"}}}


@pytest.mark.parametrize(
    ("now", "running", "expected"),
    [
        (spec(), instance(), Update()),
        (spec(cpu={"sockets": 2, "cores": 1, "threads": 1}), instance(), Update((SOCKETS,))),
        (spec(cpu={"sockets": 2, "cores": 1, "threads": 1}), instance(2), Update()),
        (
            spec(nodeSelector={"a": "b"}),
            instance(),
            Update((SELECTOR,)),
        ),
        (spec(nodeSelector={"a": "b"}), instance(nodeSelector={"a": "b"}), Update()),
        (spec(), instance(tolerations=[{"key": "a"}]), Update(({"op": "remove", "path": "/spec/tolerations"},))),
    ],
)
def test_live(now: Manifest, running: Manifest, expected: Update) -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": now}
    assert compared(vm, spec(), running) == expected


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        (spec("2Gi"), "memory updated"),
        (spec(terminationGracePeriodSeconds=5), "non-live-updatable"),
        (spec(cpu={"sockets": 1, "cores": 2, "threads": 1}), "non-live-updatable"),
        (spec(cpu={"sockets": 9, "cores": 1, "threads": 1}), "higher than"),
    ],
)
def test_restart_required(now: Manifest, reason: str) -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": now}
    update = compared(vm, spec(), instance())
    assert update.patch == ()
    assert reason in (update.restart_required or "")


def test_fewer_sockets_than_the_guest_has() -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec()}
    update = compared(vm, spec(), instance(2))
    assert "Reduction" in (update.restart_required or "")


def test_sockets_on_arm() -> None:
    now = spec(cpu={"sockets": 2, "cores": 1, "threads": 1}, architecture="arm64")
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": now}
    update = compared(vm, spec(architecture="arm64"), instance())
    assert update.patch == () and "ARM" in (update.restart_required or "")


def test_sockets_change_beside_memory_that_needs_a_restart() -> None:
    now = spec("2Gi", cpu={"sockets": 2, "cores": 1, "threads": 1})
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": now}
    update = compared(vm, spec(), instance())
    assert update.patch == (SOCKETS,)
    assert "memory updated" in (update.restart_required or "")


@pytest.mark.parametrize(
    ("guest", "at_boot", "most", "reason"),
    [
        ("2Gi", "1Gi", "4Gi", ""),
        # Back to what the guest was started with.
        ("1Gi", "1Gi", "4Gi", ""),
        ("1Gi", "2Gi", "4Gi", "lower than what the VM started with"),
        ("512Mi", "1Gi", "4Gi", "at least 1Gi of guest memory"),
        ("8Gi", "1Gi", "4Gi", "greater than the configured maxGuest memory"),
        ("2049Mi", "1Gi", "4Gi", "Guest memory must be 2Mi aligned"),
        ("2Gi", "1Gi", "4097Mi", "MaxGuest must be 2Mi aligned"),
        ("2Gi", "1Gi", None, "not available for this VM configuration"),
    ],
)
def test_memory_of_a_vm_that_can_migrate(guest: str, at_boot: str, most: str | None, reason: str) -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec(guest)}
    running = migratable(most, at_boot)
    update = compared(vm, spec(), running)
    assert (update.restart_required or "").endswith(reason)
    assert [one["path"] for one in update.patch] == ([] if reason else ["/spec/domain/memory/guest"])


def migratable(most: str | None = "4Gi", at_boot: str = "1Gi", *conditions: tuple[str, str]) -> Manifest:
    running = instance()
    running["spec"]["domain"]["memory"] = {"guest": "1536Mi", **({"maxGuest": most} if most else {})}
    told = [{"type": name, "status": state} for name, state in (("LiveMigratable", "True"), *conditions)]
    running["status"] = {"conditions": told, "memory": {"guestAtBoot": at_boot, "guestCurrent": "1536Mi"}}
    return running


def test_a_plan_looks_beyond_what_is_under_way() -> None:
    busy = migratable("4Gi", "1Gi", ("HotMemoryChange", "True"), ("HotVCPUChange", "True"))
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec("2Gi", {"sockets": 3, "cores": 1, "threads": 1})}
    update = compared(vm, spec(), busy)
    assert [one["path"] for one in update.patch] == ["/spec/domain/cpu/sockets", "/spec/domain/memory/guest"]


def test_the_first_reason_is_told() -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec("2Gi", {"sockets": 9, "cores": 1, "threads": 1})}
    update = compared(vm, spec(), instance())
    assert (update.restart_required or "").startswith("CPU sockets")


def volumes(*names: str, hot: str = "") -> list[Manifest]:
    return [
        {"name": name, "persistentVolumeClaim": {"claimName": name, **({"hotpluggable": True} if name == hot else {})}}
        for name in names
    ]


def test_a_hotpluggable_volume_is_plugged_in_and_out() -> None:
    one, two = spec(volumes=volumes("root")), spec(volumes=volumes("root", "data", hot="data"))
    disks = [{"name": "root", "disk": {"bus": "virtio"}}]
    running = instance(volumes=volumes("root"))
    running["spec"]["domain"]["devices"] = {"disks": disks}
    vm = {"metadata": {"name": "a", "namespace": "ns"}}
    plugged = compared({**vm, "spec": two}, one, running)
    assert plugged.restart_required is None
    assert [one["path"] for one in plugged.patch] == ["/spec/volumes", "/spec/domain/devices/disks"]
    assert [volume["name"] for volume in plugged.patch[0]["value"]] == ["root", "data"]
    grown = instance(volumes=plugged.patch[0]["value"])
    grown["spec"]["domain"]["devices"] = {"disks": plugged.patch[1]["value"]}
    assert compared({**vm, "spec": two}, one, grown) == Update()
    out = compared({**vm, "spec": one}, one, grown)
    assert [[entry["name"] for entry in step["value"]] for step in out.patch] == [["root"], ["root"]]
    fixed = spec(volumes=volumes("root", "data"))
    assert compared({**vm, "spec": fixed}, one, running).restart_required


def test_a_cluster_that_does_not_change_running_guests() -> None:
    more = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec(nodeSelector={"a": "b"})}
    update = compared(more, spec(), instance(), live=False)
    assert update.patch == () and update.restart_required
    same = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec()}
    assert compared(same, spec(), instance(), live=False) == Update()


def applied(guest: str = "1Gi", sockets: int = 1, **domain: Any) -> Manifest:
    found: Manifest = spec(guest, cpu={"sockets": sockets, "cores": 1, "threads": 1, **domain})["template"]["spec"]
    return found


@pytest.mark.parametrize(
    ("after", "live"),
    [
        (applied(), True),
        (applied(sockets=4), True),
        (applied(sockets=5), False),
        (applied(maxSockets=8), False),
        (applied("2Gi"), True),
        (applied("5Gi"), False),
        ({**applied(), "nodeSelector": {"a": "b"}}, True),
    ],
)
def test_what_can_be_foreseen_without_the_guest(after: Manifest, live: bool) -> None:
    vm = {"status": {"conditions": [{"type": "LiveMigratable", "status": "True"}]}}
    assert foreseen(vm, applied(), after) is live


def test_memory_needs_a_vm_that_can_migrate() -> None:
    assert not foreseen({}, applied(), applied("2Gi"))
    assert not foreseen({"status": {}}, applied(sockets=2), applied(sockets=1))


def test_huge_pages_do_not_change_while_the_guest_runs() -> None:
    def pages(size: str) -> Manifest:
        made = spec()
        made["template"]["spec"]["domain"]["memory"]["hugepages"] = {"pageSize": size}
        return made

    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": pages("2Mi")}
    assert compared(vm, pages("2Mi"), instance()) == Update()
    changed = compared(vm, pages("1Gi"), instance())
    assert "non-live-updatable" in (changed.restart_required or "")
