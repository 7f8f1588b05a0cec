"""What changes of a running VM mean."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import (
    Cluster,
    KubeVirt,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.hot_plug import Update
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.live_update import (
    compare,
    foreseen,
    takes_changes,
)

Manifest = dict[str, Any]
SELECTOR, SOCKETS = "nodeSelector", "domain.cpu.sockets"


def spec(guest: str = "1Gi", cpu: Manifest | None = None, **template: Any) -> Manifest:
    domain = {"devices": {}, "memory": {"guest": guest}, "cpu": cpu or {"sockets": 1, "cores": 1, "threads": 1}}
    return {"runStrategy": "Always", "template": {"spec": {"domain": domain, **template}}}


def compared(vm: Manifest, started: Manifest, running: Manifest, **kubevirt: Any) -> Update:
    return compare({**vm, "spec": started}, vm, running, Cluster(Objects([]), KubeVirt(NEWEST, **kubevirt)))


def instance(sockets: int = 1, most: int = 4, **fields: Any) -> Manifest:
    domain = {"cpu": {"sockets": sockets, "maxSockets": most}, "memory": {"guest": "1024Mi"}}
    return {
        "metadata": {},
        "spec": {"domain": domain, **fields},
        "status": {"phase": "Running", "memory": {"guestCurrent": "1024Mi"}},
    }


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
        (spec(), instance(tolerations=[{"key": "a"}]), Update(("tolerations",))),
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
    assert update.changes == ()
    assert reason in (update.restart_required or "")


def test_fewer_sockets_than_the_guest_has() -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec()}
    update = compared(vm, spec(), instance(2))
    assert "Reduction" in (update.restart_required or "")


def test_sockets_on_arm() -> None:
    now = spec(cpu={"sockets": 2, "cores": 1, "threads": 1}, architecture="arm64")
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": now}
    update = compared(vm, spec(architecture="arm64"), instance())
    assert update.changes == () and "ARM" in (update.restart_required or "")


def test_sockets_change_beside_memory_that_needs_a_restart() -> None:
    now = spec("2Gi", cpu={"sockets": 2, "cores": 1, "threads": 1})
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": now}
    update = compared(vm, spec(), instance())
    assert update.changes == (SOCKETS,)
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
    assert list(update.changes) == ([] if reason else ["domain.memory.guest"])


def migratable(most: str | None = "4Gi", at_boot: str = "1Gi", *conditions: tuple[str, str]) -> Manifest:
    running = instance()
    running["spec"]["domain"]["memory"] = {"guest": "1536Mi", **({"maxGuest": most} if most else {})}
    told = [{"type": name, "status": state} for name, state in (("LiveMigratable", "True"), *conditions)]
    running["status"] = {
        "phase": "Running",
        "conditions": told,
        "memory": {"guestAtBoot": at_boot, "guestCurrent": "1536Mi"},
    }
    return running


def test_a_plan_looks_beyond_what_is_under_way() -> None:
    busy = migratable("4Gi", "1Gi", ("HotMemoryChange", "True"), ("HotVCPUChange", "True"))
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec("2Gi", {"sockets": 3, "cores": 1, "threads": 1})}
    update = compared(vm, spec(), busy)
    assert list(update.changes) == ["domain.cpu.sockets", "domain.memory.guest"]


def sockets(number: int) -> Manifest:
    return {
        "metadata": {"name": "a", "namespace": "ns"},
        "spec": spec(cpu={"sockets": number, "cores": 1, "threads": 1}),
    }


@pytest.mark.parametrize(
    ("number", "migratable", "expected"),
    [
        (1, False, Update(restart_required="Reduction of CPU socket count requires a restart", unannounced=True)),
        (1, True, Update(restart_required="Reduction of CPU socket count requires a restart", unannounced=True)),
        (2, False, Update()),
        (3, False, Update(restart_required="another CPU hotplug is in progress", unannounced=True)),
        (3, True, Update((SOCKETS,))),
    ],
)
def test_sockets_while_a_hot_plug_is_under_way(number: int, migratable: bool, expected: Update) -> None:
    """As seen with KubeVirt 1.8.4: it reports HotPlugCPUError, and asks for no restart."""
    busy = instance(2)
    conditions = ["HotVCPUChange", *(["LiveMigratable"] if migratable else [])]
    busy["status"]["conditions"] = [{"type": one, "status": "True"} for one in conditions]
    assert compared(sockets(number), spec(), busy) == expected
    vm = {**sockets(2), "status": {"conditions": busy["status"]["conditions"]}}
    live = expected.restart_required is None
    assert foreseen(vm, applied(sockets=2), applied(sockets=number), KubeVirt(NEWEST)) is live


def test_the_first_reason_is_told() -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec("2Gi", {"sockets": 9, "cores": 1, "threads": 1})}
    update = compared(vm, spec(), instance())
    assert (update.restart_required or "").startswith("CPU sockets")


def plugs(*names: str, hot: str = "") -> Manifest:
    disks = [{"name": name, "disk": {"bus": "virtio"}} for name in names]
    sources = [{"claimName": name, **({"hotpluggable": True} if name == hot else {})} for name in names]
    made: Manifest = spec(volumes=[{"name": one["claimName"], "persistentVolumeClaim": one} for one in sources])
    made["template"]["spec"]["domain"]["devices"] = {"disks": disks}
    return made


def of(made: Manifest) -> Manifest:
    """The running VMI of a spec."""
    running = instance()
    running["spec"] = made["template"]["spec"]
    return running


def connected(*names: str) -> Manifest:
    made = spec(networks=[{"name": name, "multus": {"networkName": name}} for name in names])
    made["template"]["spec"]["domain"]["devices"] = {"interfaces": [{"name": name, "bridge": {}} for name in names]}
    return made


PLUGGED = ["volumes", "domain.devices.disks"]
CONNECTED = ["networks", "domain.devices.interfaces"]


@pytest.mark.parametrize("live", [True, False])
def test_volumes_and_interfaces_are_plugged_whatever_the_rollout_strategy(live: bool) -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}}
    for before, after, paths in (
        (plugs("root"), plugs("root", "data", hot="data"), PLUGGED),
        (plugs("root", "data", hot="data"), plugs("root"), PLUGGED),
        (connected("one"), connected("one", "two"), CONNECTED),
    ):
        update = compared({**vm, "spec": after}, before, of(before), live_updates=live)
        assert (list(update.changes), update.restart_required) == (paths, None)


def test_a_volume_is_plugged_beside_what_needs_a_restart() -> None:
    after = plugs("root", "data", hot="data")
    after["template"]["spec"]["terminationGracePeriodSeconds"] = 5
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": after}
    update = compared(vm, plugs("root"), of(plugs("root")))
    assert list(update.changes) == PLUGGED
    assert "non-live-updatable" in (update.restart_required or "")


def test_a_cluster_that_plugs_no_declared_volumes() -> None:
    """Recorded of KubeVirt 1.9 without its feature gate: no restart is asked for either."""
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": plugs("root", "data", hot="data")}
    assert compared(vm, plugs("root"), of(plugs("root")), plugs_volumes=False) == Update()


def test_volumes_that_migrate() -> None:
    moved = plugs("root")
    moved["updateVolumesStrategy"] = "Migration"
    moved["template"]["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] = "other"
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": moved}
    update = compared(vm, plugs("root"), of(plugs("root")))
    assert (list(update.changes), update.restart_required) == (["volumes"], None)
    # KubeVirt exempts the change, but migrates nothing then.
    assert compared(vm, plugs("root"), of(plugs("root")), live_updates=False) == Update()
    shared = plugs("root")
    shared["template"]["spec"]["domain"]["devices"]["disks"][0]["shareable"] = True
    moved["template"]["spec"]["domain"]["devices"]["disks"][0]["shareable"] = True
    update = compared(vm, shared, of(shared))
    assert update.restart_required == "invalid volumes to update with migration: shareable: [root]"


def test_memory_that_only_the_instance_requests() -> None:
    """Without `memory.guest` the guest has the memory that its pod requests."""

    def requested(**memory: Any) -> Manifest:
        made = spec()
        made["template"]["spec"]["domain"].update(memory=memory, resources={"requests": {"memory": "1Gi"}})
        return made

    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": requested()}
    update = compared(vm, requested(guest="2Gi"), of(requested(guest="2Gi")))
    assert "non-live-updatable" in (update.restart_required or "")


def test_a_vm_that_cannot_be_expanded_has_no_known_effect() -> None:
    lost = {"metadata": {"name": "a", "namespace": "ns"}, "spec": {**spec(), "instancetype": {"name": "lost"}}}
    assert compared(lost, spec(), instance()) == Update()
    assert compared({**lost, "spec": spec()}, lost["spec"], instance()) == Update()


@pytest.mark.parametrize(
    ("phase", "expected"),
    [("", True), ("Pending", True), ("Scheduling", True), ("Running", True), ("Succeeded", False), ("Failed", False)],
)
def test_a_vmi_takes_changes_until_it_ends(phase: str, expected: bool) -> None:
    made = {"metadata": {}, "status": {"phase": phase} if phase else {}}
    assert takes_changes(made) is expected
    assert not takes_changes({**made, "metadata": {"deletionTimestamp": "now"}})


def test_a_cluster_that_does_not_change_running_guests() -> None:
    more = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec(nodeSelector={"a": "b"})}
    update = compared(more, spec(), instance(), live_updates=False)
    assert update.changes == () and update.restart_required
    same = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec()}
    assert compared(same, spec(), instance(), live_updates=False) == Update()


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
    vm: Manifest = {"spec": {}, "status": {"conditions": [{"type": "LiveMigratable", "status": "True"}]}}
    assert foreseen(vm, applied(), after, KubeVirt(NEWEST)) is live


def test_memory_needs_a_vm_that_can_migrate() -> None:
    vm: Manifest = {"spec": {}}
    assert not foreseen(vm, applied(), applied("2Gi"), KubeVirt(NEWEST))
    assert not foreseen({**vm, "status": {}}, applied(sockets=2), applied(sockets=1), KubeVirt(NEWEST))


@pytest.mark.parametrize(
    ("settings", "sockets", "guest"),
    [
        ({}, 4, "4Gi"),
        ({"maxHotplugRatio": 1}, 1, "1Gi"),
        ({"maxCpuSockets": 2}, 2, "4Gi"),
        ({"maxGuest": "2Gi"}, 4, "2Gi"),
        ({"maxHotplugRatio": 8}, 8, "8Gi"),
    ],
)
def test_how_far_a_guest_can_grow_is_a_setting_of_the_cluster(settings: Manifest, sockets: int, guest: str) -> None:
    kubevirt = KubeVirt(NEWEST, settings={"liveUpdateConfiguration": settings})
    vm: Manifest = {"spec": {}, "status": {"conditions": [{"type": "LiveMigratable", "status": "True"}]}}
    most = int(guest[:-2])
    assert foreseen(vm, applied(), applied(sockets=sockets), kubevirt)
    assert not foreseen(vm, applied(), applied(sockets=sockets + 1), kubevirt)
    assert foreseen(vm, applied(), applied(guest), kubevirt)
    assert not foreseen(vm, applied(), applied(f"{most + 1}Gi"), kubevirt)


def test_a_vm_without_cpu_and_memory_of_its_own() -> None:
    bare: Manifest = {"domain": {"devices": {}}}
    assert foreseen({"spec": {}}, bare, {**bare, "nodeSelector": {"a": "b"}}, KubeVirt(NEWEST))


def test_huge_pages_do_not_change_while_the_guest_runs() -> None:
    def pages(size: str) -> Manifest:
        made = spec()
        made["template"]["spec"]["domain"]["memory"]["hugepages"] = {"pageSize": size}
        return made

    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": pages("2Mi")}
    assert compared(vm, pages("2Mi"), instance()) == Update()
    changed = compared(vm, pages("1Gi"), instance())
    assert "non-live-updatable" in (changed.restart_required or "")
