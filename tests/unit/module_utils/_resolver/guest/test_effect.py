"""The effect of a planned change of a VM on its guest."""

import copy
from typing import Any

import pytest

from plugins.module_utils._resolver.api import behaviour
from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.api.release import NEWEST, parse_release
from plugins.module_utils._resolver.declare.virtual_machine import size_mismatch
from plugins.module_utils._resolver.guest.effect import LIVE, NOTHING, RESTART, UNKNOWN, UNREAD_VMI, GuestEffect
from plugins.module_utils._resolver.guest.predict import admitted_effect, assumed_vmi, guest_effect
from plugins.module_utils._resolver.kubevirt.admission.mutate import admit
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Lookup, Objects

START = "start-of-live"
STAGE = {"vmRolloutStrategy": "Stage"}
BY_REQUEST = {"developerConfiguration": {"featureGates": ["HotplugVolumes"]}}


def instancetype(name: str, cpu: int, memory: str) -> Manifest:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": name, "uid": name, "generation": 1},
        "spec": {"cpu": {"guest": cpu}, "memory": {"guest": memory}},
    }


TYPES = [instancetype("small", 1, "1Gi"), instancetype("two", 2, "1Gi"), instancetype("large", 1, "4Gi")]
PLAIN = Cluster(Objects(TYPES), KubeVirt(NEWEST))


def vm(name: str | None = "small", **spec: Any) -> Manifest:
    matcher = {"instancetype": {"name": name}} if name else {}
    template = {"spec": {"domain": {"devices": {}}, **spec}}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop", "uid": "u"},
        "spec": {"runStrategy": "Always", **matcher, "template": template},
    }


def connected(name: str) -> Manifest:
    """A VMI spec's parts for a guest on the pod network and on a Multus network."""
    devices = {"interfaces": [{"name": "default", "bridge": {}}, {"name": name, "bridge": {}}]}
    networks = [{"name": "default", "pod": {}}, {"name": name, "multus": {"networkName": name}}]
    return {"domain": {"devices": devices}, "networks": networks}


def running(vm_started: Manifest | None = None, **status: Any) -> Manifest:
    """The VMI of a VM, by default of `vm()`; its guest cannot migrate."""
    instance = assumed_vmi(vm_started or vm(), PLAIN)
    assert instance is not None
    memory = {"guestAtBoot": "1Gi", "guestCurrent": "1Gi"}
    return {**instance, "status": {"phase": "Running", "memory": memory, **status}}


class Started:
    """The lookup of a cluster in which a guest was started from a VM."""

    def __init__(self, vm: Manifest, objects: Lookup) -> None:
        self._start = {"kind": "ControllerRevision", "data": {"spec": vm["spec"]}}
        self._objects = objects

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        return self._start if name == START else self._objects.get(kind, namespace, name)


def foreseen(live: Manifest, planned: Manifest, instance: Manifest | None, cluster: Cluster) -> GuestEffect:
    """The effect on a guest that was started from the live VM, unless the VMI names another start."""
    cluster = Cluster(Started(live, cluster.objects), cluster.kubevirt)
    if instance is not None:
        instance = {**instance, "status": {"virtualMachineRevisionName": START, **instance["status"]}}
    return admitted_effect(live, admit(planned, live, cluster), instance, cluster)


def of(planned: Manifest, instance: Manifest | None = None, **cluster: Any) -> GuestEffect:
    return foreseen(vm(), planned, instance, Cluster(Objects(TYPES), KubeVirt(NEWEST, **cluster)))


@pytest.mark.parametrize("version", ["1.7.0", "1.8.0"])
def test_remaining_restart_condition_holds_up_live_changes(version: str) -> None:
    """Recorded: virt-controller 1.7 plugs interfaces, but neither sockets nor memory, until the guest starts again."""
    condition = {"type": "RestartRequired", "status": "True", "message": "something else was changed"}
    live = {**vm(), "status": {"conditions": [condition]}}
    release = parse_release(version)
    cluster = Cluster(Objects(TYPES), KubeVirt(release))
    sockets, undone, plugged = (
        foreseen(live, {**planned, "status": live["status"]}, running(), cluster)
        for planned in (vm("two"), vm(), vm(**connected("lan")))
    )
    if release.has(behaviour.KEEPS_RESTART_CONDITION):
        assert (sockets.needs, sockets.reason, sockets.restart_superfluous) == (RESTART, condition["message"], False)
    else:
        assert (sockets.needs, sockets.reason, sockets.restart_superfluous) == (LIVE, "", False)
    assert (undone.needs, undone.restart_superfluous) == (NOTHING, release.has(behaviour.KEEPS_RESTART_CONDITION))
    assert (plugged.needs, plugged.restart_superfluous) == (LIVE, release.has(behaviour.KEEPS_RESTART_CONDITION))


