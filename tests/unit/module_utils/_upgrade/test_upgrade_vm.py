"""An upgrade's changes of VMs, instancetypes and preferences, and the steps to take."""

from collections.abc import Sequence
from typing import Any

import pytest

from plugins.module_utils._capacity.quota.check import QuotaObjects
from plugins.module_utils._resolver.api.keys import CATALOG_LABEL
from plugins.module_utils._resolver.api.release import UnknownRelease
from plugins.module_utils._resolver.catalog.deployment_effects import ObjectChange, deployed, objects
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt, at_release, kubevirt_of
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.kubevirt.vm.vmi import firmware_uuid
from plugins.module_utils._upgrade.steps import settings, steps
from plugins.module_utils._upgrade.vm import (
    Admission,
    Admissions,
    VMChange,
    admissions,
    refusal,
    upgrade_side,
    vm_change,
)

Manifest = dict[str, Any]

KIND = {"kind": "VirtualMachineClusterInstancetype"}
SEV = {"developerConfiguration": {"featureGates": ["WorkloadEncryptionSEV"]}}
MULTI = {"developerConfiguration": {"featureGates": ["MultiArchitecture"]}}


def kubevirt(version: str, configuration: Manifest | None = None) -> KubeVirt:
    return kubevirt_of({"spec": {"configuration": configuration or {}}}, version)


def instancetype(name: str = "small", guest: int = 2, **more: Any) -> Manifest:
    spec = {"cpu": {"guest": guest}, "memory": {"guest": "1Gi"}, **more.pop("spec", {})}
    return {"kind": "VirtualMachineClusterInstancetype", "metadata": {"name": name, **more}, "spec": spec}


def preference(name: str = "linux", **spec: Any) -> Manifest:
    return {"kind": "VirtualMachineClusterPreference", "metadata": {"name": name}, "spec": spec}


def vm(name: str = "web", domain: Manifest | None = None, status: Manifest | None = None, **spec: Any) -> Manifest:
    template = {"spec": {"domain": {"devices": {}, **(domain or {})}}}
    return {
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "generation": 1},
        "spec": {"runStrategy": "Always", "template": template, **spec},
        "status": status or {},
    }


def upgraded(
    machine: Manifest,
    before: KubeVirt,
    after: KubeVirt,
    objects: Sequence[Manifest] = (),
    instance: Manifest | None = None,
) -> VMChange:
    lookup = Objects(objects)
    return vm_change(machine, instance, upgrade_side(Cluster(lookup, before)), upgrade_side(Cluster(lookup, after)))


def test_changed_defaults_of_a_preference_need_a_restart() -> None:
    objects = [instancetype(), preference(devices={"preferredPanicDeviceModel": "hyperv"})]
    machine = vm(instancetype={"name": "small"}, preference={"name": "linux"}, status={"created": True})
    change = upgraded(machine, kubevirt("1.8.4"), kubevirt("1.9.0"), objects)
    assert change.changes == ({"field": "domain.devices.panicDevices", "before": None, "after": [{"model": "hyperv"}]},)
    assert (change.effect.needs, change.effect.reason, change.refusal, change.lost) == ("restart", "", "", ())
    assert (
        change.before.guest
        == change.after.guest
        == {"vcpus": 2, "sockets": 2, "cores": 1, "threads": 1, "memory": "1Gi"}
    )
    halted = {**machine, "spec": {**machine["spec"], "runStrategy": "Halted"}}
    assert upgraded(halted, kubevirt("1.8.4"), kubevirt("1.9.0"), objects).effect.needs == "nothing"
    assert upgraded(machine, kubevirt("1.9.0"), kubevirt("1.9.0"), objects).changes == ()


def test_changes_hide_secrets() -> None:
    volume = {"name": "init", "cloudInitNoCloud": {"userData": "password: x"}}
    machine = vm()
    machine["spec"]["template"]["spec"]["volumes"] = [volume]
    change = upgraded(machine, kubevirt("1.4.0"), kubevirt("1.9.0"))
    assert "password" not in str(change.changes)


