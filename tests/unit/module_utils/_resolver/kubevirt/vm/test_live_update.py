"""Effects of changes on running VMs."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.release import NEWEST, parse_release
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.kubevirt.vm.hotplug import LiveUpdate
from plugins.module_utils._resolver.kubevirt.vm.live_update import reconcile
from plugins.module_utils._resolver.kubevirt.vm.readiness import can_apply_live

STAGE = {"vmRolloutStrategy": "Stage"}
BY_REQUEST = {"developerConfiguration": {"featureGates": ["HotplugVolumes"]}}
Manifest = dict[str, Any]
SELECTOR, SOCKETS = "nodeSelector", "domain.cpu.sockets"


def spec(guest: str = "1Gi", cpu: Manifest | None = None, **template: Any) -> Manifest:
    domain = {"devices": {}, "memory": {"guest": guest}, "cpu": cpu or {"sockets": 1, "cores": 1, "threads": 1}}
    return {"runStrategy": "Always", "template": {"spec": {"domain": domain, **template}}}


def compared(vm: Manifest, started: Manifest, running: Manifest, **kubevirt: Any) -> LiveUpdate:
    cluster = Cluster(Objects([]), KubeVirt(NEWEST, **kubevirt))
    return reconcile({**vm, "spec": started}, vm, running, cluster).update


def instance(sockets: int = 1, maximum: int = 4, **fields: Any) -> Manifest:
    domain = {"cpu": {"sockets": sockets, "maxSockets": maximum}, "memory": {"guest": "1024Mi"}}
    return {
        "metadata": {},
        "spec": {"domain": domain, **fields},
        "status": {"phase": "Running", "memory": {"guestCurrent": "1024Mi"}},
    }


def test_sockets_on_arm() -> None:
    now = spec(cpu={"sockets": 2, "cores": 1, "threads": 1}, architecture="arm64")
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": now}
    update = compared(vm, spec(architecture="arm64"), instance())
    assert update.changes == () and "ARM" in (update.restart_required or "")


@pytest.mark.parametrize(
    ("guest", "at_boot", "maximum", "reason"),
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
def test_memory_of_migratable_vm(guest: str, at_boot: str, maximum: str | None, reason: str) -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": spec(guest)}
    running = migratable(maximum, at_boot)
    update = compared(vm, spec(), running)
    assert (update.restart_required or "").endswith(reason)
    assert list(update.changes) == ([] if reason else ["domain.memory.guest"])


def migratable(maximum: str | None = "4Gi", at_boot: str = "1Gi", *conditions: tuple[str, str]) -> Manifest:
    running = instance()
    running["spec"]["domain"]["memory"] = {"guest": "1536Mi", **({"maxGuest": maximum} if maximum else {})}
    reported = [{"type": name, "status": state} for name, state in (("LiveMigratable", "True"), *conditions)]
    running["status"] = {
        "phase": "Running",
        "conditions": reported,
        "memory": {"guestAtBoot": at_boot, "guestCurrent": "1536Mi"},
    }
    return running


def sockets(number: int) -> Manifest:
    return {
        "metadata": {"name": "a", "namespace": "ns"},
        "spec": spec(cpu={"sockets": number, "cores": 1, "threads": 1}),
    }


@pytest.mark.parametrize(
    ("number", "migratable", "expected"),
    [
        (
            1,
            False,
            LiveUpdate(restart_required="Reduction of CPU socket count requires a restart", without_condition=True),
        ),
        (
            1,
            True,
            LiveUpdate(restart_required="Reduction of CPU socket count requires a restart", without_condition=True),
        ),
        (2, False, LiveUpdate()),
        (3, False, LiveUpdate(restart_required="another CPU hotplug is in progress", without_condition=True)),
        (3, True, LiveUpdate((SOCKETS,))),
    ],
)
def test_sockets_during_cpu_hot_plug(number: int, migratable: bool, expected: LiveUpdate) -> None:
    """Recorded with KubeVirt 1.8.4: it reports HotPlugCPUError, and does not ask for a restart."""
    busy = instance(2)
    conditions = ["HotVCPUChange", *(["LiveMigratable"] if migratable else [])]
    busy["status"]["conditions"] = [{"type": name, "status": "True"} for name in conditions]
    assert compared(sockets(number), spec(), busy) == expected


def plugs(*names: str, hot: str = "") -> Manifest:
    disks = [{"name": name, "disk": {"bus": "virtio"}} for name in names]
    sources = [{"claimName": name, **({"hotpluggable": True} if name == hot else {})} for name in names]
    result: Manifest = spec(
        volumes=[{"name": source["claimName"], "persistentVolumeClaim": source} for source in sources]
    )
    result["template"]["spec"]["domain"]["devices"] = {"disks": disks}
    return result


def running_vmi(vm_spec: Manifest) -> Manifest:
    """The running VMI of a spec."""
    running = instance()
    running["spec"] = vm_spec["template"]["spec"]
    return running


def connected(*names: str) -> Manifest:
    result = spec(networks=[{"name": name, "multus": {"networkName": name}} for name in names])
    result["template"]["spec"]["domain"]["devices"] = {"interfaces": [{"name": name, "bridge": {}} for name in names]}
    return result


PLUGGED = ["volumes", "domain.devices.disks"]
CONNECTED = ["networks", "domain.devices.interfaces"]


@pytest.mark.parametrize("live", [True, False])
def test_rollout_strategy_does_not_affect_plugging(live: bool) -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}}
    for before, after, paths in (
        (plugs("root"), plugs("root", "data", hot="data"), PLUGGED),
        (plugs("root", "data", hot="data"), plugs("root"), PLUGGED),
        (connected("one"), connected("one", "two"), CONNECTED),
    ):
        update = compared({**vm, "spec": after}, before, running_vmi(before), settings={} if live else STAGE)
        assert (list(update.changes), update.restart_required) == (paths, None)


def test_volume_is_plugged_although_restart_is_required() -> None:
    after = plugs("root", "data", hot="data")
    after["template"]["spec"]["terminationGracePeriodSeconds"] = 5
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": after}
    update = compared(vm, plugs("root"), running_vmi(plugs("root")))
    assert list(update.changes) == PLUGGED
    assert "non-live-updatable" in (update.restart_required or "")


def test_cluster_without_declarative_hotplug_volumes() -> None:
    """Recorded of KubeVirt 1.9 without its feature gate: no restart is asked for either."""
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": plugs("root", "data", hot="data")}
    assert compared(vm, plugs("root"), running_vmi(plugs("root")), settings=BY_REQUEST) == LiveUpdate()


@pytest.mark.parametrize("release", ["1.4", "1.6", "1.9"])
def test_requested_volumes_are_plugged_in_all_releases(release: str) -> None:
    """1.6 compares the volumes after the request."""
    gates = {"featureGates": ["HotplugVolumes", "VMLiveUpdateFeatures"]}
    settings = {"developerConfiguration": gates, "vmRolloutStrategy": "LiveUpdate"}
    cluster = Cluster(Objects([]), KubeVirt(parse_release(release), settings, requests_plugs=True))
    vm = {"metadata": {"name": "a", "namespace": "ns"}}
    for before, after in (
        (plugs("root"), plugs("root", "data", hot="data")),
        (plugs("root", "data", hot="data"), plugs("root")),
    ):
        vms = [{**vm, "spec": item} for item in (before, after)]
        update = reconcile(*vms, running_vmi(before), cluster).update
        assert (list(update.changes), update.restart_required) == (PLUGGED, None)


@pytest.mark.parametrize(("release", "waits"), [("1.6", True), ("1.7", False)])
def test_older_releases_replace_volumes_at_restart(release: str, waits: bool) -> None:
    kubevirt = KubeVirt(parse_release(release), {"vmRolloutStrategy": "LiveUpdate"})
    before, after = plugs("root"), plugs("root", "data", hot="data")
    vms = [{"metadata": {"name": "a", "namespace": "ns"}, "spec": item} for item in (before, after)]
    update = reconcile(*vms, running_vmi(before), Cluster(Objects([]), kubevirt)).update
    assert (update.restart_required is not None) is waits


def test_volume_migration() -> None:
    moved = plugs("root")
    moved["updateVolumesStrategy"] = "Migration"
    moved["template"]["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] = "other"
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": moved}
    update = compared(vm, plugs("root"), running_vmi(plugs("root")))
    assert (list(update.changes), update.restart_required) == (["volumes"], None)
    # KubeVirt exempts the change, but migrates nothing then.
    assert compared(vm, plugs("root"), running_vmi(plugs("root")), settings=STAGE) == LiveUpdate()
    shared = plugs("root")
    shared["template"]["spec"]["domain"]["devices"]["disks"][0]["shareable"] = True
    moved["template"]["spec"]["domain"]["devices"]["disks"][0]["shareable"] = True
    update = compared(vm, shared, running_vmi(shared))
    assert update.restart_required == "invalid volumes to update with migration: shareable: [root]"


def test_removed_guest_memory_needs_restart() -> None:
    """Without `memory.guest` the guest has the memory that its pod requests."""

    def requested(**memory: Any) -> Manifest:
        result = spec()
        result["template"]["spec"]["domain"].update(memory=memory, resources={"requests": {"memory": "1Gi"}})
        return result

    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": requested()}
    update = compared(vm, requested(guest="2Gi"), running_vmi(requested(guest="2Gi")))
    assert "non-live-updatable" in (update.restart_required or "")


def test_vm_that_cannot_be_expanded_has_no_update() -> None:
    lost = {"metadata": {"name": "a", "namespace": "ns"}, "spec": {**spec(), "instancetype": {"name": "lost"}}}
    assert compared(lost, spec(), instance()) == LiveUpdate()
    assert compared({**lost, "spec": spec()}, lost["spec"], instance()) == LiveUpdate()


@pytest.mark.parametrize(
    ("phase", "expected"),
    [("", True), ("Pending", True), ("Scheduling", True), ("Running", True), ("Succeeded", False), ("Failed", False)],
)
def test_vmi_takes_changes_until_it_ends(phase: str, expected: bool) -> None:
    vmi = {"metadata": {}, "status": {"phase": phase} if phase else {}}
    assert can_apply_live(vmi) is expected
    assert not can_apply_live({**vmi, "metadata": {"deletionTimestamp": "now"}})


@pytest.mark.parametrize(
    ("changed", "spec_after"),
    [
        (spec(cpu={"sockets": 2, "cores": 1, "threads": 1}), {"domain": {"cpu": {"sockets": 2}}}),
        (spec(nodeSelector={"a": "b"}), {"nodeSelector": {"a": "b"}}),
        (spec(), {"nodeSelector": None}),
    ],
)
def test_reconciled_spec_has_the_live_changes(changed: Manifest, spec_after: Manifest) -> None:
    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": changed}
    running = instance(nodeSelector={"zone": "a"})
    result = reconcile({**vm, "spec": spec()}, vm, running, Cluster(Objects([]), KubeVirt(NEWEST))).spec
    sockets = spec_after.get("domain", {"cpu": {"sockets": 1}})["cpu"]["sockets"]
    assert (result["domain"]["cpu"]["sockets"], result.get("nodeSelector")) == (sockets, spec_after.get("nodeSelector"))


def test_huge_pages_need_a_restart() -> None:
    def pages(size: str) -> Manifest:
        result = spec()
        result["template"]["spec"]["domain"]["memory"]["hugepages"] = {"pageSize": size}
        return result

    vm = {"metadata": {"name": "a", "namespace": "ns"}, "spec": pages("2Mi")}
    assert compared(vm, pages("2Mi"), instance()) == LiveUpdate()
    changed = compared(vm, pages("1Gi"), instance())
    assert "non-live-updatable" in (changed.restart_required or "")