@pytest.mark.parametrize("instance", [None, running(phase="Succeeded"), running(phase="Failed")])
def test_changes_of_a_stopped_vm_need_nothing(instance: Any) -> None:
    result = of(vm("large"), instance)
    assert (result.needs, result.reason) == (NOTHING, "")
    assert [(result.guest_before or {})["memory"], (result.guest_after or {})["memory"]] == ["1Gi", "4Gi"]


def test_guest_awaiting_a_node_may_need_restart() -> None:
    """Recorded: KubeVirt asks for a restart of a guest that waits for a node, and does not make it anew by itself."""
    result = of(vm("large"), running(phase="Scheduling"))
    assert (result.needs, result.reason) == (
        RESTART,
        "memory updated in template spec. Memory-hotplug is only available for migratable VMs",
    )
    assert of(vm("two"), running(phase="Scheduling")).needs == LIVE
    assert of(vm("large"), running(phase="")).needs == RESTART


def claimed(name: str, claim: str = "", hot: bool = True) -> Manifest:
    return {
        "name": name,
        "persistentVolumeClaim": {"claimName": claim or name, **({"hotpluggable": True} if hot else {})},
    }


def vm_with_volumes(volumes: list[Manifest], disks: list[Manifest], **spec: Any) -> Manifest:
    manifest = vm("small", domain={"devices": {"disks": disks}}, volumes=volumes)
    manifest["spec"].update(spec)
    return manifest


def joined(*names: str, network: str = "lan", **fields: Any) -> Manifest:
    interfaces = [{"name": name, "bridge": {}, **fields} for name in names]
    networks = [{"name": name, "multus": {"networkName": network}} for name in names]
    return vm("small", domain={"devices": {"interfaces": interfaces}}, networks=networks)


ROOT, DATA, ISO = claimed("root", hot=False), claimed("data"), claimed("iso")
ROOT_DISK, DATA_DISK, DRIVE = (
    {"name": "root", "disk": {}},
    {"name": "data", "disk": {"bus": "scsi"}},
    {"name": "iso", "cdrom": {}},
)
ROOTED = vm_with_volumes([ROOT], [ROOT_DISK])
LOADED, EMPTY = vm_with_volumes([ROOT, ISO], [ROOT_DISK, DRIVE]), vm_with_volumes([ROOT], [ROOT_DISK, DRIVE])


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize(
    ("before", "after", "needs"),
    [
        (joined("one"), joined("one", "two"), LIVE),
        (joined("one"), joined("one", state="down"), LIVE),
        (joined("one"), joined("one", network="wan"), LIVE),
        (joined("one"), joined("one", model="e1000"), RESTART),
        (joined("one", "two"), joined("one"), RESTART),
        (ROOTED, vm_with_volumes([ROOT, DATA], [ROOT_DISK, DATA_DISK]), LIVE),
        (ROOTED, vm_with_volumes([ROOT, claimed("data", hot=False)], [ROOT_DISK, DATA_DISK]), RESTART),
        (ROOTED, vm_with_volumes([ROOT, DATA], [ROOT_DISK, {"name": "data", "disk": {}}]), RESTART),
        (ROOTED, LOADED, RESTART),
        (EMPTY, LOADED, LIVE),
        (LOADED, EMPTY, LIVE),
        (LOADED, vm_with_volumes([ROOT, claimed("iso", "other")], [ROOT_DISK, DRIVE]), LIVE),
        (LOADED, ROOTED, RESTART),
        (ROOTED, vm_with_volumes([claimed("root", "other", hot=False)], [ROOT_DISK]), RESTART),
    ],
)
def test_changes_of_devices_as_recorded(before: Manifest, after: Manifest, needs: str, live: bool) -> None:
    """KubeVirt 1.9 did this with either rollout strategy."""
    cluster = Cluster(Objects(TYPES), KubeVirt(NEWEST, {} if live else STAGE))
    assert foreseen(before, after, running(before), cluster).needs == needs