def test_new_requirements_and_removed_gates() -> None:
    encrypted = instancetype(spec={"memory": {"guest": "1Gi", "maxGuest": "4Gi"}, "launchSecurity": {"sev": {}}})
    efi = {"firmware": {"bootloader": {"efi": {"secureBoot": False}}}}
    machine = vm(domain=efi, instancetype={"name": "small"})
    change = upgraded(machine, kubevirt("1.5.3", SEV), kubevirt("1.9.0"), [encrypted])
    assert (change.refusal_before, change.refusal) == ("", "Memory hotplug is not compatible with encrypted VMs")
    (step, *_rest) = steps([change], [], kubevirt("1.5.3"), kubevirt("1.9.0"))
    assert step.text == "Change VMs that the new KubeVirt rejects at their next change"
    needy = [preference(requirements={"memory": {"guest": "1Gi"}})]
    change = upgraded(vm(preference={"name": "linux"}), kubevirt("1.5.0"), kubevirt("1.9.0"), needy)
    assert change.refusal == (
        "failure checking preference requirements: insufficient Memory resources of 0 provided by VirtualMachine,"
        " preference requires 1Gi"
    )
    foreign = vm()
    foreign["spec"]["template"]["spec"]["architecture"] = "arm64"
    change = upgraded(foreign, kubevirt("1.7.0"), kubevirt("1.9.0"))
    assert ("MultiArchitecture" in change.refusal_before, change.refusal) == (True, "")


SHARED = {"volumes": [{"name": "v", "configMap": {"name": "c"}}]}
UNBOUND = {"networks": [{"name": "n", "pod": {}}]}
BLOCKS = {"custom": {"logical": 4096, "physical": 4096}}
RULES: list[tuple[str, str, Manifest, Manifest, str]] = [
    ("1.8.0", "1.9.0", {"interfaces": [{"name": "n"}]}, UNBOUND, "interfaces[0] has none of bridge, masquerade"),
    (
        "1.6.0",
        "1.7.0",
        {"disks": [{"name": "v", "disk": {"bus": "sata"}, "blockSize": BLOCKS}]},
        SHARED,
        "logical must be 512 on a SATA disk, not 4096",
    ),
    ("1.5.0", "1.6.0", {"video": {"type": "vga"}}, {}, "needs the feature gate VideoConfig"),
    (
        "1.4.0",
        "1.5.0",
        {"filesystems": [{"name": "v", "virtiofs": {}}]},
        SHARED,
        "a volume of configMap, which needs the feature gate",
    ),
]


@pytest.mark.parametrize(("old", "new", "devices", "spec", "message"), RULES)
def test_new_admission_rules_reject_stored_vms(
    old: str, new: str, devices: Manifest, spec: Manifest, message: str
) -> None:
    """They refuse every later change of a stored VM, even the one that virtctl makes to start it."""
    machine = vm(domain={"devices": devices, "memory": {"guest": "1Gi"}})
    machine["spec"]["template"]["spec"].update(spec)
    change = upgraded(machine, kubevirt(old), kubevirt(new))
    assert change.refusal_before == ""
    assert message in change.refusal


def test_rules_for_new_vms_spare_stored_ones() -> None:
    machine = vm(domain={"devices": {"interfaces": [{"name": "n", "slirp": {}}]}, "memory": {"guest": "1Gi"}})
    machine["spec"]["template"]["spec"].update(UNBOUND)
    here = Cluster(Objects([]), kubevirt("1.8.0"))
    assert (refusal(machine, here), "discontinued" in refusal(machine, here, is_new=True)) == ("", True)


def test_crash_of_kubevirt_is_a_refusal() -> None:
    machine = vm(domain={"memory": {"guest": "1Gi", "hugepages": {"pageSize": "0"}}})
    assert upgraded(machine, kubevirt("1.8.0"), kubevirt("1.9.0")).refusal == "integer divide by zero"