@pytest.mark.parametrize(("live", "needs"), [(True, LIVE), (False, NOTHING)])
def test_a_volume_that_migrates(live: bool, needs: str) -> None:
    moved = vm_with_volumes([claimed("root", "other", hot=False)], [ROOT_DISK], updateVolumesStrategy="Migration")
    cluster = Cluster(Objects(TYPES), KubeVirt(NEWEST, {} if live else STAGE))
    assert foreseen(ROOTED, moved, running(ROOTED), cluster).needs == needs


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        (ROOTED, vm_with_volumes([ROOT, DATA], [ROOT_DISK, DATA_DISK]), "volumes.data"),
        (
            LOADED,
            vm_with_volumes([ROOT, claimed("iso", "other")], [ROOT_DISK, DRIVE]),
            "volumes.iso.persistentVolumeClaim",
        ),
        (LOADED, EMPTY, "volumes.iso"),
    ],
)
def test_volumes_need_a_restart_without_declarative_hotplug(before: Manifest, after: Manifest, field: str) -> None:
    result = foreseen(before, after, running(before), Cluster(Objects(TYPES), KubeVirt(NEWEST, BY_REQUEST)))
    assert (result.needs, result.restart_unasked) == (RESTART, True)
    assert str(result.reason).startswith("KubeVirt does not ask for a restart, but the guest gets ")
    assert field in str(result.reason)


def test_a_preference_applies_to_unlisted_disks() -> None:
    def preferring(bus: str) -> Manifest:
        manifest = vm(volumes=[ROOT])
        manifest["spec"]["preference"] = {"name": bus}
        return manifest

    kind = "VirtualMachineClusterPreference"
    preferences = [
        {"kind": kind, "metadata": {"name": bus}, "spec": {"devices": {"preferredDiskBus": bus}}}
        for bus in ("sata", "virtio")
    ]
    instance = running(vm(volumes=[ROOT]))
    devices = instance["spec"]["domain"]["devices"]
    cluster = Cluster(Objects([*TYPES, *preferences]), KubeVirt(NEWEST))
    result = foreseen(preferring("sata"), preferring("virtio"), instance, cluster)
    assert (result.needs, result.restart_unasked) == (RESTART, True)
    assert "domain.devices.disks.root.disk.bus" in str(result.reason)
    # KubeVirt's request comes first.
    requested = preferring("virtio")
    requested["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 5
    result = foreseen(preferring("sata"), requested, instance, cluster)
    assert (result.needs, result.restart_unasked) == (RESTART, False)
    # A guest that does not run yet is not restarted for it, nor one that has it already.
    early = {**instance, "status": {**instance["status"], "phase": "Scheduling"}}
    assert foreseen(preferring("sata"), preferring("virtio"), early, cluster).needs == NOTHING
    devices["disks"][0]["disk"] = {"bus": "virtio"}
    assert foreseen(preferring("sata"), preferring("virtio"), instance, cluster).needs == NOTHING


def test_guest_about_to_stop_needs_no_restart() -> None:
    planned = vm("large")
    planned["spec"]["runStrategy"] = "Halted"
    assert of(planned, running()).needs == NOTHING


def test_changes_are_compared_with_the_started_spec() -> None:
    started = {"metadata": {"name": "started", "namespace": "shop"}, "kind": "ControllerRevision"}
    started["data"] = {"spec": vm("small")["spec"]}  # type: ignore[assignment]
    cluster = Cluster(Objects([*TYPES, started]), KubeVirt(NEWEST))
    # The VM was changed while it ran; taking that back needs nothing.
    instance = running(virtualMachineRevisionName="started")
    changed = vm(terminationGracePeriodSeconds=5)
    assert foreseen(changed, vm(), instance, cluster)[0] == NOTHING
    assert foreseen(changed, vm(), instance, cluster).changes == ()
    waiting = foreseen(changed, changed, instance, cluster)
    assert (waiting.needs, [item["field"] for item in waiting.changes]) == (RESTART, ["terminationGracePeriodSeconds"])
    # Sockets that were plugged in since are there.
    instance["spec"]["domain"]["cpu"]["sockets"] = 2
    assert foreseen(vm("two"), vm("two"), instance, cluster) == GuestEffect(
        NOTHING,
        guest_before={"vcpus": 2, "sockets": 2, "cores": 1, "threads": 1, "memory": "1Gi"},
        guest_after={"vcpus": 2, "sockets": 2, "cores": 1, "threads": 1, "memory": "1Gi"},
    )


def test_captured_revision_counts_until_matcher_changes() -> None:
    retained = {
        "kind": "ControllerRevision",
        "metadata": {
            "name": "r",
            "namespace": "shop",
            "labels": {"instancetype.kubevirt.io/object-name": "small"},
        },
        "data": {**copy.deepcopy(TYPES[0]), "spec": {"cpu": {"guest": 1}, "memory": {"guest": "3Gi"}}},
    }
    captured = vm()
    captured["status"] = {"instancetypeRef": {"name": "small", "controllerRevisionRef": {"name": "r"}}}
    cluster = Cluster(Objects([*TYPES, retained]), KubeVirt(NEWEST))
    same = foreseen(captured, captured, None, cluster)
    assert (same.guest_after or {})["memory"] == "3Gi"
    spelled = copy.deepcopy(captured)
    spelled["spec"]["instancetype"]["kind"] = "VirtualMachineClusterInstancetype"
    # virt-controller takes another spelling of the kind for another object.
    assert (foreseen(captured, spelled, None, cluster).guest_after or {})["memory"] == "1Gi"


def test_an_expanded_vm_whose_instancetype_changed_size() -> None:
    expanded = vm(None, domain=running()["spec"]["domain"])
    assert size_mismatch(vm("small"), expanded, PLAIN) is None
    result = str(size_mismatch(vm("large"), expanded, PLAIN))
    assert "its values (1 vCPU, 1Gi); the instancetype now gives 1 vCPU, 4Gi" in result
    assert size_mismatch(vm("nowhere"), expanded, PLAIN) is None


def test_a_rejected_change_has_an_unknown_impact() -> None:
    planned = vm("two")
    planned["spec"]["instancetype"]["inferFromVolume"] = "root"
    result = of(planned, running())
    assert (result.needs, result.guest_after) == (UNKNOWN, {})
    assert result.refusal == "Name already set, should be cleared before setting inferFromVolume"


def test_a_guest_that_ends_takes_no_change() -> None:
    ending = running()
    ending["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert of(vm("large"), ending).needs == NOTHING


def test_cluster_settings_and_release_are_no_change() -> None:
    cores = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "cores", "uid": "cores", "generation": 1},
        "spec": {"cpu": {"preferredCPUTopology": "cores"}},
    }
    machine = vm("two")
    # Older releases find no preference without a kind, which admission adds.
    machine["spec"]["preference"] = {"name": "cores", "kind": cores["kind"]}
    instance = running()
    instance["spec"]["domain"]["cpu"].update(cores=2)
    instance["spec"]["domain"]["devices"]["interfaces"][0] = {"name": "default", "masquerade": {}}
    for release in (parse_release("1.9"), parse_release("1.4")):
        settings = {"network": {"defaultNetworkInterface": "masquerade"}}
        cluster = Cluster(Objects([*TYPES, cores]), KubeVirt(release, settings))
        for present in (None, instance):
            result = foreseen(machine, machine, present, cluster)
            assert (result.needs, result.changes) == (NOTHING, ())
            assert (result.guest_after or {})["vcpus"] == 2


def test_a_size_mismatch_considers_the_clusters_configuration() -> None:
    expanded = vm(None, domain={**running()["spec"]["domain"], "machine": {"type": "q35"}})
    for network in ({"defaultNetworkInterface": "masquerade"}, {"permitBridgeInterfaceOnPodNetwork": False}):
        kubevirt = KubeVirt(NEWEST, {"network": network})
        result = size_mismatch(vm("large"), expanded, Cluster(Objects(TYPES), kubevirt))
        # Where the cluster's interface is refused no VMI can be made, of neither.
        assert bool(result) is kubevirt.bridge_permitted
    assert "by its values (1 vCPU, no memory)" in str(size_mismatch(vm("small"), vm(None), PLAIN))


def sized(guest: str = "1Gi", sockets: int = 1, migratable: bool = True, **fields: Any) -> Manifest:
    """A running VM without an instancetype."""
    cpu = {"sockets": sockets, "cores": 1, "threads": 1, **fields.pop("cpu", {})}
    manifest = vm(None, domain={"devices": {}, "memory": {"guest": guest}, "cpu": cpu}, **fields)
    conditions = [{"type": "LiveMigratable", "status": "True" if migratable else "False"}]
    return {**manifest, "status": {"created": True, "conditions": conditions}}


def assumed(before: Manifest, after: Manifest, settings: Manifest | None = None) -> str:
    return guest_effect(before, after, UNREAD_VMI, Cluster(Objects([]), KubeVirt(NEWEST, settings or {}))).needs