@pytest.mark.parametrize("old", ["1.6.6", "1.7.0"])
def test_unreadable_revisions_are_to_be_converted_first(old: str) -> None:
    data = {"apiVersion": "instancetype.kubevirt.io/v1alpha2", **instancetype()}
    revision = {"kind": "ControllerRevision", "metadata": {"name": "old", "namespace": "shop"}, "data": data}
    machine = vm(instancetype={"name": "small", "revisionName": "old"})
    before, after = kubevirt(old), kubevirt("1.9.0")
    change = upgraded(machine, before, after, [revision])
    assert (not change.before.problem, change.after.spec, change.after.guest) == (old == "1.6.6", None, {})
    assert "which KubeVirt does not read" in change.after.problem
    (step,) = [step for step in steps([change], [], before, after) if step.virtual_machines]
    assert (step.when, step.virtual_machines) == ("before", ("shop/web",))
    assert "state: upgraded" in step.text


class Alone(VMChange):
    """Fails when it is compared with another, which would take long with many VMs."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("machines are compared")


def test_vms_that_cannot_start_have_one_step() -> None:
    before, after = kubevirt("1.6.6"), kubevirt("1.9.0")
    change = upgraded(vm(), before, after)
    problem = {"after": change.after._replace(problem="no")}
    stuck = [Alone(**{**vars(change), **problem, "manifest": vm(name)}) for name in "ab"]
    (step,) = [step for step in steps(stuck, [], before, after) if step.virtual_machines]
    assert ("cannot start" in step.text, step.virtual_machines) == (True, ("shop/a", "shop/b"))


def test_a_captured_revision_becomes_a_pin() -> None:
    machine = vm(instancetype={"name": "small", "revisionName": "kept"})
    data = {"apiVersion": "instancetype.kubevirt.io/v1beta1", **instancetype()}
    revision = {"kind": "ControllerRevision", "metadata": {"name": "kept", "namespace": "shop"}, "data": data}
    objects = [revision, instancetype(guest=4)]
    before, after = kubevirt("1.4.1"), kubevirt("1.9.0")
    change = upgraded(machine, before, after, objects)
    assert change.pinned
    assert (change.refresh.drifted, change.refresh.effect.guest_after["vcpus"]) == (True, 4)
    assert next(step.text for step in steps([change], [], before, after) if step.when == "after").startswith(
        "Unpin VMs"
    )
    assert not upgraded(machine, kubevirt("1.5.3"), after, objects).pinned


def test_fields_that_an_older_release_drops() -> None:
    machine = vm(domain={"devices": {"panicDevices": [{"model": "hyperv"}]}})
    before, after = kubevirt("1.9.0"), kubevirt("1.5.3")
    change = upgraded(machine, before, after)
    assert change.lost == ("spec.template.spec.domain.devices.panicDevices",)
    assert any("drops" in step.text for step in steps([change], [], before, after))


def test_vm_without_a_pod_has_a_problem() -> None:
    machine = vm()
    machine["spec"]["template"]["spec"]["volumes"] = [{"name": "answers", "sysprep": {}}]
    change = upgraded(machine, kubevirt("1.8.4"), kubevirt("1.9.0"))
    assert change.after.problem.startswith("KubeVirt cannot create a pod for the VM")


def running(machine: Manifest, sockets: int, phase: str = "Running", start: str = "start") -> Manifest:
    firmware = {"uuid": firmware_uuid(machine["metadata"]["name"])}
    domain = {
        "firmware": firmware,
        "cpu": {"sockets": sockets, "maxSockets": 16, "cores": 1, "threads": 1},
        "memory": {"guest": "1Gi"},
    }
    return {
        "metadata": {"name": machine["metadata"]["name"], "namespace": "shop", "uid": "x"},
        "spec": {
            "architecture": "amd64",
            "domain": {"devices": {"interfaces": [{"name": "default", "bridge": {}}]}, **domain},
            "networks": [{"name": "default", "pod": {}}],
        },
        "status": {"phase": phase, "virtualMachineRevisionName": start},
    }


def test_effect_on_a_running_guest() -> None:
    machine = vm(
        domain={"cpu": {"sockets": 4}, "memory": {"guest": "1Gi"}},
        status={"created": True, "conditions": [{"type": "LiveMigratable", "status": "True"}]},
    )
    spec_at_start = {
        **machine["spec"],
        "template": vm(domain={"cpu": {"sockets": 2}, "memory": {"guest": "1Gi"}})["spec"]["template"],
    }
    revision = {
        "kind": "ControllerRevision",
        "metadata": {"name": "start", "namespace": "shop"},
        "data": {"spec": spec_at_start},
    }
    staged, live = kubevirt("1.8.4", {"vmRolloutStrategy": "Stage"}), kubevirt("1.8.4")

    def effect(before: KubeVirt, after: KubeVirt, instance: Manifest | None) -> tuple[str, str]:
        change = upgraded(machine, before, after, [revision], instance)
        return change.effect.needs, change.effect.reason

    # KubeVirt plugs the sockets in without the upgrade, too.
    assert effect(live, live, running(machine, 2)) == ("nothing", "")
    # Its next start also gives it room to grow, which is no reason for a restart.
    change = upgraded(machine, staged, live, [revision], running(machine, 2))
    assert (change.effect.needs, change.effect.reason) == ("live_update", "")
    assert [entry["field"] for entry in change.changes] == ["domain.cpu.maxSockets", "domain.memory.maxGuest"]
    reason = "a non-live-updatable field was changed in the template spec"
    assert effect(live, staged, running(machine, 2)) == ("restart", reason)
    assert effect(live, staged, running(machine, 2, "Scheduling")) == ("restart", reason)
    for instance in (running(machine, 2, "Succeeded"), None):
        assert effect(live, staged, instance) == ("nothing", "")


def test_pending_restart_is_not_due_to_upgrade() -> None:
    """A guest that waits for a restart before the upgrade does not need one because of it."""
    reported = [{"type": "RestartRequired", "status": "True", "message": "memory updated"}]
    machine = vm(
        domain={"cpu": {"sockets": 2}, "memory": {"guest": "8Gi"}}, status={"created": True, "conditions": reported}
    )
    lost = running(machine, 2, start="lost")
    change = upgraded(machine, kubevirt("1.9.0"), kubevirt("1.9.0"), [], lost)
    assert (change.effect.needs, change.effect.requested, change.affected) == ("nothing", False, False)
    assert change.effect.outstanding == ("domain.memory.guest",)


def test_objects_compared_with_another_catalog() -> None:
    ours = {"labels": {CATALOG_LABEL: "acme"}}
    live = [
        instancetype("same", **ours),
        instancetype("bigger", 2, **ours),
        instancetype("left", **ours),
        instancetype("foreign"),
    ]
    catalog = [instancetype("same"), instancetype("bigger", 4), instancetype("fresh")]
    before, after = kubevirt("1.9.0").release, kubevirt("1.9.0").release
    changes = {change.object_key.name: change for change in objects(live, deployed(live, catalog), before, after)}
    assert {name: change.status for name, change in changes.items()} == {
        "bigger": "changed",
        "foreign": "unchanged",
        "fresh": "new",
        "left": "gone",
        "same": "unchanged",
    }
    assert changes["bigger"].changes == ({"field": "cpu.guest", "before": 2, "after": 4},)
    assert [name for name, change in changes.items() if change.affected] == ["bigger", "fresh", "left"]
    texts = [step.text for step in steps([], list(changes.values()), kubevirt("1.9.0"), kubevirt("1.9.0"))]
    assert texts == [
        "Move VMs off objects that the new catalog lacks, and new VMs to others: left",
        "Refresh VMs to the changed objects of the new catalog (refresh_revisions): bigger",
    ]
    many = [ObjectChange(changes["left"].object_key._replace(name=str(number)), "gone") for number in range(5)]
    assert steps([], many, kubevirt("1.9.0"), kubevirt("1.9.0"))[0].text.endswith(": 0, 1, 2 and 2 more")


def test_objects_compared_with_another_release() -> None:
    live = [
        preference(devices={"preferredPanicDeviceModel": "hyperv"}),
        preference("video", devices={"preferredVideoType": "virtio"}),
    ]
    up = {
        change.object_key.name: change
        for change in objects(live, {}, kubevirt("1.8.4").release, kubevirt("1.9.0").release)
    }
    assert (up["linux"].lost, up["linux"].status) == ((), "unchanged")
    assert [effect["field"] for effect in up["linux"].effects] == ["domain.devices.panicDevices"]
    down = {
        change.object_key.name: change
        for change in objects(live, {}, kubevirt("1.9.0").release, kubevirt("1.5.3").release)
    }
    assert down["video"].lost == ("spec.devices.preferredVideoType",)
    assert down["linux"].lost == ("spec.devices.preferredPanicDeviceModel",)


def test_settings_and_steps_of_the_cluster() -> None:
    before, after = kubevirt("1.4.1", MULTI), at_release(kubevirt("1.4.1", MULTI), "1.9.0")
    assert {setting["setting"]: (setting["before"], setting["after"]) for setting in settings(before, after)} == {
        "live_updates": (False, True),
        "captured_revisions": ("spec", "status"),
        "reads_alpha_revisions": (True, False),
        "required_gates": (["InstancetypeReferencePolicy", "MultiArchitecture", "VMPersistentState"], []),
    }
    first, last = steps([], [], before, after)
    assert (first.when, "vmRolloutStrategy: Stage" in first.text) == ("before", True)
    assert (last.when, last.text) == ("after", "Remove feature gates that are no longer needed: MultiArchitecture")
    assert settings(after, after) == []
    staged = at_release(before, "", {"vmRolloutStrategy": "Stage"})
    assert (staged.release, staged.live_updates, staged.version) == (before.release, False, "1.4.1")


def test_unknown_release_and_malformed_configuration_raise() -> None:
    with pytest.raises(UnknownRelease):
        at_release(kubevirt("1.9.0"), "next")
    with pytest.raises(ValueError, match="malformed"):
        at_release(kubevirt("1.9.0"), "1.9.0", {"network": "bridge"})


# Whether quotas admit the pods of the VMs' next starts, before and after an upgrade.


OLD, NEW = kubevirt_of({}, "1.5.3"), kubevirt_of({}, "1.9.0")
# The request of a pod of `vm`.
BEFORE, AFTER = 1375080128, 1389760192


def quotas_vm(name: str, runs: bool = False) -> Manifest:
    return {
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "runStrategy": "Always" if runs else "Halted",
            "template": {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}},
        },
        "status": {"created": True} if runs else {},
    }


def quota(hard: Manifest, used: Manifest) -> Manifest:
    metadata = {"name": "team", "namespace": "shop"}
    return {"metadata": metadata, "spec": {"hard": hard}, "status": {"hard": hard, "used": used}}


def checked(vms: list[Manifest], *quotas: Manifest, **objects: Any) -> Admissions:
    limits = QuotaObjects(quotas=quotas, vms=vms, **objects)
    sides = [upgrade_side(Cluster(Objects([]), kubevirt), vms, limits) for kubevirt in (OLD, NEW)]
    return admissions(vms, *sides, limits)


def test_pods_request_these_amounts() -> None:
    sides = [upgrade_side(Cluster(Objects([]), kubevirt)) for kubevirt in (OLD, NEW)]
    change = vm_change(quotas_vm("a"), None, *sides)
    assert [start.pod["requests"]["memory"] for start in (change.before, change.after)] == [str(BEFORE), str(AFTER)]


def test_larger_pod_of_a_halted_vm_is_rejected() -> None:
    machines = [quotas_vm("a"), quotas_vm("b")]
    free = checked(machines, quota({"requests.memory": "1Ti"}, {}))
    assert set(free.vms.values()) == {Admission()}
    # Room for two pods of the old release.
    tight = checked(machines, quota({"requests.memory": str(2 * BEFORE)}, {}))
    assert tight.vms["shop", "a"] == Admission()
    assert tight.vms["shop", "b"] == Admission(
        "", "ResourceQuota team lacks 28Mi of requests.memory (1.29Gi wanted, 1.27Gi left)"
    )
    sides = [upgrade_side(Cluster(Objects([]), kubevirt)) for kubevirt in (OLD, NEW)]
    changes = [vm_change(machine, None, *sides) for machine in machines]
    todo = [step for step in steps(changes, [], OLD, NEW, (), tight) if "quotas" in step.text]
    assert [(step.when, step.virtual_machines) for step in todo] == [("before", ("shop/b",))]


def pod(name: str, memory: int) -> Manifest:
    """The pod of a running VM."""
    labels = {"kubevirt.io": "virt-launcher", "kubevirt.io/created-by": f"uid-{name}", "vmi.kubevirt.io/id": name}
    metadata = {"name": f"virt-launcher-{name}", "namespace": "shop", "labels": labels}
    compute = {"name": "compute", "resources": {"requests": {"memory": str(memory)}}}
    return {"metadata": metadata, "spec": {"containers": [compute]}, "status": {"phase": "Running"}}


def test_running_vms_need_the_growth_of_their_pods() -> None:
    machines = [quotas_vm("a", runs=True), quotas_vm("b", runs=True), quotas_vm("c")]
    cluster = {"pods": [pod("a", BEFORE), pod("b", BEFORE)]}
    used = {"requests.memory": str(2 * BEFORE)}
    roomy = checked(machines, quota({"requests.memory": str(3 * BEFORE)}, used), **cluster)
    # Both restart; what they take of the rest, the third lacks.
    assert [admission.after != "" for admission in roomy.vms.values()] == [False, False, True]
    (line,) = roomy.quotas
    assert (line["fits_before"], line["fits"]) == (True, True)
    assert line["resources"]["requests.memory"]["wanted"] == str(2 * (AFTER - BEFORE))
    tight = checked(machines, quota({"requests.memory": str(2 * BEFORE)}, used), **cluster)
    assert [admission.before != "" for admission in tight.vms.values()] == [False, False, True]
    assert [admission.after != "" for admission in tight.vms.values()] == [True, True, True]
    assert [quota["fits"] for quota in tight.quotas] == [False]


def test_quotas_ignore_a_vm_without_a_pod() -> None:
    lost = quotas_vm("a")
    lost["spec"]["instancetype"] = {"name": "gone"}
    assert checked([lost], quota({"requests.memory": "1"}, {})).vms == {("shop", "a"): Admission()}


def test_a_quota_of_limits_adds_limits_to_pods() -> None:
    """KubeVirt gives pods limits where a quota asks for them."""
    hard = quota({"limits.memory": "1Ti"}, {})
    objects = QuotaObjects(quotas=[hard], vms=[quotas_vm("a")])
    sides = [upgrade_side(Cluster(Objects([]), kubevirt), [quotas_vm("a")], objects) for kubevirt in (OLD, NEW)]
    free = [upgrade_side(Cluster(Objects([]), kubevirt)) for kubevirt in (OLD, NEW)]
    limited, other = vm_change(quotas_vm("a"), None, *sides), vm_change(quotas_vm("a"), None, *free)
    assert limited.after.pod["limits"]["memory"] != other.after.pod["limits"]["memory"]