@pytest.mark.parametrize(
    ("settings", "sockets", "guest"),
    [
        ({}, 4, 4),
        ({"maxHotplugRatio": 1}, 1, 1),
        ({"maxCpuSockets": 2}, 2, 4),
        ({"maxGuest": "2Gi"}, 4, 2),
        ({"maxHotplugRatio": 8}, 8, 8),
    ],
)
def test_assumed_guest_has_the_maximums_of_the_cluster(settings: Manifest, sockets: int, guest: int) -> None:
    configured = {"liveUpdateConfiguration": settings}
    for after, needs in (
        (sized(sockets=sockets), NOTHING if sockets == 1 else LIVE),
        (sized(sockets=sockets + 1), RESTART),
        (sized(f"{guest}Gi"), NOTHING if guest == 1 else LIVE),
        (sized(f"{guest + 1}Gi"), RESTART),
    ):
        assert assumed(sized(), after, configured) == needs


def test_malformed_maximums_leave_an_assumed_guest_without() -> None:
    assert assumed(sized(), sized(sockets=2), {"liveUpdateConfiguration": {"maxHotplugRatio": "many"}}) == RESTART


def test_no_guest_is_assumed_of_a_stopped_vm() -> None:
    halted = {**sized(), "status": {"created": False}}
    assert assumed(halted, sized("5Gi")) == NOTHING
    declared = {**sized(), "status": {}}
    assert assumed(declared, sized("5Gi")) == RESTART
    declared["spec"]["runStrategy"] = "Halted"
    assert assumed(declared, sized("5Gi")) == NOTHING


def test_removal_of_a_plugged_network_needs_restart() -> None:
    """Recorded: KubeVirt neither unplugs the interface nor asks for a restart; the guest keeps it."""
    plugged = running()
    devices, lan = plugged["spec"]["domain"]["devices"], connected("lan")
    devices["interfaces"].append(lan["domain"]["devices"]["interfaces"][1])
    plugged["spec"]["networks"].append(lan["networks"][1])
    with_lan = vm(**lan)
    cluster = Cluster(Started(vm(), Objects(TYPES)), KubeVirt(NEWEST))
    plugged["status"]["virtualMachineRevisionName"] = START
    kept = guest_effect(with_lan, copy.deepcopy(with_lan), plugged, cluster)
    assert (kept.needs, kept.outstanding) == (NOTHING, ())
    removed = guest_effect(with_lan, vm(), plugged, cluster)
    assert (removed.needs, removed.restart_unasked) == (RESTART, True)
    assert removed.outstanding == ("domain.devices.interfaces.lan", "networks.lan")
    assert [change["field"] for change in removed.changes] == ["domain.devices.interfaces", "networks"]
    # KubeVirt unplugs an interface that the VM keeps with the state `absent`.
    absent = copy.deepcopy(with_lan)
    absent["spec"]["template"]["spec"]["domain"]["devices"]["interfaces"][1]["state"] = "absent"
    plugged["status"]["interfaces"] = [{"name": "lan", "podInterfaceName": "pod16477688c0e"}]
    assert guest_effect(with_lan, absent, plugged, cluster).needs == LIVE


def test_preferred_model_of_a_plugged_interface_needs_restart() -> None:
    """KubeVirt issue 18955: virt-controller plugs the interface without the preference's model, and then misses it."""
    preference = {
        "kind": "VirtualMachineClusterPreference",
        "metadata": {"name": "modelled"},
        "spec": {"devices": {"preferredInterfaceModel": "virtio"}},
    }
    before, after = vm(), vm(**connected("lan"))
    for manifest in (before, after):
        manifest["spec"]["preference"] = {"name": "modelled", "kind": preference["kind"]}
    cluster = Cluster(Started(before, Objects([*TYPES, preference])), KubeVirt(NEWEST))
    instance = assumed_vmi(before, cluster)
    assert instance is not None
    instance["status"]["virtualMachineRevisionName"] = START
    result = guest_effect(before, after, instance, cluster)
    assert (result.needs, result.requested) == (RESTART, True)


def test_unstartable_vm_has_an_unknown_effect() -> None:
    lost = vm()
    lost["status"] = {"instancetypeRef": {"name": "small", "controllerRevisionRef": {"name": "lost"}}}
    stopped, started = (guest_effect(lost, lost, instance, PLAIN) for instance in (None, running()))
    for result in (stopped, started):
        assert (result.needs, result.guest_after, result.guest_current) == (UNKNOWN, {}, False)
        assert '"lost" not found' in str(result.refusal)
    assert (stopped.guest_before, started.guest_before["memory"]) == ({}, "1Gi")
    repaired = guest_effect(lost, vm(), None, PLAIN)
    assert (repaired.needs, repaired.guest_before, repaired.guest_after["memory"]) == (NOTHING, {}, "1Gi")
